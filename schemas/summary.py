"""The summary of a verdict: one polite sentence, and who wrote it."""

from enum import StrEnum
from typing import Literal, TypedDict

from pydantic import BaseModel, Field

from schemas.fields import WIRE, NonBlank


class Author(StrEnum):
    """Who wrote a summary: the rule that gave the verdict, or a language model."""

    RULE = "rule"
    MODEL = "model"


class TurnSummary(BaseModel):
    """A record of `turn-summaries` (design section 6): all seven keys, in this order."""

    model_config = WIRE

    verdict_id: str | None = Field(description="머리글에 적힌 판정의 verdict_id, 파일에서는 null")
    turn_id: str
    session_id: str
    summary: NonBlank
    by: Literal["rule", "model"] = Field(description="요약을 쓴 쪽: 규칙이면 rule, 언어 모델이면 model")
    model: str | None = Field(description="요약을 쓴 모델의 이름, 규칙이 썼으면 null")
    reason: str | None = Field(description="규칙의 문장이 남은 까닭, 모델이 썼으면 null")


class SummaryRecord(TypedDict):
    """A summary as the narrator writes it: all seven keys, in the schema's order."""

    verdict_id: str | None
    turn_id: str
    session_id: str
    summary: str
    by: str
    model: str | None
    reason: str | None
