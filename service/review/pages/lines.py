"""Rows of the list: the reason, the turn and one line of each."""

import json
from functools import partial
from typing import Final, NamedTuple

from schemas.verdict import VerdictWord
from service.review.pages.faces import Face, face
from service.review.pages.links import Form, turn_href
from service.review.pages.turns import parsed
from service.review.store.queries import Row
from service.review.words import said

_MOST_NAMES: Final = 2


class Line(NamedTuple):
    """A row of the list; `verdict` is None of a turn that was not judged."""

    href: str
    face: Face
    verdict: str | None
    why: str
    turn_id: str
    summary: str
    flag: str
    session_id: str


def line(row: Row, form: Form, language: str) -> Line:
    """Return a row of the list; its address leads back to the list it stands in."""
    t = partial(said, language)
    href = turn_href(row.session_id, row.turn_id, form)
    if row.verdict is None:
        flag = t("row_failed", why=t(f"refused_{row.reason}"))
        why = t(f"refused_{row.reason}")
        return Line(href, face(None), None, why, row.turn_id, t(f"refused_{row.reason}_long"), flag, row.session_id)
    flag = ""
    if row.codes:
        first, *others = row.codes
        flag = f"○ {t(f'skipped_{first}')}" + (f" +{len(others)}" if others else "")
    return Line(href, face(row.verdict), row.verdict, _why(row), row.turn_id, row.summary or "", flag, row.session_id)


def _why(row: Row) -> str:
    """Return the label of a row's reason: what was touched, named, heard or forgotten; else the verdict's word."""
    record = parsed(row.record) if row.verdict in (VerdictWord.SPEECH_BROKEN, VerdictWord.FORGOT) else {}
    found: str | None = None
    if row.verdict == VerdictWord.FORBIDDEN:
        found = row.touched_topic
    elif row.verdict == VerdictWord.OFF_CANON:
        names = json.loads(row.off_canon) if row.off_canon else []
        found = " · ".join(names[:_MOST_NAMES]) + (f" +{len(names) - _MOST_NAMES}" if len(names) > _MOST_NAMES else "")
    elif row.verdict == VerdictWord.SPEECH_BROKEN:
        found = record.get("rule_observed")
    elif row.verdict == VerdictWord.FORGOT:
        found = record.get("recall_target")
    return found or str(row.verdict)
