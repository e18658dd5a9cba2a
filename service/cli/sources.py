"""What the reporting commands judge: their shared options, and the files these name."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from service.cli.inputs import refuse_same, say_refused
from service.cli.options import CAPS, PROFILE_FILE, Option, gathered, order_option
from service.cli.progress import Progress
from service.decode import Caps
from service.errors import OperatorError
from service.evaluate.report.value import Fact
from service.files.judging import Order
from service.files.readers import shown, turn_file
from service.snapshot import Snapshot

if TYPE_CHECKING:
    from service.evaluate.changing import Sides
    from service.evaluate.gold import Gold
    from service.evaluate.judging import Judged, Unread
    from service.evaluate.sources import Changes

_OPTIONS: Final[tuple[Option, ...]] = (
    click.option("--turns", metavar="FILE", help="Turns to judge, JSONL or CSV; - is stdin."),
    click.option("--cards", metavar="FILE", help="Cards, JSONL or CSV."),
    click.option("--lexicon", metavar="FILE", help="Topic lexicon, JSONL or CSV."),
    order_option("Which turns of a session are earlier, as in judge."),
    PROFILE_FILE,
    *CAPS,
)
VERDICTS: Final = click.option(
    "--verdicts", metavar="FILE", help="Verdicts as judge writes them, instead of --turns, --cards and --lexicon."
)


class Sources(NamedTuple):
    """The options that say what is judged, and against what."""

    turns: str | None
    cards: str | None
    lexicon: str | None
    order: Order
    profile_file: Path | None
    caps: Caps

    def wanted(self) -> tuple[str, str, str]:
        """Return turns, cards and lexicon, all of which must be named."""
        if self.turns is None or self.cards is None or self.lexicon is None:
            raise OperatorError("expected --turns, --cards and --lexicon")
        return self.turns, self.cards, self.lexicon

    def refuse_same(self, *others: str | None) -> None:
        """Refuse to read two files from stdin."""
        refuse_same(self.turns, self.cards, self.lexicon, *others)

    def named(self) -> bool:
        """Whether any of them is named."""
        return (self.turns, self.cards, self.lexicon) != (None, None, None)


def _sources(
    turns: str | None,
    cards: str | None,
    lexicon: str | None,
    order: str,
    profile_file: Path | None,
    max_record_bytes: int,
    max_names: int,
) -> Sources:
    return Sources(turns, cards, lexicon, Order(order), profile_file, Caps(max_record_bytes, max_names))


# Gives a command the shared options, as one argument `sources`.
with_sources: Final = gathered("sources", _OPTIONS, _sources)


Rows = tuple[Iterable["Judged | Unread"], tuple[Fact, ...], int]


@contextmanager
def judged_rows(sources: Sources, verdicts: str | None, profile: str, progress: Progress) -> Iterator[Rows]:
    """Open what is judged: the rows, what they came from, and how many rows of cards and lexicon were refused."""
    from service.evaluate.judging import Unread, judged_turns, read_verdicts
    from service.files.reference import read_reference

    caps = sources.caps
    if verdicts is not None:
        if sources.named():
            raise OperatorError("--verdicts: expected without --turns, --cards and --lexicon")
        given = read_verdicts(verdicts, caps, progress.track)
        unread = tuple(row.refused for row in given if isinstance(row, Unread))
        if unread:
            say_refused(unread)
            raise OperatorError(f"{shown(verdicts)}: {len(unread)} lines are no verdicts; nothing was evaluated")
        yield given, file_facts(("verdicts", "판정", verdicts)), 0
        return
    turns, cards, lexicon = sources.wanted()
    reference = read_reference(cards, lexicon, profile, caps, profile_file=sources.profile_file)
    say_refused(reference.refused)
    known = reference.sources.snapshot()
    with turn_file(turns, caps) as source:
        judged = judged_turns(source, (known,), caps, sources.order, progress.track)
        rows = (row if isinstance(row, Unread) else row[0] for row in judged)
        yield rows, _settings(sources, known), len(reference.refused)


@contextmanager
def both_sides_of(
    sources: Sources, verdicts: str | None, profile: str, changes: "Changes", baseline: str | None
) -> Iterator[tuple[Iterable["Sides | Unread"], tuple[Fact, ...], int]]:
    """Open both sides of a change."""
    from service.evaluate.judging import Unread, judged_turns
    from service.evaluate.sources import against, both_sides, earlier_verdicts

    progress = Progress()
    caps = sources.caps
    earlier = earlier_verdicts(baseline, caps, progress.track) if baseline is not None else None
    if earlier is not None and verdicts is not None:
        with judged_rows(sources, verdicts, profile, progress) as (rows, settings, refused):
            yield against(earlier, rows), settings, refused
        return
    turns, cards, lexicon = sources.wanted()
    sides = both_sides(cards, lexicon, (profile, sources.profile_file), changes, caps)
    say_refused(sides.refused)
    with turn_file(turns, caps) as source:
        snapshots = (sides.after,) if earlier is not None else (sides.before, sides.after)
        judged = judged_turns(source, snapshots, caps, sources.order, progress.track)
        if earlier is not None:
            now = (row if isinstance(row, Unread) else row[0] for row in judged)
            yield against(earlier, now), _settings(sources, sides.after), len(sides.refused)
        else:
            changed = tuple(
                fact._replace(key=f"{fact.key}_after", title=f"{fact.title} (뒤)") for fact in _digests(sides.after)
            )
            pairs = (row if isinstance(row, Unread) else (row[0], row[1]) for row in judged)
            yield pairs, (*_settings(sources, sides.before), *changed), len(sides.refused)


def marked_turns(path: str, caps: Caps) -> "Gold":
    """Read a gold file; every row that is none is said, and refuses the run.

    Raises:
        OperatorError: a row is refused, or the file cannot be read.
    """
    from service.evaluate.gold import Gold, read_gold

    gold = read_gold(path, caps)
    if isinstance(gold, Gold):
        return gold
    say_refused(gold)
    raise OperatorError(f"{shown(path)}: {len(gold)} rows are no gold; nothing was evaluated")


def file_facts(*named: tuple[str, str, str | None]) -> tuple[Fact, ...]:
    """Return the files a run was given, by key, title and path; those that were not given are left out."""
    return tuple(Fact(key, title, PurePath(path).name) for key, title, path in named if path is not None)


def _settings(sources: Sources, snapshot: Snapshot) -> tuple[Fact, ...]:
    files = (("turns", "회차", sources.turns), ("cards", "카드", sources.cards), ("lexicon", "사전", sources.lexicon))
    return (*file_facts(*files), Fact("order", "차례", sources.order.value), *_digests(snapshot))


def _digests(snapshot: Snapshot) -> tuple[Fact, ...]:
    return (
        Fact("profile", "프로필", snapshot.profiles[0].name),
        Fact("profile_digest", "프로필 해시", snapshot.profile_digest),
        Fact("lexicon_digest", "사전 해시", snapshot.book.digest),
        Fact("ruleset_digest", "규칙 해시", snapshot.ruleset),
    )
