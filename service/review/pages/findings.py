"""What the answers of a sample come to: how many of each, the precision so far, and how far two reviewers agree."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from service.evaluate.report.value import Estimate
from service.evaluate.statistics import Resampling, kappa, share
from service.metrics import ReviewQueue
from service.review.store.decisions import ANSWERS, Decision
from service.review.store.samples import Item, Sample

# The answers that say the judge was right, and that it was wrong; the rest says neither.
_RIGHT: Final = {ReviewQueue.FORBIDDEN_TOPICS: ("yes", "no")}


class Agreement(NamedTuple):
    """How far two reviewers agree on the items both answered without having seen the other's answer."""

    first: str
    second: str
    same: Estimate
    kappa: Estimate


class Findings(NamedTuple):
    """What was found: items by answer, those whose answers split, and the share of right among right and wrong."""

    counts: list[tuple[str, int]]
    split: int
    precision: Estimate | None
    agreements: list[Agreement]


def findings(
    sample: Sample,
    items: Sequence[Item],
    given: Mapping[int, list[Decision]],
    seen: Mapping[int, list[Decision]],
) -> Findings:
    """Return what the answers come to; figures rest on what the reader may see, agreement on items that are done.

    What was chosen by hand stands for nothing but itself: it has neither a precision nor an agreement.
    """
    by_item = [{each.answer for each in seen[item.id]} for item in items]
    counted = Counter(next(iter(answers)) for answers in by_item if len(answers) == 1)
    precision = None
    if sample.queue in _RIGHT and not sample.by_hand:
        right, wrong = (counted[answer] for answer in _RIGHT[sample.queue])
        precision = share(right, right + wrong)
    done = [given[item.id] for item in items if len(given.get(item.id, ())) >= sample.reviewers]
    words = ANSWERS[sample.queue]
    return Findings(
        [(answer, counted[answer]) for answer in words],
        sum(len(answers) > 1 for answers in by_item),
        precision,
        [] if sample.by_hand else agreements(done, words),
    )


def agreements(done: Sequence[Sequence[Decision]], words: tuple[str, ...]) -> list[Agreement]:
    """Return the agreement of every two reviewers, over items that both answered blind."""
    pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for answers in done:
        if len(answers) == 2 and all(each.blind for each in answers):
            first, second = sorted(answers, key=lambda each: each.reviewer)
            pairs.setdefault((first.reviewer, second.reviewer), []).append((first.answer, second.answer))
    return [_agreement(*names, both, words) for names, both in sorted(pairs.items())]


def _agreement(first: str, second: str, both: list[tuple[str, str]], words: tuple[str, ...]) -> Agreement:
    counted = Counter(both)
    counts = [[counted[row, column] for column in words] for row in words]
    same = sum(counted[word, word] for word in words)
    return Agreement(first, second, share(same, len(both)), kappa(counts, Resampling()))
