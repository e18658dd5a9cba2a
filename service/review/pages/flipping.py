"""What would flip, as it is shown."""

from typing import Final, NamedTuple

from service.evaluate.agreement import BROKEN, FIXED
from service.review.pages.faces import Face, face
from service.review.pages.links import turn_href
from service.review.patching.flips import Flips

# The words of the page have keys `flip_NAME`.
KINDS: Final = {FIXED: "fixed", BROKEN: "broken"}
MOVED: Final = "moved"


class Side(NamedTuple):
    """A verdict before or after; `verdict` is None of a turn that is not judged."""

    face: Face
    verdict: str | None


class Flipped(NamedTuple):
    """A turn whose verdict would flip."""

    href: str
    turn_id: str
    kind: str
    before: Side
    after: Side


class Shown(NamedTuple):
    """What would flip: the counts, verdicts before and after with their number, and the first of the turns."""

    flips: Flips
    kinds: list[tuple[str, int]]
    moves: list[tuple[Side, Side, int]]
    turns: list[Flipped]


def shown(flips: Flips) -> Shown:
    """Return what would flip as it is shown."""
    kinds = [(KINDS.get(kind, MOVED), count) for kind, count in flips.kinds.items()]
    moves = [(_side(before), _side(after), count) for (before, after), count in flips.moves.items()]
    turns = [
        Flipped(
            turn_href(each.session_id, each.turn_id),
            each.turn_id,
            KINDS.get(each.kind, MOVED),
            _side(each.before),
            _side(each.after),
        )
        for each in flips.shown
    ]
    return Shown(flips, kinds, moves, turns)


def _side(verdict: str | None) -> Side:
    return Side(face(verdict), verdict)
