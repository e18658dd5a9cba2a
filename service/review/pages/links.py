"""Addresses: filters as a query and back, a turn's own page, a page of a list."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from starlette.exceptions import HTTPException

from service.review.pages.times import Zone, day_of
from service.review.store.queries import GROUPS, Filters

_LONGEST: Final = 200


class Form(NamedTuple):
    """The filters as the form has them: text, empty where nothing is asked."""

    character: str = ""
    model: str = ""
    session: str = ""
    topic: str = ""
    since: str = ""
    until: str = ""
    verdict: str = ""
    hedged: str = ""
    search: str = ""


def form_of(query: Mapping[str, str]) -> Form:
    """Return what a query asks for, cut at 200 characters a field; what the form does not know is passed over."""
    return Form(**{name: query.get(name, "").strip()[:_LONGEST] for name in Form._fields})


def filters_of(form: Form, zone: Zone) -> Filters:
    """Return the filters of a form.

    Raises:
        HTTPException: a day that is none, or a verdict that is none; 400.
    """
    since, until = day_of(form.since), day_of(form.until)
    wrong_day = (form.since and since is None) or (form.until and until is None)
    if wrong_day or (form.verdict and form.verdict not in GROUPS):
        raise HTTPException(400)
    return Filters(
        character=form.character or None,
        model=form.model or None,
        session=form.session or None,
        topic=form.topic or None,
        since_ms=None if since is None else zone.begins_ms(since),
        until_ms=None if until is None else zone.begins_ms(until + 1),
        verdict=form.verdict or None,
        hedge=bool(form.hedged),
        search=form.search or None,
    )


def list_href(form: Form, before: object = None, **changed: str) -> str:
    """Return the address of a list; only what is asked stands in it."""
    return href("/", {**form._replace(**changed)._asdict(), "before": before})


def export_href(form: Form, before: object = None) -> str:
    """Return the address at which a list is exported."""
    return href("/export", {**form._asdict(), "before": before})


def events_href(form: Form, seen: str) -> str:
    """Return the address at which what comes into a list is told."""
    return href("/events", {**form._asdict(), "seen": seen})


def summary_href(asked: Mapping[str, str]) -> str:
    """Return the address of the summary; only what is asked stands in it."""
    return href("/summary", asked)


def accesses_href(asked: Mapping[str, str], before: object = None) -> str:
    """Return the address of the access log, or of a page of it."""
    return href("/accesses", {**asked, "before": before})


def turn_href(session_id: str, turn_id: str, form: Form = Form()) -> str:  # noqa: B008 - it is a value
    """Return the address of a turn, with the list it was found in."""
    return href("/turn", _named(session_id, turn_id, form))


def why_href(session_id: str, turn_id: str, form: Form) -> str:
    """Return the address of why a turn has its verdict."""
    return href("/why", _named(session_id, turn_id, form))


def list_of(query: Mapping[str, str]) -> Form:
    """Return the list that a turn's address leads back to."""
    return form_of({**query, "session": query.get("in", "")})


def sample_href(sample_id: int, **more: str) -> str:
    """Return the address of a sample."""
    return href("/review/sample", {"sample": sample_id, **more})


def before_of(query: Mapping[str, str]) -> int | None:
    """Return the key that an address names a page of a list by.

    Raises:
        HTTPException: it is none; 400.
    """
    return number(query["before"]) if "before" in query else None


def number(text: str) -> int:
    """Return a number of an address.

    Raises:
        HTTPException: it is none; 400.
    """
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise HTTPException(400)
    return int(text)


def _named(session_id: str, turn_id: str, form: Form) -> dict[str, str]:
    asked = {name: value for name, value in form._asdict().items() if name != "session"}
    return {"session": session_id, "turn": turn_id, **asked, "in": form.session}


def href(path: str, values: Mapping[str, Any]) -> str:
    """Return an address; only what is asked stands in it."""
    query = urlencode({name: value for name, value in values.items() if value not in (None, "")})
    return f"{path}?{query}" if query else path
