"""The summary: models on shared prompts, characters and topics over time, the worst first (issue 8, item 6).

Everything comes from counts that are kept with the rows, but for the prompts, which are read from an index of theirs.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from schemas.verdict import VerdictWord
from service.evaluate.report.showing import shown
from service.evaluate.report.value import Estimate, Kind
from service.evaluate.statistics import holm, mcnemar, share
from service.review.clock import now_ms
from service.review.pages.desk import Desk
from service.review.pages.faces import FACES
from service.review.pages.links import Form, list_href, summary_href
from service.review.pages.plots import Plot, Span, Whisker, gathered, plot, spans, top_of, whisker
from service.review.pages.times import Zone, day_of, written
from service.review.store import days, prompts
from service.review.store.days import Count, Period
from service.review.store.opening import reading
from service.review.store.queries import GROUPS, REFUSED

_DAYS: Final = 28
# Characters are ranked among those with the most mismatched turns.
_RANKED: Final = 300
_LISTED: Final = 30
_PLOTTED: Final = 6
_LONGEST: Final = 200


class Asked(NamedTuple):
    """What the form asks: days and a character, as text; empty where nothing is asked."""

    since: str
    until: str
    character: str


class Drawn(NamedTuple):
    """A plot under its name; `href` leads to the turns."""

    name: str
    href: str
    share: Estimate
    plot: Plot


class Model(NamedTuple):
    """A model on the prompts all of them answered."""

    name: str
    share: Estimate
    whisker: Whisker | None


class Pair(NamedTuple):
    """Two models: the prompts only the first did not keep to the card at, those only the second, and the test."""

    first: str
    second: str
    only_first: int
    only_second: int
    p_value: str


class Ranked(NamedTuple):
    """A character: its share of mismatched turns, and its turns by verdict."""

    name: str
    href: str
    share: Estimate
    words: list[int]
    refused: int


def show(desk: Desk, request: Request, form: FormData) -> Response:
    """Show the summary of a period: of the newest 28 days that have turns where none is asked for."""
    query = request.query_params
    asked = Asked(*(query.get(name, "").strip()[:_LONGEST] for name in Asked._fields))
    if "" in query.values():
        return RedirectResponse(summary_href(asked._asdict()), 303)
    with reading(desk.engine) as connection:
        period, known = _period(connection, asked, desk.zone)
        values: dict[str, Any] = {} if period is None else _values(connection, period, asked)
        compared = _models(connection, asked.character or None)
    return desk.view.page(
        request,
        "summary.html",
        "summary",
        asked=asked,
        period=None if period is None else (written(period.first), written(period.last)),
        faces=[(word, FACES[word]) for word in GROUPS if word not in (VerdictWord.KEPT, REFUSED)],
        all_href=None if known is None else summary_href(_all(asked, known)),
        own_href=summary_href({"character": asked.character}),
        values=values,
        compared=compared,
    )


def _period(connection: Connection, asked: Asked, zone: Zone) -> tuple[Period | None, tuple[int, int] | None]:
    """Return the days that are asked for, and all that have turns."""
    first, last = (day_of(text) if text else None for text in (asked.since, asked.until))
    if (asked.since and first is None) or (asked.until and last is None):
        raise HTTPException(400)
    character = asked.character or None
    # A day after tomorrow is a clock that went wrong somewhere, and no reason to show nothing of today.
    known = days.extent(connection, character, zone.today(now_ms()) + 1)
    if first is None and last is None and known is None:
        return None, None
    begins, ends = known or (first or last or 0, last or first or 0)
    last = ends if last is None else last
    first = max(begins, last - _DAYS + 1) if first is None else first
    return (Period(first, last, character) if first <= last else None), known


def _all(asked: Asked, known: tuple[int, int]) -> dict[str, str]:
    return {"since": written(known[0]), "until": written(known[1]), "character": asked.character}


def _values(connection: Connection, period: Period, asked: Asked) -> dict[str, Any]:
    over, by_day = spans(period.first, period.last), days.of_days(connection, period)
    total = days.total(connection, period)
    ranked = _ranked(connection, period)
    names = [each.name for each in ranked[:_PLOTTED]]
    of_names = days.of_characters(connection, period, names) if len(ranked) > 1 else {}
    characters = {name: gathered(of_names[name], over) for name in names if name in of_names}
    topics = {
        topic: gathered({day: Count(count.of, found.get(day, 0)) for day, count in by_day.items()}, over)
        for topic, found in list(days.of_topics(connection, period).items())[:_PLOTTED]
    }
    whole = gathered(by_day, over)
    top = top_of([share_of(count) for counts in characters.values() for count in counts])
    whole_top = top_of([share_of(count) for count in whole])
    topic_top = top_of([share_of(count) for counts in topics.values() for count in counts])
    return {
        "total": total,
        "share": share(total.mismatched, total.judged),
        "whole": _drawn("", list_href(Form(character=asked.character)), whole, over, whole_top),
        "whole_top": whole_top,
        "top": top,
        "ranked": ranked,
        "characters": [
            _drawn(name, list_href(Form(character=name)), counts, over, top) for name, counts in characters.items()
        ],
        "topic_top": topic_top,
        "topics": [
            _drawn(topic, list_href(Form(character=asked.character, topic=topic)), counts, over, topic_top)
            for topic, counts in topics.items()
        ],
        "spans": [(span, place) for place, span in enumerate(over) if whole[place].of],
    }


def share_of(count: Count) -> float:
    """Return a share as a number, 0 of nothing."""
    return count.hits / count.of if count.of else 0.0


def _drawn(name: str, href: str, counts: Sequence[Count], over: Sequence[Span], top: float) -> Drawn:
    whole = share(sum(count.hits for count in counts), sum(count.of for count in counts))
    return Drawn(name, href, whole, plot(counts, over, top))


def _ranked(connection: Connection, period: Period) -> list[Ranked]:
    """Return the characters, the worst first: by the lower end of the interval, so that few turns weigh little."""
    found = [
        Ranked(
            name,
            list_href(Form(character=name)),
            share(count.hits, count.of),
            [words.get(word, 0) for word in GROUPS if word not in (VerdictWord.KEPT, REFUSED)],
            words.get("", 0),
        )
        for name, count, words in days.by_character(connection, period, _RANKED)
    ]
    found.sort(key=lambda one: (-(one.share.low or 0.0), -(one.share.value or 0.0), one.name))
    return found[:_LISTED]


def _models(connection: Connection, character: str | None) -> dict[str, Any] | None:
    """Compare the models that most shared prompts have in common."""
    answered = prompts.answered(connection, character)
    models = prompts.models_of(answered)
    if not models:
        return None
    found = prompts.shared(answered, models)
    shares = [share(hits, found.prompts) for hits in found.mismatched]
    top = top_of([each.high or 0.0 for each in shares])
    tests = holm([mcnemar(*only) for only in found.only.values()])
    pairs = [
        Pair(models[first], models[second], *only, shown(p_value, Kind.P_VALUE))
        for ((first, second), only), p_value in zip(found.only.items(), tests, strict=True)
    ]
    rows = [Model(name, each, whisker(each, top)) for name, each in zip(models, shares, strict=True)]
    rows.sort(key=lambda one: -(one.share.value or 0.0))
    return {
        "models": rows,
        "pairs": pairs,
        "prompts": found.prompts,
        "partly": found.partly,
        "unjudged": found.unjudged,
        "top": top,
    }
