"""The column that is always in sight: the ten checks with their counts, the self-grading, the notes."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson
from sqlalchemy import Connection
from starlette.requests import Request

from rules.verify import ITEMS
from service.review.notes import AUTOMATIC, BOUNDARY, MANUAL
from service.review.pages.desk import Desk
from service.review.pages.times import Zone
from service.review.pages.view import language_of
from service.review.store import evaluations, queries
from service.review.store.evaluations import Evaluation

ENOUGH_TURNS: Final = 120
_FAILED: Final = re.compile(r"failed ((?:\d+(?:, )?)+)$")


class Check(NamedTuple):
    """One of the ten checks: how many verdicts passed it, and how many did not."""

    number: int
    passed: int
    failed: int


class Grading(NamedTuple):
    """What an evaluation found, as it is shown."""

    share: float
    low: float
    high: float
    hits: int
    of: int
    gold: int
    few: bool
    when: str | None
    who: str


class Beside(NamedTuple):
    """What stands beside every list and turn."""

    judged: int
    failing: int
    checks: list[Check]
    grading: Grading | None
    automatic: tuple[str, ...]
    manual: tuple[str, ...]
    boundary: list[str]


def failed_items(detail: str | None) -> list[int]:
    """Return the items that a held-back verdict failed, as its detail names them."""
    found = _FAILED.search(detail or "")
    return [int(number) for number in found[1].split(", ")] if found else []


def checks(judged: int, held_back: Mapping[str | None, int]) -> list[Check]:
    """Return the ten checks over verdicts that passed all of them, and over those held back by their details."""
    failed: Counter[int] = Counter()
    for detail, count in held_back.items():
        for item in failed_items(detail):
            failed[item] += count
    every = judged + sum(held_back.values())
    return [Check(item, every - failed[item], failed[item]) for item in range(1, len(ITEMS) + 1)]


def figures(report: bytes | str) -> dict[str, Any] | None:
    """Return what a report of `turnjudge evaluate` says of the agreement, or None where it is no such report."""
    try:
        value = orjson.loads(report)
        agreement, gold = value["figures"]["agreement"]["value"], value["figures"]["gold_turns"]["value"]
        found = {name: agreement[name] for name in ("value", "low", "high", "hits", "of")} | {"gold": gold}
        is_report = value["form"] == 1 and value["command"] == "evaluate"
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    counts, shares = (found["hits"], found["of"], found["gold"]), (found["value"], found["low"], found["high"])
    whole = all(type(count) is int and count >= 0 for count in counts)
    within = all(type(share) in (int, float) and 0 <= share <= 1 for share in shares)
    return found if is_report and whole and within and found["hits"] <= found["of"] else None


def column(desk: Desk, request: Request, connection: Connection) -> Beside:
    """Return what stands beside a list or a turn."""
    counts, held_back = queries.counts(connection, queries.NO_FILTERS), queries.held_back(connection)
    judged = sum(count for name, count in counts.items() if name != queries.REFUSED)
    report = evaluations.newest(connection)
    found = None if report is None else _grading(report, desk.zone)
    boundary = [words.en if language_of(request) == "en" else words.ko for words in BOUNDARY]
    return Beside(judged, sum(held_back.values()), checks(judged, held_back), found, AUTOMATIC, MANUAL, boundary)


def _grading(evaluation: Evaluation, zone: Zone) -> Grading | None:
    found = figures(evaluation.report)
    if found is None:
        return None
    return Grading(
        found["value"],
        found["low"],
        found["high"],
        found["hits"],
        found["of"],
        found["gold"],
        found["of"] < ENOUGH_TURNS,
        zone.time(evaluation.at_ms),
        evaluation.who,
    )
