"""The topic lexicon: terms, each under a topic, in an order that decides ties."""

from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from schemas.fields import WIRE, NonBlank


class TopicLexiconRow(BaseModel):
    """A row of `topic_lexicon` as it stands on the wire (design section 2)."""

    model_config = ConfigDict(**WIRE, populate_by_name=True)

    term: NonBlank
    topic: NonBlank
    position: int
    mode: Literal["word", "any"] | None = None
    except_: list[NonBlank] | None = Field(default=None, alias="except")


class Entry(NamedTuple):
    """A decoded lexicon row, values as they came."""

    term: str
    topic: str
    position: int
    mode: str | None = None
    except_: tuple[str, ...] | None = None
