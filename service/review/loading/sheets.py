"""CSV as spreadsheets write it: cut at semicolons or tabs, or in UTF-16, made into what `service.files` reads."""

import csv
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable
from pathlib import Path
from typing import Final

_HEADER_BYTES: Final = 64 * 1024
_SIGNS: Final = {"\t": "tabs", ";": "semicolons"}
_ENCODINGS: Final = ("utf-8-sig", "cp949")
# The limit is the whole process's, so it may be anybody's; whoever reads the copy sets one of its own.
_LONGEST_CELL: Final = 2**31 - 1


def plain(path: Path, say: Callable[[str], None]) -> Path:
    """Return a file that `service.files` reads: the file itself, or a copy cut at commas beside it, line for line.

    What is neither is returned as it is, for the reader to refuse; `say` is told what was made of it.
    """
    if path.suffix != ".csv":
        return path
    with path.open("rb") as file:
        head = file.read(_HEADER_BYTES)
    is_wide = head.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    encodings = ("utf-16",) if is_wide else _ENCODINGS
    for encoding in encodings:
        sign = _sign(head, encoding)
        if sign is None or (sign == "," and not is_wide):
            continue
        copy = path.with_name(f"{path.stem}.plain.csv")
        try:
            _copy(path, copy, encoding, sign)
        except (UnicodeError, csv.Error):
            continue
        if is_wide:
            say(f"{path}: read as UTF-16")
        if sign != ",":
            say(f"{path}: cells cut at {_SIGNS[sign]}")
        return copy
    return path


def _sign(head: bytes, encoding: str) -> str | None:
    """Return what the header's cells are cut at; None where the bytes are of another encoding."""
    try:
        header = head.decode(encoding, "strict" if len(head) < _HEADER_BYTES else "ignore").split("\n", 1)[0]
    except UnicodeError:
        return None
    if "," in header:
        return ","
    return next((sign for sign in _SIGNS if sign in header), ",")


def _copy(path: Path, copy: Path, encoding: str, sign: str) -> None:
    csv.field_size_limit(_LONGEST_CELL)
    with (
        path.open(encoding=encoding, newline="") as source,
        copy.open("w", encoding="utf-8", newline="") as target,
    ):
        csv.writer(target, lineterminator="\n").writerows(csv.reader(source, delimiter=sign, strict=True))
