"""Mixed speech: what was heard in a reply, the endings that reviewers add, what would flip, and the profile file."""

from typing import Any, Final, NamedTuple

from sqlalchemy import Connection
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from rules.profile import EXTENDED_NAME
from service.review.pages import flipping
from service.review.pages.desk import Desk, field
from service.review.pages.links import turn_href
from service.review.pages.sheets import attachment
from service.review.patching.endings import LEVELS, ending, toml_of, with_endings
from service.review.patching.flips import flips
from service.review.patching.proposals import ForProfile, for_profile, sides_of_endings
from service.review.store.opening import reading
from service.review.store.queries import Row
from service.review.why import Unexplained
from service.review.why import why as why_of

FIELDS: Final = 3
_FILE: Final = "turnjudge-words.toml"
_MOST_PIECES: Final = 100


class Heard(NamedTuple):
    """A piece of a reply: its text, its last word, and the levels that were heard in it, none where it tells none."""

    text: str
    word: str
    levels: tuple[str, ...]


class WrongEnding(ValueError):
    """An ending is not Hangul syllables, or has no level."""


def heard(connection: Connection, row: Row | None, desk: Desk) -> list[Heard] | str:
    """Return what was heard in the reply of a row, or the key of why that cannot be worked out again."""
    if row is None:
        return f"why_{Unexplained.NO_VERDICT}"
    found = why_of(connection, row.id, desk.bench)
    if isinstance(found, Unexplained):
        return f"why_{found}"
    reply = found.turn.reply_text or ""
    return [
        Heard(
            reply[slice(*piece.place)],
            reply[slice(*piece.last)],
            tuple(dict.fromkeys(each.level for each in piece.heard)),
        )
        for piece in found.working.met.speech.pieces[:_MOST_PIECES]
    ]


def endings_of(form: FormData) -> list[list[str]] | None:
    """Return the endings of a form, each its form and level; None where there is none.

    Raises:
        WrongEnding: one is none.
    """
    found: list[list[str]] = []
    for place in range(1, FIELDS + 1):
        given, level = field(form, f"ending-{place}").strip(), field(form, f"level-{place}")
        if given:
            added = ending(given, level)
            if added is None:
                raise WrongEnding
            found.append([added.form, added.level])
    return found or None


def filled(typed: FormData | None, before: Any) -> list[tuple[str, str]]:
    """Return what the fields of the endings hold: what was typed, or what was taken back."""
    if typed is not None:
        return [(field(typed, f"ending-{place}"), field(typed, f"level-{place}")) for place in range(1, FIELDS + 1)]
    known = [(form, level) for form, level in before or ()]
    return [*known, *[("", "")] * (FIELDS - len(known))]


def listing(desk: Desk, request: Request, form: FormData) -> Response:
    """Show the endings that reviewers add, and with `preview` which verdicts would flip by them."""
    bench, flipped = desk.bench, None
    with reading(desk.engine) as connection:
        found = for_profile(connection)
        characters = list(dict.fromkeys(turn[0] for each in found for turn in each.turns))
        if found and "preview" in request.query_params:
            added = [each.ending for each in found]
            sides = sides_of_endings(connection, characters, added, bench)
            flipped = flipping.shown(flips(connection, characters, sides, bench.caps))
    return desk.view.page(
        request,
        "endings.html",
        "review",
        endings=[_shown(each) for each in found],
        characters=characters,
        flips=flipped,
        default=bench.profiles[0].name,
        extended=EXTENDED_NAME,
        text=toml_of(with_endings(bench.words, [each.ending for each in found])) if found else "",
        levels=LEVELS,
    )


def file(desk: Desk, request: Request, form: FormData) -> Response:
    """Hand out the profile file."""
    with reading(desk.engine) as connection:
        found = for_profile(connection)
    if not found:
        raise HTTPException(404)
    text = toml_of(with_endings(desk.bench.words, [each.ending for each in found]))
    return Response(text, media_type="application/toml", headers=attachment(_FILE))


def _shown(each: ForProfile) -> dict[str, Any]:
    turns = [(turn_href(session, turn), turn) for _, session, turn in each.turns]
    return {"form": each.ending.form, "level": each.ending.level, "who": ", ".join(each.who), "turns": turns}
