"""Rows of a lexicon or a file of cards as they came, also those that judging would refuse."""

from typing import Any, Final, NamedTuple

from schemas.refusal import Reason, Refusal
from service.decode import Caps, parsed
from service.files.readers import opened, raw_rows, say_on_stderr, shown
from service.files.sheets import Columns

_CAPS: Final = Caps()
# Why a row of CSV has no record, as creators read it.
_TROUBLES: Final = {
    Reason.SCHEMA_INVALID: "칸 수가 머리줄과 다릅니다",
    Reason.MALFORMED: "따옴표가 닫히지 않았거나 UTF-8이 아닌 글자가 있습니다",
    Reason.TOO_LARGE: f"한 줄이 {_CAPS.max_record_bytes:,}바이트를 넘습니다",
}
_NO_JSON: Final = "JSON으로 읽히지 않습니다(UTF-8 인코딩, 따옴표, 쉼표를 확인하세요)"


class GivenRow(NamedTuple):
    """A row of a file: its line, and its JSON object, or None where there is none and `trouble` says why."""

    line: int
    row: dict[str, Any] | None
    trouble: str | None


class GivenFile(NamedTuple):
    """A file by the name that reports have, and its rows in order."""

    name: str
    rows: tuple[GivenRow, ...]


def read_given(path: str, columns: Columns) -> GivenFile:
    """Read a whole file, JSONL or by its name CSV.

    Raises:
        OperatorError: it is missing, cannot be read, or is CSV without the columns it must have.
    """
    with opened(path, again=False) as file:
        rows = raw_rows(file, path, columns, _CAPS, say_on_stderr)()
        return GivenFile(shown(path), tuple(_given(line, value) for line, value in rows))


def numbered(file: GivenFile) -> list[GivenRow]:
    """Return the rows of a lexicon with the positions they are read with: their own, or where none has one, lines."""
    if any(each.row is not None and each.row.get("position") is not None for each in file.rows):
        return list(file.rows)
    return [each if each.row is None else each._replace(row=each.row | {"position": each.line}) for each in file.rows]


def _given(line: int, value: bytes | Refusal) -> GivenRow:
    if isinstance(value, Refusal):
        return GivenRow(line, None, _TROUBLES[value.reason])
    row = parsed(value, _CAPS.max_record_bytes)
    if isinstance(row, Refusal):
        return GivenRow(line, None, _TROUBLES[row.reason] if row.reason is Reason.TOO_LARGE else _NO_JSON)
    if not isinstance(row, dict):
        return GivenRow(line, None, "한 줄이 { } 로 묶인 JSON이 아닙니다")
    return GivenRow(line, row, None)
