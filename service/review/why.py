"""Why a row of the page has its verdict: worked out again from what the database keeps of it, for 왜?.

The card and lexicon are those that the verdict names by digest, the earlier names those of the session's rows. What
comes out is shown only where it is the verdict that stands; where it is not, the reason says so.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final

import orjson
from sqlalchemy import Connection, select

from rules.earlier import additions
from schemas.card import Card
from schemas.element import Namings, Position
from schemas.lexicon import Entry
from schemas.turn import Turn
from service.decode import Caps, decode_turn
from service.files.judging import WHOLE_FILE, earliest_namings
from service.profiles import AnyProfile
from service.review.bench import Bench
from service.review.store import reference
from service.review.store.keeping import kept
from service.review.store.tables import TURN_ROWS
from service.snapshot import Snapshot, snapshot
from service.step import DeadLetter, store
from service.working.explained import Explained, explained

_TOLD_BY_TEXT: Final = ("summary", "hedge")


class Unexplained(StrEnum):
    """Why a verdict cannot be worked out again.

    `no_verdict`: the row is none, or a refusal; `no_card`, `no_lexicon`: what it was judged by is not kept;
    `other_profile`: it was judged by other tables; `differs`: rules changed, or earlier turns are not kept.
    """

    NO_VERDICT = "no_verdict"
    NO_CARD = "no_card"
    NO_LEXICON = "no_lexicon"
    OTHER_PROFILE = "other_profile"
    DIFFERS = "differs"


def why(connection: Connection, row_id: int, bench: Bench) -> Explained | Unexplained:
    """Explain the verdict of a row, by its id."""
    row = connection.execute(select(TURN_ROWS).where(TURN_ROWS.c.id == row_id)).first()
    if row is None or row.record is None or row.turn is None:
        return Unexplained.NO_VERDICT
    caps = bench.caps
    card = reference.card(connection, row.card_digest, caps)
    entries = reference.lexicon(connection, row.lexicon_digest, caps)
    if card is None:
        return Unexplained.NO_CARD
    if entries is None:
        return Unexplained.NO_LEXICON
    known = _snapshot(card, entries, bench.profiles, row.profile_digest)
    if known is None:
        return Unexplained.OTHER_PROFILE
    value, is_live = row.turn.encode(), row.load_id is None
    position = Position(row.position, row.occurred_ms or 0, bench.ttl_ms) if is_live else WHOLE_FILE
    turn = decode_turn(value, caps)
    sessions: dict[str, Namings] = {}
    if isinstance(turn, Turn) and turn.user_asked_recall:
        earlier = _earlier(connection, turn.session_id, is_live=is_live)
        sessions = _arrived(earlier, position, caps) if is_live else _whole(earlier, caps)
    answer = explained(value, position, sessions, known, caps)
    if isinstance(answer, DeadLetter) or not _is_same(answer.verdict, orjson.loads(row.record)):
        return Unexplained.DIFFERS
    return answer


def _snapshot(
    card: Card, entries: list[Entry], profiles: tuple[AnyProfile, ...], profile_digest: str | None
) -> Snapshot | None:
    """Return what a verdict was judged by, under the profile whose digest it names."""
    for default in profiles:
        others = tuple(profile for profile in profiles if profile is not default)
        known = snapshot([card], entries, default, *others)
        if known.book.desks[known.characters[card.character_id].profile].digest == profile_digest:
            return known
    return None


def _earlier(connection: Connection, session_id: str, *, is_live: bool) -> list[Any]:
    load = TURN_ROWS.c.load_id.is_(None) if is_live else TURN_ROWS.c.load_id.is_not(None)
    columns = (TURN_ROWS.c.turn, TURN_ROWS.c.position, TURN_ROWS.c.occurred_ms)
    of_session = select(*columns).where(TURN_ROWS.c.session_id == kept(session_id), load)
    return list(connection.execute(of_session.order_by(TURN_ROWS.c.position, TURN_ROWS.c.id)))


def _arrived(rows: Iterable[Any], position: Position, caps: Caps) -> dict[str, Namings]:
    """Return the elements that the rows before a position added, as the worker keeps them."""
    sessions: dict[str, Namings] = {}
    for row in rows:
        turn = decode_turn(row.turn.encode(), caps)
        if isinstance(turn, Turn) and row.position < position.offset:
            here = Position(row.position, row.occurred_ms or 0, position.ttl_ms)
            store(sessions, additions(turn, sessions.get(turn.session_id, {}), here))
    return sessions


def _whole(rows: Iterable[Any], caps: Caps) -> dict[str, Namings]:
    return earliest_namings(((row.position, row.turn.encode()) for row in rows), caps)


def _is_same(again: dict[str, Any], record: dict[str, Any]) -> bool:
    """Tell whether two verdicts say the same, whatever words they put it in."""
    return all(again[name] == record.get(name) for name in again if name not in _TOLD_BY_TEXT)
