"""What the criteria oracle reads: cases with their criteria, outputs, and answers about a logical flow (spec 001)."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from schemas.fields import WIRE, NonBlank

Group = Annotated[list[NonBlank], Field(min_length=1)]
Attempt = Annotated[int, Field(ge=1)]


class FlowStep(BaseModel):
    """One step of a logical flow; steps stand in ascending order."""

    model_config = WIRE

    step: int
    check: NonBlank


class EvaluationCriteria(BaseModel):
    """What an output is held against; a missing list is an empty one, and one of the three must not be empty."""

    model_config = WIRE

    must_include: list[Group | NonBlank] | None = Field(
        default=None, description="모두 채워야 하는 묶음. 안쪽 목록은 그중 하나면 되고, 낱말 하나는 혼자서 한 묶음이다"
    )
    must_not_include: list[NonBlank] | None = Field(default=None, description="하나라도 나오면 실패인 금지어")
    logical_flow: list[FlowStep] | None = Field(default=None, description="이 순서로 나와야 하는 논리 단계")


class OracleCase(BaseModel):
    """A row of the dataset. An entry that begins with `re:` is a regular expression (RE2 syntax)."""

    model_config = WIRE

    id: NonBlank
    evaluation_criteria: EvaluationCriteria


class OracleOutput(BaseModel):
    """What a model answered to a case. An empty string is an output, null is none; `attempt` counts from 1."""

    model_config = WIRE

    id: NonBlank
    output: str | None
    attempt: Attempt | None = None


class OracleAnswer(BaseModel):
    """An answer to one step of a flow that was given beforehand; without `attempt` it holds for every attempt."""

    model_config = ConfigDict(**WIRE, populate_by_name=True)

    id: NonBlank
    step: int
    pass_: bool = Field(alias="pass")
    quote: str | None = None
    reason: str | None = None
    attempt: Attempt | None = None
