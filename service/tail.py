"""Show verdicts, summaries, spikes and dead letters as they come: lines for people, or JSON Lines for programs."""

from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import orjson
from rich.text import Text

from schemas.spike import SpikeState
from schemas.summary import Author
from schemas.verdict import VerdictWord
from service.decode import Malformed, parse
from service.scan import Offsets, batches, follow, headers_of, partitions, reader
from service.settings import KafkaSettings
from service.visible import visible

LAST: Final = 10  # what is shown of a topic that is neither followed nor read from its beginning
_STYLES: Final = {
    VerdictWord.KEPT: "green",
    VerdictWord.SPEECH_BROKEN: "yellow",
    VerdictWord.OFF_CANON: "magenta",
    VerdictWord.FORBIDDEN: "bold red",
    VerdictWord.FORGOT: "cyan",
}
# Headers of a dead letter in the order they are shown; the refused verdict quotes the turn, so it is with the value.
_SHOWN: Final = (
    "reason",
    "detail",
    "topic",
    "partition",
    "offset",
    "timestamp",
    "sha256",
    "size",
    "truncated",
    "marks",
)
_NUMBERS: Final = frozenset(("partition", "offset", "timestamp", "size"))


def records(
    settings: KafkaSettings, topic: str, *, from_beginning: bool, following: bool, limit: int | None
) -> Iterator[Any]:
    """Yield records of a topic, at most `limit`.

    From the beginning, or from now on; without `following` to the present end, and then, if not from the beginning, the
    last ones by record time (10 unless `limit` says more or less). None is yielded when a followed topic has no news.

    Raises:
        OperatorError: the brokers cannot be reached, or the topic is missing.
    """
    with reader(settings) as consumer:
        every = partitions(consumer, topic)
        first, ends = consumer.beginning_offsets(every), consumer.end_offsets(every)
        if following:
            batched = follow(consumer, first if from_beginning else ends)
        elif from_beginning:
            batched = batches(consumer, first, ends)
        else:
            last = LAST if limit is None else limit
            starts: Offsets = {partition: max(first[partition], ends[partition] - last) for partition in every}
            batched = iter([_newest(batches(consumer, starts, ends), last)])
        count = 0
        for batch in batched:
            for record in batch:
                if count == limit:
                    return
                count += 1
                yield record
            if count == limit:
                return
            if following:
                yield None


def _newest(batched: Iterator[list[Any]], most: int) -> list[Any]:
    found = [record for batch in batched for record in batch]
    found.sort(key=lambda record: (record.timestamp, record.partition, record.offset))
    return found[-most:]


def value_line(record: Any) -> bytes:
    """Return a verdict, a summary or a spike as a line of JSON: the record's value."""
    value: bytes = record.value or b"null"
    return value.replace(b"\n", b" ") + b"\n"  # in JSON a line break can only stand between tokens


def verdict_text(value: bytes) -> Text:
    """Return a verdict for people: the word, the turn, the summary, and below it what was not compared."""
    try:
        row = parse(value)
        word, summary, hedge = str(row["verdict"]), str(row["summary"]), row["hedge"]
        who = f"{row['session_id']} · {row['turn_id']} · {row['character_id']} · {row['model_id']}"
    except (Malformed, TypeError, KeyError):
        return Text("not a verdict", style="red")
    text = Text.assemble(
        (visible(word), _STYLES.get(VerdictWord(word), "") if word in tuple(VerdictWord) else "red"),
        "  ",
        (visible(who), "dim"),
        "\n    ",
        visible(summary),
    )
    if hedge is not None:
        text.append("\n    " + visible(str(hedge)), style="dim")
    return text


def summary_text(value: bytes) -> Text:
    """Return a summary for people: who wrote it, the turn, the sentence; a rule's with why it is not a model's."""
    try:
        row = parse(value)
        by, model, reason, summary = row["by"], row["model"], row["reason"], str(row["summary"])
        who = f"{row['session_id']} · {row['turn_id']}"
    except (Malformed, TypeError, KeyError):
        return Text("not a summary", style="red")
    author = ("모델 요약", "bold blue") if by == Author.MODEL else ("규칙 요약", "green")
    detail = model if by == Author.MODEL else reason
    return Text.assemble(author, "  ", (visible(f"{who} · {detail}"), "dim"), "\n    ", visible(summary))


def spike_text(value: bytes) -> Text:
    """Return a spike for people: the topic and whose it is; below it when it opened, its counts, and some turns."""
    try:
        row = parse(value)
        is_open, whose = row["state"] == SpikeState.OPENED, row["character_id"] or "all characters"
        opened = datetime.fromtimestamp(row["opened_at"] / 1000, UTC)
        now = f"{row['observed']:,} of {row['exposure']:,} sessions within {row['window_s'] // 60} min"
        before = f"{row['baseline_observed']:,} of {row['baseline_exposure']:,} the day before"
        turns = [f"{turn['session_id']} · {turn['turn_id']}" for turn in row["turns"]]
        text = Text.assemble(
            ("spike opened" if is_open else "spike closed", "bold red" if is_open else "green"),
            "  ",
            visible(f"{row['topic']} · {whose}"),
            f"\n    since {opened:%Y-%m-%d %H:%M} UTC: {now}, {before}, p = {row['p_value']:g}",
        )
    except (Malformed, TypeError, KeyError, ValueError, OverflowError, OSError):
        return Text("not a spike", style="red")
    for turn in turns:
        text.append(f"\n    {visible(turn)}", style="dim")
    return text


def letter_fields(record: Any, *, show_value: bool) -> dict[str, Any]:
    """Return what a dead letter says of itself; key, value and refused verdict only with `show_value`.

    Bytes that are not UTF-8 are given as {"base64": ...}.
    """
    headers = headers_of(record)
    fields: dict[str, Any] = {
        name: int(headers[name]) if name in _NUMBERS and headers[name].isdecimal() else headers[name]
        for name in _SHOWN
        if name in headers
    }
    fields["dead_letter"] = f"{record.topic}/{record.partition}/{record.offset}"
    if show_value:
        fields |= {"key": _shown(record.key), "value": _shown(record.value)}
        if "refused" in headers:
            fields["refused"] = headers["refused"]
    return fields


def letter_line(record: Any, *, show_value: bool) -> bytes:
    """Return a dead letter as a line of JSON."""
    return orjson.dumps(letter_fields(record, show_value=show_value)) + b"\n"


def letter_text(record: Any, *, show_value: bool) -> Text:
    """Return a dead letter for people: the reason, where the record came from, the detail; then its value if asked."""
    fields = letter_fields(record, show_value=show_value)
    place = "/".join(str(fields.get(name, "?")) for name in ("topic", "partition", "offset"))
    text = Text.assemble(
        (visible(str(fields.get("reason", "no reason"))), "bold red"),
        "  ",
        (visible(place), "dim"),
        "\n    ",
        visible(str(fields.get("detail", ""))),
    )
    for name in ("key", "value", "refused"):
        if name in fields:
            text.append(f"\n    {name} " + visible(_plain(fields[name])), style="dim")
    return text


def _shown(value: bytes | None) -> str | dict[str, str] | None:
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(value).decode()}


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
