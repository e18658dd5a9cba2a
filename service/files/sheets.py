"""CSV: a table whose cells become the JSON record that the wire has (design section 2).

An empty cell is null, an empty list `[]`; lists are JSON or `|`-separated, booleans true or false in any case. A cell
that cannot be read so is handed on as text, for the record's schema to refuse.
"""

import codecs
import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from io import TextIOWrapper
from typing import Any, BinaryIO, Final, NamedTuple

from schemas.refusal import Reason, Refusal
from service.decode import Malformed, parse
from service.errors import OperatorError

_BLOCK_BYTES: Final = 1 << 20
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")
_FLAGS: Final = {"true": True, "false": False}

Cell = Callable[[str], Any]


def _text(cell: str) -> Any:
    return cell


def _flag(cell: str) -> Any:
    return _FLAGS.get(cell.strip().lower(), cell)


def _whole(cell: str) -> Any:
    return int(cell) if _WHOLE.fullmatch(cell.strip()) else cell


def _names(cell: str) -> Any:
    return _json(cell) if _is_json(cell) else [part.strip() for part in cell.split("|")]


def _roles(cell: str) -> Any:
    return _json(cell) if _is_json(cell) else [_role(part) for part in cell.split("|")]


def _role(part: str) -> dict[str, str]:
    role, sign, entity = part.partition("=")
    return {"role": role.strip(), "entity": entity.strip()} if sign else {"role": role.strip()}


def _is_json(cell: str) -> bool:
    return cell.lstrip().startswith("[")


def _json(cell: str) -> Any:
    try:
        return parse(cell.encode("utf-8", "surrogateescape"))
    except Malformed:
        return cell


class Columns(NamedTuple):
    """The columns of a record: how their cells are read, and which of them the header must name."""

    cells: Mapping[str, Cell]
    required: tuple[str, ...]


TURN_COLUMNS: Final = Columns(
    {
        "turn_id": _text,
        "session_id": _text,
        "character_id": _text,
        "model_id": _text,
        "user_message": _text,
        "reply_text": _text,
        "first_person": _text,
        "honorific_level": _text,
        "named_entities": _names,
        "user_asked_recall": _flag,
        "prompt_id": _text,
    },
    ("turn_id", "session_id", "character_id", "model_id"),
)
CARD_COLUMNS: Final = Columns(
    {
        "character_id": _text,
        "honorific_rule": _text,
        "first_person": _text,
        "canon_entities": _names,
        "forbidden_topics": _names,
        "entity_roles": _roles,
        "profile": _text,
    },
    ("character_id", "honorific_rule", "canon_entities", "forbidden_topics", "entity_roles"),
)
LEXICON_COLUMNS: Final = Columns(
    {"term": _text, "topic": _text, "position": _whole, "mode": _text, "except": _names},
    ("term", "topic"),
)


class Sheet:
    """A CSV file with a header; its rows can be read more than once."""

    def __init__(
        self, file: BinaryIO, name: str, columns: Columns, max_record_bytes: int, say: Callable[[str], None]
    ) -> None:
        """Find out the encoding of a file that can be rewound; `say` is told when it is not UTF-8.

        A file that is neither UTF-8 nor CP949 is read as UTF-8, and its rows of other bytes are refused one by one.
        """
        self._file, self._name, self._columns = file, name, columns
        self._max_record_bytes = max_record_bytes
        self._encoding = "utf-8-sig"
        if not _decodes(file, "utf-8") and _decodes(file, "cp949"):
            self._encoding = "cp949"
            say(f"{name}: not UTF-8, read as CP949")

    def rows(self) -> Iterator[tuple[int, bytes | Refusal]]:
        """Yield each row with the line it starts on: the record's JSON, or why there is none.

        Raises:
            OperatorError: the header lacks a column, or names one twice.
        """
        self._file.seek(0)
        text = TextIOWrapper(self._file, self._encoding, "surrogateescape", newline="")
        csv.field_size_limit(self._max_record_bytes)
        try:
            yield from self._records(_cells(text, self._max_record_bytes))
        finally:
            text.detach()

    def _records(self, rows: Iterator[tuple[int, list[str] | Refusal]]) -> Iterator[tuple[int, bytes | Refusal]]:
        header = next(rows, None)
        if header is None:
            return
        width, known = self._header(header[1])
        for line, cells in rows:
            if isinstance(cells, Refusal):
                yield line, cells
            elif len(cells) != width:
                yield line, Refusal(Reason.SCHEMA_INVALID, f"row: expected {width} cells, as many as the header has")
            else:
                yield line, _record({name: read(cells[place]) if cells[place] else None for place, name, read in known})

    def _header(self, cells: list[str] | Refusal) -> tuple[int, list[tuple[int, str, Cell]]]:
        if isinstance(cells, Refusal):
            raise OperatorError(f"{self._name}: the header cannot be read: {cells.detail}")
        names = [cell.strip() for cell in cells]
        missing = [name for name in self._columns.required if name not in names]
        if missing:
            raise OperatorError(f"{self._name}: the header lacks {', '.join(missing)}")
        twice = [name for name in self._columns.cells if names.count(name) > 1]
        if twice:
            raise OperatorError(f"{self._name}: the header names {', '.join(twice)} more than once")
        known = [
            (place, name, self._columns.cells[name]) for place, name in enumerate(names) if name in self._columns.cells
        ]
        return len(names), known


def _cells(text: TextIOWrapper, max_record_bytes: int) -> Iterator[tuple[int, list[str] | Refusal]]:
    reader = csv.reader(text, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # The reader starts afresh on the next line.
            yield line, _refusal(error, max_record_bytes)
        else:
            if cells:
                yield line, cells


def _refusal(error: csv.Error, max_record_bytes: int) -> Refusal:
    if "field limit" in str(error):
        return Refusal(Reason.TOO_LARGE, f"record: expected at most {max_record_bytes} bytes")
    return Refusal(Reason.MALFORMED, "row: expected CSV whose quoted cells are closed and double the quotes in them")


def _record(row: dict[str, Any]) -> bytes | Refusal:
    try:
        return json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return Refusal(Reason.MALFORMED, "row: expected UTF-8")


def _decodes(file: BinaryIO, encoding: str) -> bool:
    file.seek(0)
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while block := file.read(_BLOCK_BYTES):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
