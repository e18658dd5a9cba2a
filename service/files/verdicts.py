"""Read verdicts as `judge` writes them, a JSON object a line."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from schemas.refusal import Reason, Refusal
from service.decode import Caps, parsed
from service.files.judging import Track
from service.files.lines import lines
from service.files.readers import RawRow

Record = dict[str, Any]


def verdict_rows(file: BinaryIO, caps: Caps, track: Track, what: str) -> Iterator[tuple[int, Record | Refusal]]:
    """Yield every line with its object, or why it has none; whether that is a verdict is not asked.

    `what` is said of the rows as they go through `track`.
    """
    # A verdict quotes its turn and the source turn, escaped (design section 6: the outputs fit the caps).
    most_bytes = 6 * caps.max_record_bytes + 64 * 1024
    rows: Iterator[RawRow] = lines(file, most_bytes)
    for line, value in track(what, rows):
        record = value if isinstance(value, Refusal) else parsed(value, most_bytes)
        if not isinstance(record, dict | Refusal):
            record = Refusal(Reason.SCHEMA_INVALID, "row: expected object")
        yield line, record
