"""Judge one turn: run the checks in order, stamp evidence, summary and hedge on the first that holds."""

from typing import Any, NamedTuple

from rules import kept
from rules.card import CardFacts
from rules.catalogue import CHECKS
from rules.check import Check
from rules.checks.speech_level import compares_person
from rules.hedge import hedges
from rules.lexicon import Lexicon
from rules.reading import read
from rules.text import Ear
from schemas.element import Namings, Position
from schemas.hedge import HedgeCode
from schemas.turn import Turn
from schemas.verdict import VerdictRecord, VerdictWord

_KEPT = VerdictWord.KEPT.value


class Judged(NamedTuple):
    """A verdict with all fifteen keys, and the codes of its hedge."""

    record: VerdictRecord
    codes: tuple[HedgeCode, ...]


def judge(turn: Turn, card: CardFacts, lexicon: Lexicon, ear: Ear, namings: Namings, position: Position) -> Judged:
    """Judge a turn against its card (design sections 3 and 4).

    `namings` are the elements of the turn's session; `position` says which of them the turn sees.
    """
    reading = read(turn, card, lexicon, ear, namings, position)
    record: VerdictRecord = {
        "turn_id": turn.turn_id,
        "session_id": turn.session_id,
        "character_id": turn.character_id,
        "model_id": turn.model_id,
        "verdict": _KEPT,
        "rule_expected": None,
        "rule_observed": None,
        "off_canon_entities": None,
        "touched_term": None,
        "touched_topic": None,
        "recall_target": None,
        "recall_source_turn": None,
        "evidence": [],
        "summary": "",
        "hedge": None,
    }
    decided: tuple[Check[Any], Any] | None = None
    for check in CHECKS:
        finding = check.find(reading)
        if finding is None:
            continue
        record.update(check.columns(finding))  # type: ignore[typeddict-item]
        if decided is None and finding.holds:
            decided = check, finding
    if decided is None:
        person = compares_person(reading)
        record["evidence"], record["summary"] = kept.evidence(reading, person), kept.summary(reading, person)
    else:
        check, finding = decided
        record["verdict"] = check.verdict
        record["evidence"], record["summary"] = check.evidence(reading, finding), check.summary(reading, finding)
    found = list(hedges(reading, ear))
    if not found:
        return Judged(record, ())
    codes, sentences = zip(*found, strict=True)
    record["hedge"] = " ".join(sentences)
    return Judged(record, codes)
