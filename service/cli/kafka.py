"""`turnjudge topics`, `load`, `tail`, `replay` and `forget`: everything by hand on Kafka."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import click

from schemas.refusal import Reason, Refusal
from service.cli.environment import brokers as _brokers
from service.cli.environment import naming
from service.cli.inputs import say_refused
from service.decode import Caps, Malformed, parse
from service.errors import OperatorError
from service.files.readers import Loaded, Refused, read_cards, read_lexicon, read_turns, shown, turn_of
from service.load import Difference, card_difference, lexicon_difference, publish_difference, publish_turns
from service.records import Record
from service.replay import Done
from service.replay import replay as replay_letters
from service.settings import KafkaSettings, load_settings
from service.stream.topics import create_topics
from service.tail import letter_line, letter_text, records, summary_text, value_line, verdict_text, visible

_Command: Final = naming(KafkaSettings)
_LISTED: Final = 20
# What can be tailed, and its field among the topics.
_TAILED: Final = {
    "verdicts": "turn_verdicts",
    "summaries": "turn_summaries",
    "dead-letters": "turn_dead_letters",
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
@_brokers
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
@_brokers
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
@_brokers
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
@_brokers
def turns(file: str, rate: float | None, brokers: str | None) -> None:
    """Publish the turns of FILE as they stand, keyed by session."""
    settings = _settings(brokers)
    refused: Counter[Reason] = Counter()
    with _progress("published") as advance:
        count = publish_turns(settings, _accepted(file, settings.caps, refused, advance), rate)
    click.echo(f"{count:,} turns published, {refused.total():,} rows refused", err=True)
    _end(refused.total())


def _accepted(
    file: str, caps: Caps, refused: Counter[Reason], advance: Callable[[], None]
) -> Iterator[tuple[str, bytes]]:
    for line, value in read_turns(file, caps, _say):
        turn = turn_of(value, caps)
        if isinstance(turn, Refusal):
            refused[turn.reason] += 1
            _say(str(Refused(shown(file), line, turn)))
        elif not isinstance(value, Refusal):
            yield turn.session_id, value
            advance()


def _may_remove(loaded: Loaded[Any]) -> bool:
    if loaded.refused:
        _say("nothing is removed, because what was refused may be what is there")
    return not loaded.refused


def _publish(settings: KafkaSettings, difference: Difference, *, ask: bool) -> None:
    _say_difference(difference)
    if ask and not sys.stdin.isatty():
        raise OperatorError(f"{difference.topic}: nobody is there to ask; --yes publishes the difference")
    if ask and not click.confirm(f"Publish this to {difference.topic}?", err=True):
        _say("nothing was published")
        click.get_current_context().exit(1)
    with _progress("published") as advance:
        publish_difference(settings, difference, advance)


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


@contextmanager
def _progress(what: str) -> Iterator[Callable[[], None]]:
    """Count on a terminal what goes through; quiet elsewhere."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.completed:,.0f} {task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda: progress.advance(task)


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
@_brokers
def tail(
    what: str,
    from_beginning: bool,
    follow: bool,
    limit: int | None,
    form: str | None,
    show_value: bool,
    brokers: str | None,
) -> None:
    """Show verdicts, summaries, or dead letters with their reason and place but without the turn's text.

    A summary is marked 모델 요약 where a model wrote it, and 규칙 요약, with why, where the rule's sentence stands.

    With --no-follow and not --from-beginning these are the last 10, or the last N of --limit.
    """
    settings = _settings(brokers)
    topic = getattr(settings.topics, _TAILED[what])
    write = _writer(form or ("pretty" if sys.stdout.isatty() else "jsonl"), what, show_value)
    for record in records(settings, topic, from_beginning=from_beginning, following=follow, limit=limit):
        if record is None:
            sys.stdout.flush()
        else:
            write(record)


def _writer(form: str, what: str, show_value: bool) -> Callable[[Any], None]:
    out = sys.stdout.buffer
    text = summary_text if what == "summaries" else verdict_text
    letters = what == "dead-letters"

    def jsonl(record: Any) -> None:
        out.write(letter_line(record, show_value=show_value) if letters else value_line(record))

    def pretty(record: Any) -> None:
        console.print(letter_text(record, show_value=show_value) if letters else text(record.value or b""))

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
@_brokers
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
