"""From answers to a card: what was decided about names, what would flip by it, the file of it, and its publishing."""

from typing import Any, Final

import orjson
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from service.digest import digest
from service.errors import OperatorError
from service.review.clock import now_ms
from service.review.pages import flipping
from service.review.pages.access import Right
from service.review.pages.desk import Desk, field
from service.review.pages.links import href, number
from service.review.pages.sheets import attachment
from service.review.patching.cards import lines
from service.review.patching.flips import flips
from service.review.patching.proposals import ForCard, for_cards, sides_of_patch
from service.review.patching.publishing import CardMoved, NothingToUndo, publish, undo
from service.review.store import publications
from service.review.store.opening import reading
from service.review.store.publications import Publication, PublicationBusy, PublicationState

_FILE: Final = "card-patch.jsonl"


def listing(desk: Desk, request: Request, form: FormData) -> Response:
    """Show what was decided about names by character, and what was published."""
    return listing_with(desk, request, None)


def listing_with(
    desk: Desk, request: Request, problem: str | None, status: int = 200, detail: str | None = None
) -> Response:
    """Show it with what went wrong, as the key of its words, and what the brokers said to it."""
    with reading(desk.engine) as connection:
        decided = for_cards(connection, desk.bench.caps)
        published = publications.publications(connection)
    return desk.view.page(
        request,
        "patches.html",
        "review",
        status,
        decided=[_shown(each) for each in decided],
        has_file=any(each.patch and each.patch.names for each in decided),
        published=[_published(desk, each) for each in published],
        may_publish=desk.kafka is not None,
        problem=problem,
        detail=detail if request.state.person.may(Right.ADMINISTER) else None,
    )


def preview(desk: Desk, request: Request, form: FormData) -> Response:
    """Show which verdicts would flip by a character's patch, and offer to publish it."""
    bench, character = desk.bench, request.query_params.get("character", "")
    with reading(desk.engine) as connection:
        found = next((each for each in for_cards(connection, bench.caps) if each.character_id == character), None)
        if found is None or found.patch is None or not found.patch.names:
            raise HTTPException(404)
        sides = sides_of_patch(connection, found.patch, bench)
        flipped = flips(connection, [character], sides, bench.caps)
    return desk.view.page(
        request,
        "patch.html",
        "review",
        decided=_shown(found),
        flips=flipping.shown(flipped),
        profile=found.patch.after.profile or bench.profiles[0].name,
        expected=digest(found.patch.after),
        may_publish=desk.kafka is not None,
    )


def file(desk: Desk, request: Request, form: FormData) -> Response:
    """Hand out the patched cards, whole, as JSON Lines."""
    with reading(desk.engine) as connection:
        found = for_cards(connection, desk.bench.caps)
    cards = [each.patch.after for each in found if each.patch and each.patch.names]
    if not cards:
        raise HTTPException(404)
    return Response(lines(cards), media_type="application/x-ndjson", headers=attachment(_FILE))


def send(desk: Desk, request: Request, form: FormData) -> Response:
    """Publish a character's patched card, if it is the one that was previewed."""
    character, person = field(form, "character"), request.state.person.name
    if desk.kafka is None:
        return listing_with(desk, request, "patch_no_brokers", 409)
    with reading(desk.engine) as connection:
        found = next((each for each in for_cards(connection, desk.bench.caps) if each.character_id == character), None)
    if found is None or found.patch is None or digest(found.patch.after) != field(form, "expected"):
        return listing_with(desk, request, "patch_changed", 409)
    made_from = {"names": found.patch.names, "samples": found.samples, "answered_by": found.who}
    try:
        publish(desk.engine, desk.kafka, found.patch, made_from, person)
    except OperatorError as error:
        return _refused(desk, request, error)
    return RedirectResponse("/review/cards", 303)


def take_back(desk: Desk, request: Request, form: FormData) -> Response:
    """Publish the card that was there before: of one's own publication, or as an administrator of anybody's."""
    person, at = request.state.person, number(field(form, "publication"))
    if desk.kafka is None:
        return listing_with(desk, request, "patch_no_brokers", 409)
    with reading(desk.engine) as connection:
        found = publications.publication(connection, at)
    if found is None:
        raise HTTPException(404)
    if not person.owns(found.who):
        raise HTTPException(403)
    try:
        undo(desk.engine, desk.kafka, at, person.name)
    except OperatorError as error:
        return _refused(desk, request, error)
    return RedirectResponse("/review/cards", 303)


def _refused(desk: Desk, request: Request, error: OperatorError) -> Response:
    known = {PublicationBusy: "patch_busy", CardMoved: "patch_moved", NothingToUndo: "patch_undone_already"}
    key = known.get(type(error))
    if key is None:
        return listing_with(desk, request, "patch_brokers", 502, str(error))
    return listing_with(desk, request, key, 409)


def _shown(each: ForCard) -> dict[str, Any]:
    names = each.patch.names if each.patch else ()
    return {
        "character": each.character_id,
        "has_card": each.patch is not None,
        "names": names,
        "there": tuple(name for name in each.added if each.patch and name not in names),
        "added": each.added,
        "blocked": each.blocked,
        "split": each.split,
        "who": ", ".join(each.who),
        "href": href("/review/cards/preview", {"character": each.character_id}) if names else None,
    }


def _published(desk: Desk, each: Publication) -> dict[str, Any]:
    made_from = orjson.loads(each.made_from)
    broken_off_ms = now_ms() - publications.BROKEN_OFF_AFTER_MS
    under_way = each.state in (PublicationState.SENDING, PublicationState.UNDOING)
    is_broken = under_way and (each.ended_ms or each.at_ms) < broken_off_ms
    return {
        "id": each.id,
        "character": each.character_id,
        "names": made_from["names"],
        "answered_by": ", ".join(made_from["answered_by"]),
        "when": desk.zone.time(each.at_ms),
        "who": each.who,
        "state": "broken" if is_broken else each.state.value,
        "ended": desk.zone.time(each.ended_ms) if each.state is PublicationState.UNDONE else None,
        "ended_by": each.ended_by or "",
        "may_undo": is_broken or each.state in (PublicationState.SENT, PublicationState.FAILED),
    }
