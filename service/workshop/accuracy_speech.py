"""How well a profile hears the speech level: rows, joined replies, stressed rows."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from schemas import verdict
from service.workshop.accuracy_measures import Binary, Confusion, Share, binary
from service.workshop.accuracy_sets import Labelled
from service.workshop.accuracy_stress import STRESSES, Change
from service.workshop.instruments import NONE, UNCLEAR
from service.workshop.instruments import Level as Heard

POLITE: Final = verdict.Level.POLITE.value
PLAIN: Final = verdict.Level.PLAIN.value
MIXED: Final = verdict.Observed.MIXED.value
OLD: Final = verdict.Observed.OLD.value
ANSWERS: Final = (POLITE, PLAIN, MIXED, OLD, UNCLEAR, NONE)
JOINED: Final = 3_000
# The rows that are stressed: one style of each level, sentence marks in both.
_STRESSED: Final = {POLITE: "smile.formal", PLAIN: "smile.informal"}
_ENDED: Final = (".", "?", "!", "~", "…")

Error = dict[str, Any]


class Stressed(NamedTuple):
    """The share of rows that are still heard right under a stress, by level; None where it has none."""

    name: str
    polite: Share | None
    plain: Share | None


class Speech(NamedTuple):
    """What one profile heard.

    `level` tells polite from plain, 섞임 taken as polite; `old` is 하오체 among all rows; `joined` is 섞임 among joined
    and whole rows; `false_mixed` is the share of whole rows of a level that are called 섞임; `unclear` those left open.
    """

    confusion: Confusion
    level: Binary
    old: Binary
    joined: Binary
    false_mixed: dict[str, Share]
    unclear: dict[str, Share]
    by_source: dict[str, Share]
    stressed: tuple[Stressed, ...]


def measure_speech(rows: tuple[Labelled, ...], heard: Heard, seed: int, errors: list[Error]) -> Speech:
    """Measure one profile; every error goes to `errors` with its text."""
    confusion: Confusion = Counter()
    sources: dict[str, list[int]] = {}
    for row in rows:
        answer = heard(row.text)
        confusion[row.label, answer] += 1
        right = is_right(row.label, answer)
        counts = sources.setdefault(row.source, [0, 0])
        counts[0] += right
        counts[1] += 1
        if not right:
            errors.append(
                {"part": "speech", "source": row.source, "label": row.label, "heard": answer, "text": row.text}
            )
    asked = Counter({key: count for key, count in confusion.items() if key[0] in _STRESSED})
    totals = {label: sum(count for (truth, _), count in asked.items() if truth == label) for label in _STRESSED}
    false_mixed = {label: Share(asked[label, MIXED], total) for label, total in totals.items()}
    return Speech(
        confusion,
        binary(asked, POLITE, frozenset((POLITE, MIXED))),
        binary(confusion, OLD, frozenset((OLD,))),
        _measure_joined(rows, heard, seed, sum(share.part for share in false_mixed.values()), errors),
        false_mixed,
        {label: Share(asked[label, UNCLEAR] + asked[label, NONE], total) for label, total in totals.items()},
        {source: Share(right, whole) for source, (right, whole) in sources.items()},
        tuple(_measure_stresses(rows, heard, errors)),
    )


def is_right(label: str, answer: str) -> bool:
    """Tell whether an answer is right: a plain row may be left open, it must not be called polite or mixed."""
    return answer not in (POLITE, MIXED) if label == PLAIN else answer == label


def joined(rows: tuple[Labelled, ...], seed: int) -> Iterator[str]:
    """Yield replies of one polite and one plain row, in either order, drawn by a seed."""
    draw = random.Random(seed)  # noqa: S311 - a sample to be drawn again, no secret
    polite, plain = ([row.text for row in rows if row.label == label] for label in (POLITE, PLAIN))
    if polite and plain:
        for _ in range(JOINED):
            pair = [draw.choice(polite).strip(), draw.choice(plain).strip()]
            draw.shuffle(pair)
            yield f"{pair[0]} {pair[1]}" if pair[0].endswith(_ENDED) else f"{pair[0]}. {pair[1]}"


def _measure_joined(
    rows: tuple[Labelled, ...], heard: Heard, seed: int, false_mixed: int, errors: list[Error]
) -> Binary:
    found = missed = 0
    for text in joined(rows, seed):
        answer = heard(text)
        if answer == MIXED:
            found += 1
        else:
            missed += 1
            errors.append({"part": "joined", "label": MIXED, "heard": answer, "text": text})
    return Binary(found, false_mixed, missed)


def _measure_stresses(rows: tuple[Labelled, ...], heard: Heard, errors: list[Error]) -> Iterator[Stressed]:
    by_label = {label: [row.text for row in rows if row.source == source] for label, source in _STRESSED.items()}
    for stress in STRESSES:
        shares = []
        for label, change in ((POLITE, stress.polite), (PLAIN, stress.plain)):
            shares.append(
                None if change is None else _stress(stress.name, label, by_label[label], change, heard, errors)
            )
        yield Stressed(stress.name, *shares)


def _stress(name: str, label: str, texts: list[str], change: Change, heard: Heard, errors: list[Error]) -> Share:
    """Return the share of changed rows that are heard right; a row that the change leaves alone does not count."""
    right = whole = 0
    for text in texts:
        changed = change(text)
        if changed == text:
            continue
        whole += 1
        answer = heard(changed)
        if is_right(label, answer):
            right += 1
        else:
            errors.append({"part": "stress", "stress": name, "label": label, "heard": answer, "text": changed})
    return Share(right, whole)
