"""Which verdicts of the page's turns would flip by a change of cards or profile: step 4's what-if, over the database.

Both sides are judged now, by the worker's own step. Looked at are whole sessions, newest first, until there are 10,000
turns; earlier turns are those of the session in natural order of ids (design section 12).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from sqlalchemy import Connection

from schemas.refusal import Refusal
from service.decode import Caps
from service.evaluate.changing import kind
from service.evaluate.judging import judged_turns
from service.files.judging import Order
from service.files.readers import RawRow, Refused, TurnFile
from service.review.store import turns as turns_of
from service.snapshot import Snapshot

MOST_TURNS: Final = 10_000
_SHOWN: Final = 50


class Flip(NamedTuple):
    """A turn whose verdict would flip; `kind` is what-if's word for it, a verdict is None where there is none."""

    session_id: str
    turn_id: str
    kind: str
    before: str | None
    after: str | None


class Flips(NamedTuple):
    """What would flip.

    `turns` were judged on both sides and `flipped` of them flip; `kinds` and `moves` (before, after) count them,
    `shown` are the first 50. `other` turns are listed with another verdict than the side before has now: they were
    judged by other cards, words or rules. `bounded` tells that there are more turns than were looked at.
    """

    turns: int
    flipped: int
    kinds: dict[str, int]
    moves: dict[tuple[str | None, str | None], int]
    shown: tuple[Flip, ...]
    other: int
    bounded: bool


def flips(
    connection: Connection,
    characters: Sequence[str],
    sides: tuple[Snapshot, Snapshot],
    caps: Caps,
    most: int = MOST_TURNS,
) -> Flips:
    """Judge the turns of some characters by both sides, and say which verdicts flip."""
    found = turns_of.of_characters(connection, characters, most)
    rows = [(place, each.turn.encode()) for place, each in enumerate(found.turns)]
    kinds, moves = Counter[str](), Counter[tuple[str | None, str | None]]()
    shown: list[Flip] = []
    turns = other = 0
    of_page = TurnFile("page", lambda: iter(rows))
    for pair in judged_turns(of_page, sides, caps, Order.ID, _track):
        if isinstance(pair, Refused) or pair[0].identity.character_id not in characters:
            continue
        before, after = pair
        turns += 1
        listed = found.turns[before.line]
        other += listed.verdict != before.word
        if before.word != after.word:
            what = kind((before, after), None, has_gold=False)
            kinds[what] += 1
            moves[before.word, after.word] += 1
            if len(shown) < _SHOWN and not isinstance(after.record, Refusal):
                shown.append(Flip(listed.session_id, listed.turn_id, what, before.word, after.word))
    return Flips(turns, moves.total(), dict(kinds), dict(moves.most_common()), tuple(shown), other, found.bounded)


def _track(what: str, rows: Iterator[RawRow]) -> Iterator[RawRow]:
    return rows
