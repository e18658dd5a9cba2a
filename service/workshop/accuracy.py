"""Measure the profiles on public text, and hold the figures of the test half against their bars (issue 5)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from rules.profile import EXTENDED_NAME, SEED
from schemas.profile import ExtendedProfile
from service.workshop.accuracy_sets import Half, Sets, read_sets
from service.workshop.accuracy_speech import PLAIN, POLITE, Speech, measure_speech
from service.workshop.accuracy_terms import PROPOSED, Terms, TermsMet, measure_terms
from service.workshop.instruments import extended, seed


class Lack(NamedTuple):
    """A row of the notes' table that cannot be computed here, and what it needs."""

    row: str
    needs: str


# Rows of the notes on the extended profile whose sets are not among the files.
LACKS: Final = (
    Lack("topic terms of one and of two or more syllables in chat", "chat lines whose hits were read by a person"),
    Lack("topic terms by gold morphemes", "KLUE-DP"),
    Lack("recall of the 915 terms on the other two toxic sets", "BEEP and UnSmile"),
    Lack("canon names with particles; other names swallowed; surnames merged", "KLUE-NER"),
    Lack("mention of an entity; names that are also words", "KLUE-NER and hand-read lines"),
    Lack("roles in a message (형, 딸)", "lines whose roles were read by a person"),
    Lack("hand-read precision of colloquial endings", "comments of BEEP, UnSmile and others, read by a person"),
    Lack("what each speech rule buys", "the rules one at a time; the tables are applied whole"),
    Lack("time per reading", "make bench"),
)


class Bar(NamedTuple):
    """A figure of the test half that must be reached: what, the figure, the bar in words, whether it holds."""

    what: str
    figure: float
    bar: str
    holds: bool


class Measured(NamedTuple):
    """Everything one run found; `errors` are the single cases behind the figures, with the profile's name."""

    sets: Sets
    seed: int
    speech: dict[str, Speech]
    terms: Terms | None
    bars: tuple[Bar, ...]
    errors: tuple[dict[str, Any], ...]


def measure(folder: Path, half: Half, draw: int, profile: ExtendedProfile) -> Measured:
    """Measure `seed` and `extended` on what a folder holds of one half; joined replies are drawn by the seed `draw`.

    Raises:
        OperatorError: the folder has none of the sets, or a file has another shape.
    """
    sets = read_sets(folder, half)
    errors: list[dict[str, Any]] = []
    speech = {}
    for instrument in (seed(), extended(profile)) if sets.labelled is not None else ():
        own: list[dict[str, Any]] = []
        speech[instrument.name] = measure_speech(sets.labelled or (), instrument.level, draw, own)
        errors += [{"profile": instrument.name, **error} for error in own]
    terms = measure_terms(sets, profile, errors)
    bars = tuple(_bars(speech.get(EXTENDED_NAME), terms))
    return Measured(sets, draw, speech, terms, bars, tuple(errors))


def _bars(speech: Speech | None, terms: Terms | None) -> Iterator[Bar]:
    if speech is not None:
        precision = speech.level.precision.value
        yield Bar("speech, F1 of polite", speech.level.f1, ">= .996", speech.level.f1 >= 0.996)
        yield Bar("speech, precision of polite", precision, ">= .994", precision >= 0.994)
        for label in (POLITE, PLAIN):
            share = speech.false_mixed[label].value
            yield Bar(f"false 섞임 among {label}", share, "<= .002", share <= 0.002)
        for label, least in ((POLITE, 0.97), (PLAIN, 0.98)):
            shares = [stressed.polite if label == POLITE else stressed.plain for stressed in speech.stressed]
            worst = min(share.value for share in shares if share is not None)
            yield Bar(f"the worst stress of {label}", worst, f">= {least:.2f}", worst >= least)
    if terms is not None:
        yield from _term_bars(terms.met)


def _term_bars(met: Sequence[TermsMet]) -> Iterator[Bar]:
    plain = next((each for each in met if each.written.profile == SEED.name), None)
    best = next((each for each in met if each.written.modes == PROPOSED and each.written.with_contexts), None)
    if plain is not None and best is not None:
        part = best.clean.part / plain.clean.part if plain.clean.part else 0.0
        yield Bar("915 terms, false lines beside plain substring", part, "<= .40", part <= 0.4)
        lost = plain.abusive.value - best.abusive.value
        yield Bar("915 terms, recall lost on abusive comments", lost, "<= .01", lost <= 0.01)
