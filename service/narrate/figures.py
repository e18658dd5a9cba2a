"""What a run of the narrator did, in one line."""

from collections import Counter
from enum import StrEnum
from typing import NamedTuple

from schemas.summary import Author
from service.narrate.telling import Told


class PassedOver(StrEnum):
    """Why a record of the verdicts' topic has no summary."""

    NOT_A_VERDICT = "not_a_verdict"
    NO_VERDICT_ID = "no_verdict_id"
    CANARY = "canary"


class Figures(NamedTuple):
    """What a run did: summaries by author, those by the rule by reason, records that were passed over."""

    by: Counter[Author]
    reasons: Counter[str]
    passed_over: Counter[PassedOver]

    def add(self, told: Told) -> None:
        """Count a summary."""
        self.by[told.by] += 1
        if told.reason is not None:
            self.reasons[told.reason] += 1

    def __str__(self) -> str:
        """Say it in one line."""
        by_rule = f"{self.by[Author.RULE]:,} by the rule"
        if self.reasons:
            by_rule += " (" + ", ".join(f"{count:,} {reason}" for reason, count in self.reasons.most_common()) + ")"
        line = f"{self.by.total():,} summaries: {self.by[Author.MODEL]:,} by the model, {by_rule}"
        if self.passed_over:
            passed = ", ".join(f"{count:,} {reason}" for reason, count in self.passed_over.most_common())
            line += f"; {self.passed_over.total():,} records passed over ({passed})"
        return line


def no_figures() -> Figures:
    """Return figures of nothing."""
    return Figures(Counter(), Counter(), Counter())
