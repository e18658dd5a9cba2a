"""Tell a verdict in a sentence: a model's, where it gives one that may be taken, and else the rule's."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

import orjson

from rules.profile import SEED
from rules.verify.narration import Flaw, Refused, accept
from rules.verify.text import Hearing
from schemas.summary import Author, SummaryRecord
from schemas.validate import TURN_SUMMARY, VERDICT
from schemas.verdict import VERDICT_KEYS, VerdictWord
from service.decode import Malformed, parse
from service.llm.asking import Failed, Trouble
from service.llm.client import Client
from service.narrate.prompt import question

_HEARING: Final = Hearing(SEED)


class Unasked(StrEnum):
    """Why no model was asked; the values are reasons on the wire and labels of metrics."""

    SKIPPED = "skipped"
    TOO_LONG = "too_long"


REASONS: Final = (
    *(trouble.value for trouble in Trouble),
    *(flaw.value for flaw in Flaw),
    *(why.value for why in Unasked),
)


def read_verdict(value: bytes | None) -> dict[str, Any] | None:
    """Return a published verdict with all fifteen keys; None for whatever is none."""
    try:
        row = parse(value or b"")
    except Malformed:
        return None
    if not VERDICT.is_valid(row) or not row["summary"].strip():
        return None
    return {**dict.fromkeys(VERDICT_KEYS), **row}


class Told(NamedTuple):
    """A summary as its record, by whom, and why not by a model."""

    value: bytes
    by: Author
    reason: str | None


class Narrator:
    """Tells verdicts by a client; thread-safe as the client is. With `skip_kept` 설정대로 말함 is left to the rule."""

    def __init__(self, client: Client, *, skip_kept: bool = False) -> None:
        """Take an open client."""
        self._client = client
        self._skip_kept = skip_kept

    def tell(self, record: Mapping[str, Any], verdict_id: str | None) -> Told:
        """Return the summary of a verdict with all fifteen keys; never raises for what the endpoint does."""
        if self._skip_kept and record["verdict"] == VerdictWord.KEPT:
            return _told(record, verdict_id, None, Unasked.SKIPPED)
        ask = question(record)
        if ask is None:
            return _told(record, verdict_id, None, Unasked.TOO_LONG)
        answer = self._client.ask(ask)
        if isinstance(answer, Failed):
            return _told(record, verdict_id, None, answer.trouble)
        summary = accept(record, answer.content, _HEARING)
        if isinstance(summary, Refused):
            return _told(record, verdict_id, None, summary.flaw)
        return _told({**record, "summary": summary}, verdict_id, answer.model, None)


def _told(record: Mapping[str, Any], verdict_id: str | None, model: str | None, why: StrEnum | None) -> Told:
    by = Author.RULE if model is None else Author.MODEL
    reason = None if why is None else why.value
    row: SummaryRecord = {
        "verdict_id": verdict_id,
        "turn_id": record["turn_id"],
        "session_id": record["session_id"],
        "summary": record["summary"],
        "by": by.value,
        "model": model,
        "reason": reason,
    }
    assert TURN_SUMMARY.is_valid(row), "a summary fits its schema"
    return Told(orjson.dumps(row), by, reason)
