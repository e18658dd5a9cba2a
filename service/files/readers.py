"""Read turns, cards and lexicons from JSONL or CSV, row by row: what is refused is reported, the rest loads.

A name that ends in `.csv` is CSV, every other JSONL; `-` is JSONL from stdin. Rows go through `service.decode`, so a
file refuses what the worker refuses.
"""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, Final, Generic, NamedTuple, TypeVar

import orjson

from schemas.card import Card
from schemas.lexicon import Entry
from schemas.refusal import Reason, Refusal
from schemas.turn import Turn
from service.decode import Caps, decode_card, decode_entry, decode_turn, mapping
from service.errors import OperatorError
from service.files.lines import lines
from service.files.sheets import CARD_COLUMNS, LEXICON_COLUMNS, TURN_COLUMNS, Columns, Sheet
from service.profiles import KNOWN
from service.records import pair_of

STDIN: Final = "-"
_BUFFER_BYTES: Final = 1 << 20

Say = Callable[[str], None]
RawRow = tuple[int, bytes | Refusal]
T = TypeVar("T")


class Refused(NamedTuple):
    """A row that was not taken: the file as it was named, the line the row starts on, and why."""

    file: str
    line: int
    refusal: Refusal

    def __str__(self) -> str:
        """Say it in one line, without the row's values."""
        return f"{self.file}:{self.line}: {self.refusal.reason}: {self.refusal.detail}"


class Loaded(NamedTuple, Generic[T]):
    """A file read whole: the records that were taken and the rows that were not, each in the file's order."""

    records: tuple[T, ...]
    refused: tuple[Refused, ...]


def say_on_stderr(message: str) -> None:
    """Print a notice about a file."""
    sys.stderr.write(message + "\n")


class TurnFile(NamedTuple):
    """A file of turns, or stdin: its name in reports, and what starts a reading of its rows."""

    name: str
    rows: Callable[[], Iterator[RawRow]]


@contextmanager
def turn_file(path: str, caps: Caps, say: Say = say_on_stderr, *, again: bool = True) -> Iterator[TurnFile]:
    """Open a file of turns. Its `rows()` yields the line each row starts on and the record's JSON, or why it has none.

    With `again` the rows can be read more than once: a pipe is spooled to a temporary file first.

    Raises:
        OperatorError: the file is missing or cannot be read, or is CSV without the columns of a turn.
    """
    with opened(path, again=again) as file:
        yield TurnFile(shown(path), raw_rows(file, path, TURN_COLUMNS, caps, say))


def read_turns(path: str, caps: Caps, say: Say = say_on_stderr) -> Iterator[RawRow]:
    """Yield the rows of a file of turns once, as `turn_file` does."""
    with turn_file(path, caps, say, again=False) as turns:
        yield from turns.rows()


def turn_of(value: bytes | Refusal, caps: Caps) -> Turn | Refusal:
    """Return the turn that a row is, or why it is none."""
    return value if isinstance(value, Refusal) else decode_turn(value, caps)


def read_cards(path: str, caps: Caps, say: Say = say_on_stderr) -> Loaded[Card]:
    """Read a file of cards; of two rows with one character_id the later is refused.

    Raises:
        OperatorError: as `turn_file`.
    """
    return _load(path, CARD_COLUMNS, caps, say, lambda value: decode_card(value, caps, KNOWN), _character)


def read_lexicon(path: str, caps: Caps, say: Say = say_on_stderr) -> Loaded[Entry]:
    """Read a lexicon; where no row has a position, the rows count from 1. The same term and topic twice is refused.

    Raises:
        OperatorError: as `turn_file`.
    """
    return _load(path, LEXICON_COLUMNS, caps, say, lambda value: decode_entry(value, caps), _pair, _numbered)


def shown(path: str) -> str:
    """Return a file's name as reports have it."""
    return "stdin" if path == STDIN else path


def _load(
    path: str,
    columns: Columns,
    caps: Caps,
    say: Say,
    decode: Callable[[bytes], T | Refusal],
    key: Callable[[T], tuple[str, tuple[str, ...]]],
    prepared: Callable[[list[RawRow]], list[RawRow]] = list,
) -> Loaded[T]:
    with opened(path, again=False) as file:
        raw = prepared(list(raw_rows(file, path, columns, caps, say)()))
    taken: list[T] = []
    refused: list[Refused] = []
    first: dict[tuple[str, ...], int] = {}
    for line, value in raw:
        row = value if isinstance(value, Refusal) else decode(value)
        if not isinstance(row, Refusal):
            field, same = key(row)
            before = first.setdefault(same, line)
            if before == line:
                taken.append(row)
                continue
            row = Refusal(Reason.SCHEMA_INVALID, f"{field}: expected once in a file, first on line {before}")
        refused.append(Refused(shown(path), line, row))
    return Loaded(tuple(taken), tuple(refused))


def _character(card: Card) -> tuple[str, tuple[str, ...]]:
    return "character_id", (card.character_id,)


def _pair(entry: Entry) -> tuple[str, tuple[str, ...]]:
    return "term, topic", pair_of(entry)


def _numbered(raw: list[RawRow]) -> list[RawRow]:
    rows = [None if isinstance(value, Refusal) else mapping(value) for _, value in raw]
    if any(row is not None and row.get("position") is not None for row in rows):
        return raw
    return [
        (line, value if row is None else orjson.dumps({**row, "position": number}))
        for number, ((line, value), row) in enumerate(zip(raw, rows, strict=True), start=1)
    ]


def is_sheet(path: str) -> bool:
    """Tell whether a file is CSV, by its name; every other is JSONL."""
    return path.lower().endswith(".csv")


def raw_rows(file: BinaryIO, path: str, columns: Columns, caps: Caps, say: Say) -> Callable[[], Iterator[RawRow]]:
    """Return what starts a reading of a file's rows, each with the line it starts on.

    Raises:
        OperatorError: the file is CSV without the columns it must have, once its rows are read.
    """
    if is_sheet(path):
        return Sheet(file, path, columns, caps.max_record_bytes, say).rows
    start = file.tell() if file.seekable() else None

    def rows() -> Iterator[RawRow]:
        if start is not None:
            file.seek(start)
        return lines(file, caps.max_record_bytes)

    return rows


@contextmanager
def opened(path: str, *, again: bool) -> Iterator[BinaryIO]:
    """Open a file, or stdin, to be read; with `again` it can be rewound (a pipe is spooled to a temporary file first).

    Raises:
        OperatorError: it is missing or cannot be read.
    """
    with ExitStack() as stack:
        try:
            file = _open(path, stack)
            if not file.seekable() and (again or is_sheet(path)):
                file = _spooled(file, stack)
        except OSError as error:
            raise OperatorError(f"{shown(path)}: {error.strerror or error}") from None
        yield file


def _open(path: str, stack: ExitStack) -> BinaryIO:
    if path == STDIN:
        return sys.stdin.buffer
    return stack.enter_context(Path(path).open("rb", buffering=_BUFFER_BYTES))


def _spooled(pipe: BinaryIO, stack: ExitStack) -> BinaryIO:
    spool = stack.enter_context(TemporaryFile())  # noqa: SIM115 - the stack closes it
    shutil.copyfileobj(pipe, spool, _BUFFER_BYTES)
    spool.seek(0)
    return spool
