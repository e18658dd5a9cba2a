"""Read turns with their sessions, to judge them again."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from sqlalchemy import Connection, select

from service.review.store.keeping import kept
from service.review.store.queries import GROUPS, REFUSED
from service.review.store.tables import TURN_ROWS

_CHUNK: Final = 200


class Stored(NamedTuple):
    """A turn as JSON, and the verdict it is listed with (None: it was not judged)."""

    session_id: str
    turn_id: str
    turn: str
    verdict: str | None


class Found(NamedTuple):
    """Turns of whole sessions; `bounded` tells that some were left out."""

    turns: list[Stored]
    bounded: bool


def of_characters(connection: Connection, characters: Sequence[str], most: int) -> Found:
    """Return the sessions in which some characters spoke, newest first, until there are `most` turns."""
    newest: list[tuple[int, str]] = []
    columns = (TURN_ROWS.c.place, TURN_ROWS.c.session_id)
    for character in dict.fromkeys(kept(each) for each in characters):
        for word in GROUPS:
            # The index is within a character and a verdict, so that all of them together are the newest of each.
            verdict = None if word == REFUSED else word
            of_word = (TURN_ROWS.c.character_id == character, TURN_ROWS.c.verdict == verdict, TURN_ROWS.c.place > 0)
            statement = select(*columns).where(*of_word).order_by(TURN_ROWS.c.place.desc()).limit(most + 1)
            newest += [(one.place, one.session_id) for one in connection.execute(statement)]
    newest.sort(reverse=True)
    sessions = list(dict.fromkeys(session for _, session in newest))
    turns: list[Stored] = []
    done = 0
    while done < len(sessions) and len(turns) < most:
        turns += _of_sessions(connection, sessions[done : done + _CHUNK])
        done += _CHUNK
    return Found(turns, done < len(sessions) or len(newest) > most)


def _of_sessions(connection: Connection, sessions: Sequence[str]) -> list[Stored]:
    columns = [TURN_ROWS.c[name] for name in Stored._fields]
    here = TURN_ROWS.c.session_id.in_(sessions)
    statement = select(*columns).where(here, TURN_ROWS.c.place > 0, TURN_ROWS.c.turn.is_not(None))
    order = (TURN_ROWS.c.session_id, TURN_ROWS.c.turn_key, TURN_ROWS.c.id)
    return [Stored(*one) for one in connection.execute(statement.order_by(*order))]
