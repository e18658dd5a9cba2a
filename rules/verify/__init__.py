"""Check a verdict again: the ten items of spec 000, each with a mark of its own.

This is a second reading: it imports no rule; it hears endings, searches terms, orders turn ids and words hedges with
code of its own, so that a fault in a rule shows as a failed item and not as a wrong verdict (design section 5). Under
`extended` it checks what the rules rest on, place by place, and derives everything else from that (issue 5).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from rules.verify.derivation import derive
from rules.verify.grounds import CardGrounds, Grounds, card_grounds, grounds
from rules.verify.marking import ALL_PASSED, Marks, marks
from rules.verify.tables import Tables
from rules.verify.witnessed import Grounding, grounding, verify_witnessed
from schemas.element import Namings, Position
from schemas.turn import Turn

__all__ = [
    "ALL_PASSED",
    "ITEMS",
    "CardGrounds",
    "Grounding",
    "Grounds",
    "Marks",
    "Tables",
    "card_grounds",
    "grounding",
    "grounds",
    "verify",
    "verify_witnessed",
]

# What each item looks at, in the order of spec 000.
ITEMS: Final = (
    "verdict",
    "columns filled, identity",
    "speech level and first person",
    "names outside the canon",
    "touched term and topic",
    "recall",
    "null names and first persons said",
    "evidence rows",
    "evidence values",
    "summary",
)


def verify(
    record: Mapping[str, Any],
    turn: Turn,
    against: CardGrounds,
    grounds: Grounds,
    namings: Namings,
    position: Position,
    conforms: Callable[[Any], bool],
) -> Marks:
    """Return ten marks for a verdict, True where the item passes (spec 000, automatic items 1 to 10).

    `record` is the verdict as a mapping; `conforms` tells whether it fits the published schema. Never raises on a
    record of the wrong shape: the items that cannot pass do not.
    """
    again = derive(turn, against, grounds, namings, position)
    return marks(record, turn, against.expected, again, grounds.hearing, conforms)
