"""Files that are taken out: rows as lines of JSON, to the letter, or as a sheet that spreadsheets open without harm."""

import csv
import io
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, Final

import orjson

from service.review.pages.times import Zone
from service.review.pages.turns import parsed
from service.review.store.queries import Row


class Sheet(StrEnum):
    """The forms of an export."""

    CSV = "csv"
    JSONL = "jsonl"


MEDIA: Final = {Sheet.CSV: "text/csv; charset=utf-8", Sheet.JSONL: "application/x-ndjson; charset=utf-8"}
# By it Excel knows that the text is UTF-8.
_BOM: Final = "\ufeff"
# A cell that begins so is taken for a formula by a spreadsheet; the full-width forms too.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_OF_ROW: Final = ("turn_id", "session_id", "character_id", "model_id", "prompt_id")
_OF_RECORD: Final = (
    "verdict", "rule_expected", "rule_observed", "off_canon_entities", "touched_term", "touched_topic",
    "recall_target", "recall_source_turn", "summary", "hedge",
)  # fmt: skip
_OF_TURN: Final = ("user_message", "reply_text", "first_person", "named_entities", "user_asked_recall")
_COLUMNS: Final = ("time", *_OF_ROW, *_OF_RECORD, "refused", "skipped", *_OF_TURN, "evidence", "verdict_id")


def csv_parts(parts: Iterable[list[Row]], zone: Zone) -> Iterator[tuple[bytes, int]]:
    """Yield a sheet in parts, each with the number of rows in it; times are of the page's time zone."""
    yield _written([_COLUMNS], _BOM), 0
    for rows in parts:
        yield _written([_cells(row, zone) for row in rows]), len(rows)


def jsonl_parts(parts: Iterable[list[Row]]) -> Iterator[tuple[bytes, int]]:
    """Yield lines of JSON in parts, each with the number of rows in it; turn and verdict stand as they came."""
    for rows in parts:
        yield b"".join(orjson.dumps(_record(row), option=orjson.OPT_APPEND_NEWLINE) for row in rows), len(rows)


def attachment(name: str) -> dict[str, str]:
    """Return the header by which an answer is kept as a file."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: one that begins like one gets an apostrophe before it."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _written(rows: Iterable[Iterable[str]], before: str = "") -> bytes:
    text = io.StringIO(before)
    text.seek(len(before))
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()


def _cells(row: Row, zone: Zone) -> list[str]:
    record, turn = parsed(row.record), parsed(row.turn)
    values = [
        zone.time(row.occurred_ms),
        *(getattr(row, name) for name in _OF_ROW),
        *(record.get(name) for name in _OF_RECORD),
        row.reason,
        row.hedge_codes,
        *(turn.get(name) for name in _OF_TURN),
        record.get("evidence"),
        row.verdict_id,
    ]
    return [harmless(_cell(value)) for value in values]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _record(row: Row) -> dict[str, Any]:
    refused = None if row.reason is None else {"reason": row.reason, "detail": row.detail}
    return {
        "turn": parsed(row.turn) or None,
        "verdict": parsed(row.record) or None,
        "refused": refused,
        "skipped": row.codes,
        "occurred_ms": row.occurred_ms,
        "judged_ms": row.judged_ms,
        "verdict_id": row.verdict_id,
        "card": row.card_digest,
        "lexicon": row.lexicon_digest,
        "profile": row.profile_digest,
    }
