"""A card patch: whole cards with the names that reviewers added, as JSON Lines (issue 8, item 5)."""

from collections.abc import Iterable
from typing import NamedTuple

from schemas.card import Card
from schemas.nfc import nfc
from service.records import card_record


class Patch(NamedTuple):
    """A card as it is and as it would be; `names` are the canon names that are new to it."""

    before: Card
    after: Card
    names: tuple[str, ...]

    @property
    def character_id(self) -> str:
        """Whose card it is."""
        return self.after.character_id


def patched(card: Card, names: Iterable[str]) -> Patch:
    """Put names behind a card's canon names; one that is there already, compared as judging does, is passed over."""
    known, new = {nfc(name) for name in card.canon_entities}, list[str]()
    for name in names:
        if nfc(name) not in known:
            known.add(nfc(name))
            new.append(name)
    return Patch(card, card._replace(canon_entities=(*card.canon_entities, *new)), tuple(new))


def lines(cards: Iterable[Card]) -> bytes:
    """Return cards as JSON Lines, each as its topic keeps it, so that `turnjudge load cards` takes the file."""
    return b"".join((card_record(card).value or b"") + b"\n" for card in cards)
