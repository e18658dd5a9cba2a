"""A sample as it stands: how it was drawn, what was answered, and what that comes to."""

from typing import Any, Final

from sqlalchemy import Connection
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from service.metrics import ReviewQueue
from service.review.pages.desk import Desk
from service.review.pages.findings import findings
from service.review.pages.links import sample_href
from service.review.pages.queues import QUEUES, Queue, item_href, listed, sample_of
from service.review.pages.times import Zone
from service.review.pages.view import language_of
from service.review.store import decisions, names, samples
from service.review.store.decisions import Decision
from service.review.store.opening import reading
from service.review.store.samples import Item, Sample

# Of fewer items in common, agreement says little, and that is said.
_FEW: Final = 20


def show(desk: Desk, request: Request, form: FormData) -> Response:
    """Show a sample: how it was drawn, what was answered, and what that comes to; with `again`, drawn once more."""
    person, language = request.state.person, language_of(request)
    with reading(desk.engine) as connection:
        sample = sample_of(connection, request.query_params.get("sample", ""))
        queue, items = QUEUES[sample.queue], samples.items(connection, sample.id)
        given = decisions.in_force(connection, sample.id)
        same = _is_same(connection, sample, items) if "again" in request.query_params and not sample.by_hand else None
        listed_one = listed(connection, sample, person.name, desk.zone, language)
    seen = {each.id: decisions.visible(given.get(each.id, []), sample, person.name) for each in items}
    own = any(each.reviewer == person.name for answers in given.values() for each in answers)
    open_one = sample.closed_ms is None
    return desk.view.page(
        request,
        "sample.html",
        "review",
        sample=sample,
        listed=listed_one,
        rows=[_row(desk.zone, queue, each, seen[each.id]) for each in items],
        findings=findings(sample, [each for each in items if each.there], given, seen),
        same=same,
        outcome=queue.outcome,
        few=_FEW,
        done="done" in request.query_params and not listed_one.mine,
        next_href=item_href(queue, sample.id) if open_one and listed_one.mine else None,
        again_href=sample_href(sample.id, again="1"),
        may_undo=open_one and own,
        may_close=open_one and person.owns(sample.who),
        closed=desk.zone.time(sample.closed_ms),
    )


def _row(zone: Zone, queue: Queue, item: Item, seen: list[Decision]) -> dict[str, Any]:
    named = names.name_of(item.key).name if queue.name is ReviewQueue.OFF_CANON_NAMES else item.turn_id
    about = " · ".join(part for part in (item.character_id, named) if part is not None) or item.key
    chosen = (item.chosen_by, zone.time(item.chosen_ms)) if item.chosen_by is not None else None
    answers = [(each.reviewer, f"answer_{each.answer}", each.note, zone.time(each.at_ms)) for each in seen]
    href = item_href(queue, item.sample_id, item.number)
    return {
        "number": item.number,
        "href": href,
        "about": about,
        "there": item.there,
        "answers": answers,
        "chosen": chosen,
    }


def _is_same(connection: Connection, sample: Sample, items: list[Item]) -> bool:
    found = QUEUES[sample.queue].candidates(connection, sample.filters, sample.last_row)
    again, _ = samples.picked(found, sample.seed, sample.size)
    return [(each.key, each.verdict_id) for each in again] == [(each.key, each.verdict_id) for each in items]
