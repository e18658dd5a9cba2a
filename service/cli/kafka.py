"""`turnjudge topics`, `load`, `tail`, `replay` and `forget`: everything by hand on Kafka."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple

import click
from rich.text import Text

from schemas.refusal import Reason, Refusal
from service.cli.asking import agreed
from service.cli.environment import BROKERS, naming
from service.cli.inputs import say_refused
from service.cli.progress import Progress
from service.decode import Caps, Malformed, parse
from service.files.readers import Loaded, Refused, read_cards, read_lexicon, read_turns, shown, turn_of
from service.load import Difference, card_difference, lexicon_difference, publish_records, publish_turns
from service.records import Record
from service.replay import Done
from service.replay import replay as replay_letters
from service.settings import KafkaSettings, load_settings
from service.stream.topics import create_topics
from service.tail import (
    letter_line,
    letter_text,
    records,
    spike_text,
    summary_text,
    value_line,
    verdict_text,
)
from service.visible import visible

_Command: Final = naming(KafkaSettings)
_LISTED: Final = 20


class _Tailed(NamedTuple):
    """What can be tailed: its field among the topics, and how a value is shown; None where the record itself is."""

    field: str
    text: Callable[[bytes], Text] | None


_TAILED: Final = {
    "verdicts": _Tailed("turn_verdicts", verdict_text),
    "summaries": _Tailed("turn_summaries", summary_text),
    "spikes": _Tailed("topic_spikes", spike_text),
    "dead-letters": _Tailed("turn_dead_letters", None),
}

_yes = click.option("--yes", is_flag=True, help="Publish without asking.")


def _settings(brokers: str | None) -> KafkaSettings:
    return load_settings(KafkaSettings, brokers=brokers)


@click.group()
def topics() -> None:
    """Make the topics."""


@topics.command(cls=_Command)
@click.option("--partitions", type=click.IntRange(min=1), required=True, help="Partitions of what is kept by session.")
@click.option("--replication", type=click.IntRange(min=1), help="Copies of each [default: the brokers' own].")
@BROKERS
def create(partitions: int, replication: int | None, brokers: str | None) -> None:
    """Create the topics that are missing, with the limits that TURNJUDGE_MAX_RECORD_BYTES asks for.

    Topics that exist as wanted are left alone; one that exists otherwise is named, and nothing is created.
    """
    for name, done in create_topics(_settings(brokers), partitions, replication):
        click.echo(f"{name}: {done}")


@click.group()
def load() -> None:
    """Publish cards, a lexicon or turns from a file (JSONL, or CSV by its name; - is JSONL from stdin).

    A row that is refused is reported as file:line: reason: field: expectation, the rest is published, and the exit code
    is 1.
    """


@load.command(cls=_Command)
@click.argument("file")
@click.option("--replace", is_flag=True, help="Also remove the cards that are not in FILE, after asking.")
@_yes
@BROKERS
def cards(file: str, replace: bool, yes: bool, brokers: str | None) -> None:
    """Publish the cards of FILE: those that are new or differ from what is there."""
    settings = _settings(brokers)
    loaded = read_cards(file, settings.caps)
    say_refused(loaded.refused)
    difference = card_difference(settings, loaded.records, replace=replace and _may_remove(loaded))
    _publish(settings, difference, ask=bool(difference.removed) and not yes)
    _end(len(loaded.refused))


@load.command(cls=_Command)
@click.argument("file")
@_yes
@BROKERS
def lexicon(file: str, yes: bool, brokers: str | None) -> None:
    """Make the lexicon what FILE says: a row that is not in FILE is removed. What differs is shown and asked about."""
    settings = _settings(brokers)
    loaded = read_lexicon(file, settings.caps)
    say_refused(loaded.refused)
    difference = lexicon_difference(settings, loaded.records, remove=_may_remove(loaded))
    _publish(settings, difference, ask=bool(difference.records) and not yes)
    _end(len(loaded.refused))


@load.command(cls=_Command)
@click.argument("file")
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), metavar="N", help="At most N turns a second.")
@BROKERS
def turns(file: str, rate: float | None, brokers: str | None) -> None:
    """Publish the turns of FILE as they stand, keyed by session."""
    settings = _settings(brokers)
    refused: Counter[Reason] = Counter()
    accepted = Progress().track("published", _accepted(file, settings.caps, refused))
    count = publish_turns(settings, accepted, rate)
    click.echo(f"{count:,} turns published, {refused.total():,} rows refused", err=True)
    _end(refused.total())


def _accepted(file: str, caps: Caps, refused: Counter[Reason]) -> Iterator[tuple[str, bytes]]:
    for line, value in read_turns(file, caps, _say):
        turn = turn_of(value, caps)
        if isinstance(turn, Refusal):
            refused[turn.reason] += 1
            _say(str(Refused(shown(file), line, turn)))
        elif not isinstance(value, Refusal):
            yield turn.session_id, value


def _may_remove(loaded: Loaded[Any]) -> bool:
    if loaded.refused:
        _say("nothing is removed, because what was refused may be what is there")
    return not loaded.refused


def _publish(settings: KafkaSettings, difference: Difference, *, ask: bool) -> None:
    _say_difference(difference)
    if ask and not agreed(f"Publish this to {difference.topic}?", "--yes publishes the difference"):
        _say("nothing was published")
        click.get_current_context().exit(1)
    if difference.records:
        publish_records(settings, difference.topic, Progress().track("published", difference.records))


def _say_difference(difference: Difference) -> None:
    for mark, rows in (("+", difference.added), ("~", difference.changed), ("-", difference.removed)):
        for row in rows[:_LISTED]:
            _say(f"{mark} {_named(row)}")
        if len(rows) > _LISTED:
            _say(f"{mark} and {len(rows) - _LISTED:,} more")
    counts = (
        f"{len(difference.added):,} added, {len(difference.changed):,} changed, {len(difference.removed):,} removed"
    )
    _say(f"{difference.topic}: {counts}, {difference.kept:,} as they were")


def _named(row: Record) -> str:
    key = row.key.decode("utf-8", "backslashreplace")
    if key.startswith("["):
        with suppress(Malformed, TypeError):
            key = " · ".join(parse(row.key))
    return visible(key)


def _end(refused: int) -> None:
    if refused:
        click.get_current_context().exit(1)


def _say(line: str) -> None:
    click.echo(line, err=True)


@click.command(cls=_Command)
@click.argument("what", type=click.Choice(list(_TAILED)))
@click.option("--from-beginning", is_flag=True, help="Begin with the oldest record there is.")
@click.option("--follow/--no-follow", default=True, show_default=True, help="Go on with what comes, until interrupted.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="End after N records.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["pretty", "jsonl"]),
    help="Lines for people, or JSON Lines [default: pretty on a terminal, jsonl elsewhere].",
)
@click.option("--show-value", is_flag=True, help="Show key, value and refused verdict of dead letters, too.")
@BROKERS
def tail(
    what: str,
    from_beginning: bool,
    follow: bool,
    limit: int | None,
    form: str | None,
    show_value: bool,
    brokers: str | None,
) -> None:
    """Show verdicts, summaries, spikes, or dead letters with their reason and place but without the turn's text.

    A summary is marked 모델 요약 where a model wrote it, and 규칙 요약, with why, where the rule's sentence stands.
    Of a spike there are two records, when it opens and when it closes, with its counts and some of its turns.

    With --no-follow and not --from-beginning these are the last 10, or the last N of --limit.
    """
    settings = _settings(brokers)
    tailed = _TAILED[what]
    write = _writer(form or ("pretty" if sys.stdout.isatty() else "jsonl"), tailed.text, show_value)
    topic = getattr(settings.topics, tailed.field)
    for record in records(settings, topic, from_beginning=from_beginning, following=follow, limit=limit):
        if record is None:
            sys.stdout.flush()
        else:
            write(record)


def _writer(form: str, text: Callable[[bytes], Text] | None, show_value: bool) -> Callable[[Any], None]:
    out = sys.stdout.buffer

    def jsonl(record: Any) -> None:
        out.write(value_line(record) if text else letter_line(record, show_value=show_value))

    def pretty(record: Any) -> None:
        console.print(text(record.value or b"") if text else letter_text(record, show_value=show_value))

    if form == "jsonl":
        return jsonl
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    return pretty


@click.command(cls=_Command)
@click.option("--reason", type=click.Choice([reason.value for reason in Reason]), required=True, help="Which letters.")
@click.option("--dry-run", is_flag=True, help="Name what would be sent; send nothing.")
@click.option("--from-beginning", is_flag=True, help="Begin with the oldest dead letter, not where the last one ended.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Send at most N.")
@BROKERS
def replay(reason: str, dry_run: bool, from_beginning: bool, limit: int | None, brokers: str | None) -> None:
    """Send dead letters of a reason to the chat turns again, to the byte, once what they died of is mended.

    A replay goes on where the last one of the same reason stopped; the brokers keep that place for as long as their
    offsets.retention.minutes (7 days unless they were told otherwise) after it. A letter that was cut is passed over.
    """
    settings = _settings(brokers)
    count: Counter[Done] = Counter()
    for letter in replay_letters(settings, Reason(reason), from_beginning=from_beginning, limit=limit, dry_run=dry_run):
        count[letter.done] += 1
        if letter.done is Done.TRUNCATED:
            _say(f"{letter.place}: cut to fit, so it cannot be sent")
        elif dry_run:
            click.echo(f"{letter.place}: {visible(letter.detail)}")
    sent = f"{count[Done.SENT]:,} {'would be ' if dry_run else ''}sent to {settings.topics.chat_turns}"
    _say(f"{reason}: {sent}, {count[Done.TRUNCATED]:,} passed over")
