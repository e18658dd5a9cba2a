"""Rows of a lexicon or a file of cards as they came, also those that judging would refuse."""

from typing import Any, Final, NamedTuple

from schemas.refusal import Reason, Refusal
from service.decode import Caps, Malformed, parse
from service.files.lines import lines
from service.files.readers import opened, say_on_stderr, shown
from service.files.sheets import Columns, Sheet

_CAPS: Final = Caps()
# Why a row of CSV has no record, as creators read it.
_TROUBLES: Final = {
    Reason.SCHEMA_INVALID: "칸 수가 머리줄과 다릅니다",
    Reason.MALFORMED: "따옴표가 닫히지 않았거나 UTF-8이 아닌 글자가 있습니다",
    Reason.TOO_LARGE: f"한 줄이 {_CAPS.max_record_bytes:,}바이트를 넘습니다",
}


class RawRow(NamedTuple):
    """A row of a file: its line, and its JSON object, or None where there is none and `trouble` says why."""

    line: int
    row: dict[str, Any] | None
    trouble: str | None


class RawFile(NamedTuple):
    """A file by the name that reports have, and its rows in order."""

    name: str
    rows: tuple[RawRow, ...]


def read_raw(path: str, columns: Columns) -> RawFile:
    """Read a whole file, JSONL or by its name CSV.

    Raises:
        OperatorError: it is missing, cannot be read, or is CSV without the columns it must have.
    """
    with opened(path, again=False) as file:
        if path.lower().endswith(".csv"):
            rows = Sheet(file, path, columns, _CAPS.max_record_bytes, say_on_stderr).rows()
        else:
            rows = lines(file, _CAPS.max_record_bytes)
        return RawFile(shown(path), tuple(_raw(line, value) for line, value in rows))


def _raw(line: int, value: bytes | Refusal) -> RawRow:
    if isinstance(value, Refusal):
        return RawRow(line, None, _TROUBLES[value.reason])
    if len(value) > _CAPS.max_record_bytes:
        return RawRow(line, None, _TROUBLES[Reason.TOO_LARGE])
    try:
        row = parse(value)
    except Malformed:
        return RawRow(line, None, "JSON으로 읽히지 않습니다(UTF-8 인코딩, 따옴표, 쉼표를 확인하세요)")
    if not isinstance(row, dict):
        return RawRow(line, None, "한 줄이 { } 로 묶인 JSON이 아닙니다")
    return RawRow(line, row, None)
