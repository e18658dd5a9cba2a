"""JSON Lines: UTF-8, one record a line (design section 2)."""

from collections.abc import Iterator
from typing import BinaryIO, Final

_BOM: Final = b"\xef\xbb\xbf"
# Room for a byte order mark, a line end, and one byte that shows the record is over its cap.
_MARGIN: Final = 6


def lines(file: BinaryIO, max_record_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield every line that is not blank with its number, from 1, without its end.

    A byte order mark at the file's start is passed over. Of a line over the cap only so much is kept that it is seen to
    be over it, so memory does not depend on the file.
    """
    limit = max_record_bytes + _MARGIN
    readline = file.readline
    number = 0
    while line := readline(limit):
        number += 1
        if number == 1 and line.startswith(_BOM):
            line = line[len(_BOM) :]
        if len(line) > max_record_bytes + 2 and not line.endswith(b"\n"):
            while (rest := readline(limit)) and not rest.endswith(b"\n"):
                pass
            yield number, line
        elif not line.isspace() and line:
            yield number, line.rstrip(b"\r\n")
