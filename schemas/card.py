"""The character card: how a character speaks, whom it knows, what it avoids."""

from typing import Literal, NamedTuple

from pydantic import BaseModel

from schemas.fields import WIRE, NonBlank


class EntityRole(BaseModel):
    """One relation of the card: the word a user asks with, and the name it stands for."""

    model_config = WIRE

    role: NonBlank
    entity: NonBlank


class CharacterCard(BaseModel):
    """A row of `character_card` as it stands on the wire (design section 2)."""

    model_config = WIRE

    character_id: NonBlank
    honorific_rule: Literal["반말", "존댓말"]
    first_person: str | None = None
    canon_entities: list[NonBlank]
    forbidden_topics: list[NonBlank]
    entity_roles: list[EntityRole]
    profile: NonBlank | None = None


class Role(NamedTuple):
    """A decoded `EntityRole`."""

    role: str
    entity: str


class Card(NamedTuple):
    """A decoded card: the same columns as `CharacterCard`, values as they came."""

    character_id: str
    honorific_rule: str
    first_person: str | None
    canon_entities: tuple[str, ...]
    forbidden_topics: tuple[str, ...]
    entity_roles: tuple[Role, ...]
    profile: str | None = None
