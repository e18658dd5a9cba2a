"""The chat turn: one user message and one reply."""

from typing import NamedTuple

from pydantic import BaseModel

from schemas.fields import WIRE, NonBlank


class ChatTurn(BaseModel):
    """A row of `chat_turn` as it stands on the wire (design section 2)."""

    model_config = WIRE

    turn_id: NonBlank
    session_id: NonBlank
    character_id: NonBlank
    model_id: NonBlank
    user_message: str | None = None
    reply_text: str | None = None
    first_person: str | None = None
    honorific_level: str | None = None
    named_entities: list[str] | None = None
    user_asked_recall: bool | None = None
    prompt_id: str | None = None


class Turn(NamedTuple):
    """A decoded turn: the same columns as `ChatTurn`, values as they came."""

    turn_id: str
    session_id: str
    character_id: str
    model_id: str
    user_message: str | None = None
    reply_text: str | None = None
    first_person: str | None = None
    honorific_level: str | None = None
    named_entities: list[str] | None = None
    user_asked_recall: bool | None = None
    prompt_id: str | None = None
