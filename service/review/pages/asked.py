"""What a list, a sample or an export was asked for by, in words."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from service.review.pages.faces import FACES
from service.review.pages.times import Zone
from service.review.store.queries import REFUSED
from service.review.words import said

_KEYS: Final = {
    "character": "filter_character",
    "model": "filter_model",
    "session": "filter_session",
    "topic": "filter_topic",
    "since_ms": "filter_since",
    "until_ms": "filter_until",
    "verdict": "filter_verdict",
    "hedge": "filter_hedge",
    "search": "filter_search",
}


class Condition(NamedTuple):
    """A filter: the key of its words, what it asks for, and whether that is a verdict's word."""

    key: str
    text: str
    is_word: bool


def told(filters: Mapping[str, Any], zone: Zone, language: str) -> list[Condition]:
    """Return filters (`queries.Filters` by name) in words; those that ask nothing are left out."""
    return [
        Condition(_KEYS[name], _text(name, value, zone, language), name == "verdict" and value in FACES)
        for name, value in filters.items()
        if value not in (None, False)
    ]


def _text(name: str, value: Any, zone: Zone, language: str) -> str:
    if name.endswith("_ms"):
        # The day that somebody named as the last is within, the moment that is kept is not.
        return zone.day(value - (name == "until_ms"))
    if value is True:
        return said(language, "export_yes")
    if name == "verdict" and value == REFUSED:
        return said(language, "group_refused")
    return value or said(language, "asked_forgotten")
