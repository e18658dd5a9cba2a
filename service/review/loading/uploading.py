"""Load files of turns, cards and a lexicon: previewed without writing, judged by the worker's step, shown all at once.

Earlier turns are those of the same file, in natural order of ids over the whole file (design section 12). A turn is
judged by the uploaded cards and lexicon, and by those in the database where none were uploaded.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from sqlalchemy import Connection, Engine

from schemas.card import Card
from schemas.element import Namings
from schemas.lexicon import Entry
from schemas.refusal import Refusal
from service.digest import hashed
from service.files.judging import WHOLE_FILE, earliest_namings
from service.files.readers import RawRow, Refused, turn_of
from service.review.bench import Bench
from service.review.clock import now_ms
from service.review.loading.files import Files, Reading
from service.review.store import loads, reference
from service.review.store.batch import Batch, CardChange, Judged, Letter, LexiconChange, RefusedTurn
from service.review.store.opening import reading, writing
from service.review.store.writing import write
from service.snapshot import Snapshot, snapshot
from service.step import Accepted, step

MOST_REFUSED: Final = 200
_MOST_CHARACTERS: Final = 20
_BATCH: Final = 1_000

# Is told how many rows are done, and of how many where that is known; what it raises ends the work, and undoes it.
Progress = Callable[[int, int | None], None]


class Preview(NamedTuple):
    """What is in the files, before anything is written.

    Rows that will load, by kind; the first 200 that will not, with their number; characters of turns that have no card
    (the first 20, with the number of such turns: they will be listed as not judged); and notices, such as an encoding.
    """

    turns: int
    cards: int
    terms: int
    refused: tuple[Refused, ...]
    refused_count: int
    without_card: tuple[str, ...]
    without_card_turns: int
    notices: tuple[str, ...]


class Loaded(NamedTuple):
    """What a load came to: verdicts, turns and rows that were refused, and verdicts that were there already."""

    load_id: int
    judged: int
    refused: int
    known: int


class _Against(NamedTuple):
    """What turns are judged by, and the rows of cards and lexicon files that were taken and refused."""

    cards: tuple[Card, ...]
    entries: tuple[Entry, ...] | None
    refused: tuple[Refused, ...]
    snapshot: Snapshot


class _Judging(NamedTuple):
    """What a pass over the turns needs."""

    against: _Against
    bench: Bench
    sessions: Mapping[str, Namings]
    kind: str
    at_ms: int


def preview(connection: Connection, files: Files, bench: Bench, progress: Progress) -> Preview:
    """Read files without writing anything.

    Raises:
        OperatorError: a CSV file lacks a column; one line, with the file's own name.
    """
    with Reading(files, bench.caps) as read:
        against = _against(connection, read, bench)
        refused, without_card, turns = list(against.refused), Counter[str](), 0
        for done, (line, value) in enumerate(read.turns(), start=1):
            turn = turn_of(value, bench.caps)
            if isinstance(turn, Refusal):
                refused.append(Refused(read.name, line, turn))
            else:
                turns += 1
                if turn.character_id not in against.snapshot.characters:
                    without_card[turn.character_id] += 1
            if done % _BATCH == 0:
                progress(done, None)
        return Preview(
            turns,
            len(against.cards),
            len(against.entries or ()),
            tuple(refused[:MOST_REFUSED]),
            len(refused),
            tuple(character for character, _ in without_card.most_common(_MOST_CHARACTERS)),
            without_card.total(),
            tuple(read.notices),
        )


def load(
    engine: Engine,
    files: Files,
    bench: Bench,
    who: str,
    progress: Progress,
    *,
    kind: str = loads.UPLOAD,
    only_first: bool = False,
) -> Loaded | None:
    """Judge files and show their rows at once; nothing is shown, or left, of a load that does not come to its end.

    `kind` says what the load is; with `only_first` nothing is done, and None returned, where there is a load or a row.

    Raises:
        OperatorError: as `preview`; another load is going on; the load was taken for dead.
    """
    with Reading(files, bench.caps) as read:
        load_id = loads.begin(engine, kind, read.load_name, who, now_ms(), only_first=only_first)
        if load_id is None:
            return None
        try:
            counted = _fill(engine, load_id, read, bench, kind, progress)
            loads.finish(engine, load_id, counted, now_ms())
        except BaseException:
            loads.cancel(engine, load_id, now_ms())
            raise
    return Loaded(load_id, **counted)


def _fill(engine: Engine, load_id: int, read: Reading, bench: Bench, kind: str, progress: Progress) -> dict[str, int]:
    at_ms = now_ms()
    with reading(engine) as connection:
        against = _against(connection, read, bench)
    with writing(engine) as connection:
        loads.beat(connection, load_id, at_ms)
        write(connection, _reference(against, load_id, at_ms), load_id)
    rows = _Counted(read.turns, progress, lambda: _beat(engine, load_id))
    judging = _Judging(against, bench, earliest_namings(rows, bench.caps), kind, at_ms)
    counted = {"judged": 0, "refused": len(against.refused), "known": 0}
    done = 0
    for batch in _batches(read, judging, load_id):
        with writing(engine) as connection:
            loads.beat(connection, load_id, now_ms())
            counted["known"] += write(connection, batch, load_id).known
        counted["judged"] += len(batch.judged)
        counted["refused"] += len(batch.refused) + len(batch.letters)
        done += len(batch.judged) + len(batch.refused) + len(batch.letters)
        progress(done, rows.count)
    return counted


def _batches(read: Reading, judging: _Judging, load_id: int) -> Iterator[Batch]:
    rows = read.turns()
    while some := list(islice(rows, _BATCH)):
        judged: list[Judged] = []
        refused: list[RefusedTurn] = []
        letters: list[Letter] = []
        for line, value in some:
            outcome = _outcome(line, value, judging)
            if isinstance(outcome, Judged):
                judged.append(outcome)
            elif isinstance(outcome, RefusedTurn):
                refused.append(outcome)
            else:
                letters.append(_letter(Refused(read.name, line, outcome), load_id, judging.at_ms))
        yield Batch(judged=judged, refused=refused, letters=letters)


def _outcome(line: int, value: bytes | Refusal, judging: _Judging) -> Judged | RefusedTurn | Refusal:
    if isinstance(value, Refusal):
        return value
    known = judging.against.snapshot
    result = step(value, WHOLE_FILE, judging.sessions, known, judging.bench.caps).result
    if isinstance(result, Accepted):
        digests = (result.card, known.book.digest, result.profile)
        # What earlier turns named is in the record and not in the turn, so that both make the id.
        verdict_id = hashed("file", judging.kind, known.ruleset, *digests, value, result.value)
        return Judged(verdict_id, result.turn, result.value, result.codes, judging.at_ms, line, None, *digests)
    if result.turn is None:
        return Refusal(result.reason, result.detail)
    verdict_id = hashed("file", judging.kind, known.ruleset, known.book.digest, result.reason, result.detail, value)
    return RefusedTurn(verdict_id, result.turn, result.reason, result.detail, judging.at_ms, line, None)


def _reference(against: _Against, load_id: int, at_ms: int) -> Batch:
    """Return the uploaded cards and lexicon, and the rows of their files that were refused."""
    lexicons = () if against.entries is None else (_lexicon(against.snapshot, at_ms),)
    return Batch(
        cards=[CardChange(card.character_id, card, at_ms) for card in against.cards],
        lexicons=lexicons,
        letters=[_letter(refused, load_id, at_ms) for refused in against.refused],
    )


def _lexicon(known: Snapshot, at_ms: int) -> LexiconChange:
    return LexiconChange(known.book.entries, known.book.digest, at_ms)


def _letter(refused: Refused, load_id: int, at_ms: int) -> Letter:
    file, line, (reason, detail) = refused
    return Letter(hashed("file", load_id, file, line, reason, detail), reason, detail, file, line, at_ms)


def _against(connection: Connection, read: Reading, bench: Bench) -> _Against:
    cards, refused_cards = read.cards()
    entries, refused_entries = read.lexicon()
    everyone = (*reference.present_cards(connection, bench.caps), *cards)
    lexicon = reference.present_lexicon(connection, bench.caps) if entries is None else entries
    return _Against(cards, entries, refused_cards + refused_entries, snapshot(everyone, lexicon, *bench.profiles))


class _Counted:
    """Rows handed through and counted, with a sign of life now and then."""

    def __init__(self, rows: Callable[[], Iterator[RawRow]], progress: Progress, beat: Callable[[], None]) -> None:
        self._rows, self._progress, self._beat = rows, progress, beat
        self.count = 0

    def __iter__(self) -> Iterator[RawRow]:
        for row in self._rows():
            self.count += 1
            yield row
            if self.count % (20 * _BATCH) == 0:
                self._progress(0, None)
                self._beat()


def _beat(engine: Engine, load_id: int) -> None:
    with writing(engine) as connection:
        loads.beat(connection, load_id, now_ms())
