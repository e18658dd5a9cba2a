"""The canary's card and lexicon, which stand on no topic: every worker has them, and nobody else is judged by them."""

from functools import lru_cache
from typing import Final

from rules.profile import SEED
from schemas.canary import CANARY_CHARACTER
from schemas.card import Card, Role
from schemas.lexicon import Entry
from service.snapshot import Snapshot, snapshot

CANARY_TOPIC: Final = "카나리아의 금지 소재"
CANARY_CARD: Final = Card(
    CANARY_CHARACTER, "반말", "나", ("은솔", "종탑 마을"), (CANARY_TOPIC,), (Role("동생", "은솔"),)
)
CANARY_LEXICON: Final = (Entry("유황불", CANARY_TOPIC, 1),)
_DESK: Final = "canary"  # no card can ask for it: a profile is one of rules.profile's


def with_canary(known: Snapshot) -> Snapshot:
    """Return a snapshot that judges the canary, too.

    By a lexicon of its own and the seed profile, whatever was loaded and whichever profile is the default: a canary
    that comes back wrong is a fault of the judge and never one of the lexicon. The header `lexicon` of its verdicts is
    that of everybody's, nevertheless.
    """
    built = _built()
    character = built.characters[CANARY_CHARACTER]._replace(profile=_DESK)
    desks = {**known.book.desks, _DESK: built.book.desks[SEED.name]}
    return known._replace(
        characters={**known.characters, CANARY_CHARACTER: character}, book=known.book._replace(desks=desks)
    )


@lru_cache(1)
def _built() -> Snapshot:
    return snapshot([CANARY_CARD], CANARY_LEXICON, SEED)
