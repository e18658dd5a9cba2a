"""How the live topics are followed, in the words of the page's header."""

from enum import StrEnum
from functools import partial
from typing import NamedTuple

from service.review.loading.live import State
from service.review.pages.times import Zone
from service.review.words import said


class Following(StrEnum):
    """How the following stands for a reader; the words of the page have a key for each."""

    ON = "on"
    LOST = "lost"
    BEGINNING = "beginning"


class Standing(NamedTuple):
    """What the header says: a word, and a line each about what is not read yet, the last news, and what is wrong."""

    state: Following
    word: str
    lag: str
    last: str
    problem: str


def standing(state: State, language: str, zone: Zone, *, in_full: bool) -> Standing:
    """Return how the following stands; what the brokers are and what they said is for administrators (`in_full`)."""
    t = partial(said, language)
    followed = Following.ON if state.connected else Following.LOST if state.problem else Following.BEGINNING
    lag = t("live_lag", count=state.lag) if state.lag else t("live_no_lag") if state.lag == 0 else ""
    last = t("live_last", when=zone.time(state.last_ms)) if state.last_ms is not None else t("live_no_last")
    problem = ""
    if state.problem:
        problem = t("live_problem")
        if in_full:
            problem += f" {state.problem}"
    if state.passed_over and in_full:
        last += " " + t("live_passed_over", count=state.passed_over)
    return Standing(followed, t(f"live_{followed}"), lag if state.connected else "", last, problem)
