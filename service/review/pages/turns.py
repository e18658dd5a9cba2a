"""A turn opened: what was said with the places marked, what the verdict rests on, and the session around it."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson
from sqlalchemy import Connection

from schemas.summary import Author
from service.review.pages.expectations import told
from service.review.pages.faces import Face, face
from service.review.pages.links import Form, list_href, turn_href, why_href
from service.review.pages.marking import (
    Kind,
    Mark,
    Piece,
    endings,
    kind_of,
    message_marks,
    occurrences,
    pieces,
    reply_marks,
)
from service.review.pages.times import Zone
from service.review.store import choosing, queries
from service.review.store.queries import ModelSummary, Row

_AROUND: Final = 3


class Said(NamedTuple):
    """What was said in a turn, each text cut at its marks; None where a text is missing."""

    message: list[Piece] | None
    reply: list[Piece] | None
    kinds: list[Kind]


class Neighbour(NamedTuple):
    """A turn of the session around the one that is open."""

    turn_id: str
    is_here: bool
    href: str
    face: Face
    label: str | None
    said: Said


class Opened(NamedTuple):
    """What the template shows of an opened turn: its row, its verdict (empty where refused) and what was said.

    `queues` are the review queues it can be sent to from here.
    """

    row: Row
    record: Mapping[str, Any]
    evidence: list[tuple[Mapping[str, Any], Kind | None]]
    detail: str
    said: Said | None
    face: Face
    time: str | None
    own_href: str
    why_href: str
    session_href: str
    told: ModelSummary | None
    codes: list[str]
    recall_href: str | None
    around: list[Neighbour]
    history: list[tuple[str, str]]
    is_page: bool
    queues: list[str]


def parsed(text: str | None) -> dict[str, Any]:
    """Return a record of the database as a mapping, empty where there is none."""
    value = orjson.loads(text) if text else {}
    return value if isinstance(value, dict) else {}


def said_in(turn: Mapping[str, Any], record: Mapping[str, Any], target: object = None) -> Said:
    """Return what was said in a turn, marked by its verdict; `target` is a name that a later turn was asked for."""
    message, reply = turn.get("user_message"), turn.get("reply_text")
    asked = message_marks(record, message) if isinstance(message, str) else []
    touched: list[Mark] = []
    if isinstance(reply, str):
        touched += reply_marks(record, reply) if record else endings(reply)
        touched += occurrences(Kind.TARGET, target, reply)
    found = {mark.kind for mark in (*asked, *touched)}
    return Said(
        pieces(message, asked) if isinstance(message, str) else None,
        pieces(reply, touched) if isinstance(reply, str) else None,
        [kind for kind in Kind if kind in found],
    )


def opened(
    connection: Connection,
    row: Row,
    form: Form,
    zone: Zone,
    language: str,
    *,
    is_page: bool,
    may_review: bool = False,
) -> Opened:
    """Read all that is shown of a turn; `form` is the list it was found in.

    `may_review` offers to send it to the review queues that it belongs to.
    """
    record, turn = parsed(row.record), parsed(row.turn)
    summary = queries.summary(connection, row.verdict_id)
    source, target = record.get("recall_source_turn"), record.get("recall_target")
    recall_href = None
    if source is not None and queries.row(connection, row.session_id, source) is not None:
        recall_href = turn_href(row.session_id, source, form)
    return Opened(
        row=row,
        record=record,
        evidence=[(cell, kind_of(cell, record)) for cell in record.get("evidence", ())],
        detail=told(language, row.detail),
        said=said_in(turn, record) if turn else None,
        face=face(row.verdict),
        time=zone.time(row.occurred_ms),
        own_href=turn_href(row.session_id, row.turn_id, form),
        why_href=why_href(row.session_id, row.turn_id, form),
        session_href=list_href(Form(session=row.session_id)),
        told=summary if summary is not None and summary.by == Author.MODEL else None,
        codes=row.codes,
        recall_href=recall_href,
        around=[
            _neighbour(each, row, form, target if each.turn_id == source else None)
            for each in queries.around(connection, row.session_id, row.turn_id, _AROUND)
        ],
        history=[
            (zone.time(each.judged_ms) or "", each.verdict or "")
            for each in queries.history(connection, row.session_id, row.turn_id)
        ],
        is_page=is_page,
        queues=[queue.value for queue in choosing.choices_of(row)] if may_review else [],
    )


def _neighbour(each: Row, here: Row, form: Form, target: object) -> Neighbour:
    href = turn_href(each.session_id, each.turn_id, form)
    said = said_in(parsed(each.turn), parsed(each.record), target)
    return Neighbour(each.turn_id, each.turn_id == here.turn_id, href, face(each.verdict), each.verdict, said)
