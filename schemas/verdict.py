"""The verdict: one of five words for a turn, with the cells it rests on."""

from enum import StrEnum
from typing import Final, Literal, TypedDict

from pydantic import BaseModel, Field

from schemas.card import CharacterCard
from schemas.fields import WIRE
from schemas.lexicon import TopicLexiconRow
from schemas.turn import ChatTurn


class VerdictWord(StrEnum):
    """The five verdicts, the same strings on the wire, on screen and in metric labels (design section 1)."""

    KEPT = "설정대로 말함"
    SPEECH_BROKEN = "말투 어긋남"
    OFF_CANON = "세계관 밖 고유명사"
    FORBIDDEN = "금지 소재 접촉"
    FORGOT = "앞 회차를 기억 못 함"


class Level(StrEnum):
    """The two speech levels a card can ask for."""

    PLAIN = "반말"
    POLITE = "존댓말"


class Observed(StrEnum):
    """What is heard besides under `extended`; both break no schema, since `rule_observed` is free text."""

    MIXED = "섞임"
    OLD = "하오체"


CellValue = str | float | bool | None


class EvidenceRow(BaseModel):
    """One cited cell: a column of one of the three tables, and its value to the letter."""

    model_config = WIRE

    source: Literal["chat_turn", "character_card", "topic_lexicon"]
    field: str
    agg: Literal["count", "sum", "avg", "min", "max"] | None = None
    value: CellValue


class Verdict(BaseModel):
    """The output schema of spec 000, key by key."""

    model_config = WIRE

    turn_id: str
    session_id: str
    character_id: str
    model_id: str
    verdict: Literal["설정대로 말함", "말투 어긋남", "세계관 밖 고유명사", "금지 소재 접촉", "앞 회차를 기억 못 함"]
    rule_expected: str | None = Field(default=None, description="카드가 정한 말투와 1인칭을 붙여 적은 값")
    rule_observed: str | None = Field(
        default=None,
        description="reply_text 의 종결 어미에서 규칙이 직접 뽑은 말투와 로그의 1인칭을 붙여 적은 값",
    )
    off_canon_entities: list[str] | None = Field(
        default=None, description="named_entities 가운데 canon_entities 에 없는 이름"
    )
    touched_term: str | None = Field(default=None, description="reply_text 에 그대로 들어 있는 topic_lexicon.term")
    touched_topic: str | None = Field(
        default=None, description="touched_term 이 속한 topic 가운데 그 카드의 forbidden_topics 와 겹친 값"
    )
    recall_target: str | None = Field(
        default=None,
        description="유저가 관계어로 물은 대상의 카드 이름 가운데 같은 session_id 앞 회차에 나왔는데 이번 답장에 없는 이름",
    )
    recall_source_turn: str | None = Field(default=None, description="recall_target 이 처음 나온 회차의 turn_id")
    evidence: list[EvidenceRow]
    summary: str
    hedge: str | None = None


class EvidenceCell(TypedDict):
    """An evidence row as rules write it: without `agg`."""

    source: str
    field: str
    value: str | bool | None


class VerdictRecord(TypedDict):
    """A verdict as rules write it: all fifteen keys, in the schema's order."""

    turn_id: str
    session_id: str
    character_id: str
    model_id: str
    verdict: str
    rule_expected: str | None
    rule_observed: str | None
    off_canon_entities: list[str] | None
    touched_term: str | None
    touched_topic: str | None
    recall_target: str | None
    recall_source_turn: str | None
    evidence: list[EvidenceCell]
    summary: str
    hedge: str | None


VERDICT_KEYS: Final = tuple(Verdict.model_fields)
IDENTITY_KEYS: Final = ("turn_id", "session_id", "character_id", "model_id")
COLUMNS: Final = {
    "chat_turn": frozenset(ChatTurn.model_fields),
    "character_card": frozenset(CharacterCard.model_fields),
    "topic_lexicon": frozenset(field.alias or name for name, field in TopicLexiconRow.model_fields.items()),
}
