"""A spike: a forbidden topic that is touched in far more sessions than before, from its opening to its closing."""

from enum import StrEnum
from typing import Annotated, Final, Literal, TypedDict

from pydantic import BaseModel, Field

from schemas.fields import WIRE, NonBlank

MOST_TURNS: Final = 5

_Count = Annotated[int, Field(ge=0)]
_TimeMs = Annotated[int, Field(ge=0)]


class SpikeState(StrEnum):
    """Whether a spike goes on."""

    OPENED = "opened"
    CLOSED = "closed"


class SpikeTurn(BaseModel):
    """A turn that touched the topic."""

    model_config = WIRE

    session_id: str
    turn_id: str


class Spike(BaseModel):
    """A record of `topic-spikes` (design section 6): all fourteen keys, in this order."""

    model_config = WIRE

    spike_id: NonBlank = Field(description="급증 하나에 하나씩, 열릴 때와 닫힐 때 같은 16진수")
    state: Literal["opened", "closed"]
    topic: NonBlank
    character_id: str | None = Field(description="한 캐릭터에서만 늘었으면 그 캐릭터, 모두에서 늘었으면 null")
    opened_at: _TimeMs = Field(description="열린 때, 회차의 시각, 1970년부터 밀리초")
    at: _TimeMs = Field(description="이 기록의 때, 회차의 시각, 1970년부터 밀리초")
    window_s: Annotated[int, Field(ge=1)] = Field(description="센 동안, 초")
    observed: _Count = Field(description="그동안 소재에 닿은 세션의 수")
    exposure: _Count = Field(description="그동안 판정된 세션의 수")
    baseline_observed: _Count = Field(description="견준 동안 소재에 닿은 세션의 수")
    baseline_exposure: _Count = Field(description="견준 동안 판정된 세션의 수")
    ratio: float | None = Field(description="견준 동안의 몇 배인지, 견준 동안 하나도 없었으면 null")
    p_value: Annotated[float, Field(ge=0)] = Field(description="우연히 이만큼 늘 확률")
    turns: list[SpikeTurn] = Field(description="닿은 회차 가운데 다섯까지")


class TurnName(TypedDict):
    """What a turn is called by."""

    session_id: str
    turn_id: str


class SpikeRecord(TypedDict):
    """A spike as it is written: all fourteen keys, in the schema's order."""

    spike_id: str
    state: str
    topic: str
    character_id: str | None
    opened_at: int
    at: int
    window_s: int
    observed: int
    exposure: int
    baseline_observed: int
    baseline_exposure: int
    ratio: float | None
    p_value: float
    turns: list[TurnName]
