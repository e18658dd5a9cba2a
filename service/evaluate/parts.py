"""Parts of which the reports on verdicts are made: a verdict's texts, evidence and facts; rows that were refused."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from schemas.refusal import OURS, Refusal
from service.evaluate.judging import Judged
from service.evaluate.report.showing import shown
from service.evaluate.report.value import Column, Estimate, Fact, Gate, Kind, Mark, Table, Text, Word
from service.files.readers import Refused
from service.files.verdicts import Record

# What a turn, or a row about one, is known by.
TURN_COLUMNS: Final = (Column("turn_id", "turn_id"), Column("session_id", "세션"), Column("line", "줄", Kind.COUNT))
WHY: Final = Column("why", "까닭")
NO_VERDICT: Final = "판정 없음"
_EVIDENCE: Final = (Column("source", "source"), Column("field", "field"), Column("value", "value"))


def evidence(record: Record, key: str = "evidence", title: str = "근거") -> Table:
    """Return the evidence rows of a verdict."""
    rows = tuple((row["source"], row["field"], _value(row["value"])) for row in record["evidence"])
    return Table(key, title, _EVIDENCE, rows)


def no_verdict(refusal: Refusal) -> str:
    """Say why a turn has no verdict."""
    who = "판정기의 오류" if refusal.reason in OURS else "판정하지 못함"
    return f"{who}: {refusal.reason}: {refusal.detail}"


def summary(judged: Judged) -> str:
    """Return a verdict's summary, or say why there is none."""
    record = judged.record
    return no_verdict(record) if isinstance(record, Refusal) else str(record["summary"])


def turn_cells(judged: Judged) -> tuple[str, str, int]:
    """Return the cells of a turn under `TURN_COLUMNS`."""
    return judged.identity.turn_id, judged.identity.session_id, judged.line


def refused(rows: Iterable[Refused]) -> Table:
    """Return the table of the rows that were refused."""
    columns = (Column("file", "파일"), TURN_COLUMNS[-1], Column("reason", "까닭"), Column("detail", "기대한 것"))
    cells = tuple((row.file, row.line, row.refusal.reason, row.refusal.detail) for row in rows)
    return Table("refused", "거절된 줄", columns, cells, folded=True)


def share_gate(key: str, title: str, hits: int, of: int, holds: Callable[[float], bool], nothing: str) -> Gate:
    """Return the gate of a bar that a share is held to; of nothing it is an ERROR, with `nothing` as its message."""
    if not of:
        return Gate(key, title, Word.ERROR, nothing)
    word = Word.PASS if holds(hits / of) else Word.FAIL
    return Gate(key, title, word, shown(Estimate(hits / of, hits=hits, of=of), Kind.SHARE))


def texts(judged: Judged) -> tuple[Text, ...]:
    """Return what was said in a turn, with the touched term and the off-canon names marked in the reply."""
    record = judged.record if isinstance(judged.record, dict) else {}
    if judged.turn is not None:
        return (Text("user_message", "유저", judged.turn.user_message), _reply(judged.turn.reply_text, record))
    # Without the turns there is only what the evidence quotes; of two replies the turn's own stands last.
    quoted = [row["value"] for row in record.get("evidence", ()) if row["field"] == "reply_text"]
    return (_reply(quoted[-1], record),) if quoted else ()


def facts(judged: Judged) -> tuple[Fact, ...]:
    """Return whose turn it is, and what was expected and observed."""
    record = judged.record
    found = [
        Fact("session_id", "세션", judged.identity.session_id),
        Fact("character_id", "캐릭터", judged.identity.character_id),
        Fact("model_id", "모델", judged.identity.model_id),
    ]
    if isinstance(record, dict):
        found += [
            Fact("rule_expected", "기대", record.get("rule_expected")),
            Fact("rule_observed", "관찰", record.get("rule_observed")),
        ]
        if record.get("hedge"):
            found.append(Fact("hedge", "단서", record["hedge"]))
    return tuple(found)


def _reply(value: str | None, record: Record) -> Text:
    wanted = [(record.get("touched_term"), "사전의 말")]
    wanted += [(name, "카드 밖 이름") for name in record.get("off_canon_entities") or ()]
    marks = [mark for text, why in wanted if text and value for mark in _marks(value, text, why)]
    return Text("reply_text", "답장", value, tuple(marks))


def _marks(value: str, text: str, why: str) -> list[Mark]:
    marks = []
    start = value.find(text)
    while start >= 0:
        marks.append(Mark(start, start + len(text), why))
        start = value.find(text, start + len(text))
    return marks


def _value(value: Any) -> str | float | bool | None:
    assert value is None or isinstance(value, str | int | float | bool)
    return value
