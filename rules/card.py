"""A card as the checks compare it: every value beside its folded form, worked out once per snapshot."""

from collections.abc import Callable
from typing import Any, NamedTuple

from rules.text import is_blank
from schemas.card import Card
from schemas.nfc import nfc


class AskedRole(NamedTuple):
    """A relation of the card: the word and the name as they came, and both folded."""

    role: str
    role_folded: str
    entity: str
    entity_folded: str


class CardFacts(NamedTuple):
    """What the checks ask of a card.

    `canon` and `forbidden` map a folded value to the value as the card has it (the first of equal ones). `words` is
    what the reader of the card's profile worked out besides, for itself alone.
    """

    card: Card
    expected: str
    first_person: str | None
    canon: dict[str, str]
    forbidden: dict[str, str]
    roles: tuple[AskedRole, ...]
    words: Any = None


def read_card(card: Card, name_key: Callable[[str], str] = nfc, role_key: Callable[[str], str] = nfc) -> CardFacts:
    """Fold a card for comparison; a blank first person counts as null (design section 2).

    Names and roles are folded as the profile compares them, everything else to NFC.
    """
    return CardFacts(
        card=card,
        expected=join_rule(card.honorific_rule, card.first_person),
        first_person=None if is_blank(card.first_person) else nfc(card.first_person or ""),
        canon=_folded(card.canon_entities, name_key),
        forbidden=_folded(card.forbidden_topics, nfc),
        roles=tuple(
            AskedRole(role.role, role_key(role.role), role.entity, name_key(role.entity)) for role in card.entity_roles
        ),
    )


def join_rule(level: str, first_person: str | None) -> str:
    """Join level and first person as `rule_expected` and `rule_observed` have them; a blank one is left out."""
    return level if is_blank(first_person) else f"{level} · {first_person}"


def _folded(values: tuple[str, ...], key: Callable[[str], str]) -> dict[str, str]:
    folded: dict[str, str] = {}
    for value in values:
        folded.setdefault(key(value), value)
    return folded
