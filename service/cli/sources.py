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
from service.files.readers import Refused, shown, turn_file
from service.snapshot import Snapshot

if TYPE_CHECKING:
    from service.evaluate.gold import Gold
    from service.evaluate.judging import Identity, Judged
    from service.evaluate.sides import Changes, Sides

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


Rows = tuple[Iterable["Judged | Refused"], tuple[Fact, ...], int]


@contextmanager
def judged_rows(sources: Sources, verdicts: str | None, profile: str) -> Iterator[Rows]:
    """Open what is judged: the rows, what they came from, and how many rows of cards and lexicon were refused."""
    from service.evaluate.judging import judged_turns
    from service.files.reference import read_reference

    caps = sources.caps
    if verdicts is not None:
        if sources.named():
            raise OperatorError("--verdicts: expected without --turns, --cards and --lexicon")
        yield _verdicts(verdicts, caps), file_facts(("verdicts", "판정", verdicts)), 0
        return
    turns, cards, lexicon = sources.wanted()
    reference = read_reference(cards, lexicon, profile, caps, profile_file=sources.profile_file)
    say_refused(reference.refused)
    known = reference.sources.snapshot()
    with turn_file(turns, caps) as source:
        judged = judged_turns(source, (known,), caps, sources.order, Progress().track)
        rows = (row if isinstance(row, Refused) else row[0] for row in judged)
        yield rows, _settings(sources, known), len(reference.refused)


@contextmanager
def both_sides_of(
    sources: Sources, verdicts: str | None, profile: str, changes: "Changes", baseline: str | None
) -> Iterator[tuple[Iterable["Sides | Refused"], tuple[Fact, ...], int]]:
    """Open both sides of a change."""
    from service.evaluate.judging import judged_turns
    from service.evaluate.sides import against, both_sides

    caps = sources.caps
    earlier = earlier_verdicts(baseline, caps) if baseline is not None else None
    if earlier is not None and verdicts is not None:
        with judged_rows(sources, verdicts, profile) as (rows, settings, refused):
            yield against(earlier, rows), settings, refused
        return
    turns, cards, lexicon = sources.wanted()
    sides = both_sides(cards, lexicon, (profile, sources.profile_file), changes, caps)
    say_refused(sides.refused)
    with turn_file(turns, caps) as source:
        snapshots = (sides.after,) if earlier is not None else (sides.before, sides.after)
        judged = judged_turns(source, snapshots, caps, sources.order, Progress().track)
        if earlier is not None:
            now = (row if isinstance(row, Refused) else row[0] for row in judged)
            yield against(earlier, now), _settings(sources, sides.after), len(sides.refused)
        else:
            changed = tuple(
                fact._replace(key=f"{fact.key}_after", title=f"{fact.title} (뒤)") for fact in _digests(sides.after)
            )
            pairs = (row if isinstance(row, Refused) else (row[0], row[1]) for row in judged)
            yield pairs, (*_settings(sources, sides.before), *changed), len(sides.refused)


def marked_turns(path: str, caps: Caps) -> "Gold":
    """Read a gold file; every line that is none is said, and refuses the run.

    Raises:
        OperatorError: a line is refused, or the file cannot be read.
    """
    from service.evaluate.gold import Gold, read_gold

    gold = read_gold(path, caps)
    if isinstance(gold, Gold):
        return gold
    raise _nothing_taken(path, gold, "gold")


def earlier_verdicts(path: str, caps: Caps) -> "dict[Identity, Judged]":
    """Read an earlier run's verdicts by identity; of several for one turn the last counts.

    Raises:
        OperatorError: a line is refused, or the file cannot be read.
    """
    return {judged.identity: judged for judged in _verdicts(path, caps)}


def _verdicts(path: str, caps: Caps) -> "list[Judged]":
    from service.evaluate.judging import read_verdicts

    found = read_verdicts(path, caps, Progress().track)
    if isinstance(found, list):
        return found
    raise _nothing_taken(path, found, "verdicts")


def _nothing_taken(path: str, refused: tuple[Refused, ...], wanted: str) -> OperatorError:
    """Say every line of a file that is not what was wanted; return what ends the run."""
    say_refused(refused)
    are = "line is" if len(refused) == 1 else "lines are"
    return OperatorError(f"{shown(path)}: {len(refused):,} {are} no {wanted}; nothing was evaluated")


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
