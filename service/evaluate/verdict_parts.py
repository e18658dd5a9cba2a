"""A verdict as a part of a report: its texts with what it rests on marked, its evidence, its facts."""

from typing import Any, Final

from schemas.refusal import OURS, Refusal
from service.evaluate.judging import Judged
from service.evaluate.report.value import Column, Fact, Mark, Table, Text
from service.files.verdicts import Record

_EVIDENCE: Final = (Column("source", "source"), Column("field", "field"), Column("value", "value"))


def evidence(record: Record, key: str = "evidence", title: str = "근거") -> Table:
    """Return the evidence rows of a verdict."""
    rows = tuple((row["source"], row["field"], _value(row["value"])) for row in record["evidence"])
    return Table(key, title, _EVIDENCE, rows)


def no_verdict(refusal: Refusal) -> str:
    """Say why a turn has no verdict."""
    who = "판정기의 오류" if refusal.reason in OURS else "판정하지 못함"
    return f"{who}: {refusal.reason}: {refusal.detail}"


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
    _, session, character, model = judged.identity
    record: dict[str, Any] = judged.record if isinstance(judged.record, dict) else {}
    found = [
        Fact("session_id", "세션", session),
        Fact("character_id", "캐릭터", character),
        Fact("model_id", "모델", model),
    ]
    if record:
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
