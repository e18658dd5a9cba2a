"""Judge one turn: run the checks in order, stamp evidence, summary and hedge on the first that holds."""

from typing import Any, NamedTuple

from rules import kept
from rules.card import CardFacts
from rules.catalogue import CHECKS
from rules.check import Check
from rules.checks.speech_level import compares_person
from rules.hedge import hedges
from rules.reading import Reader
from schemas.element import Namings, Position
from schemas.hedge import HedgeCode
from schemas.turn import Turn
from schemas.verdict import VerdictRecord, VerdictWord
from schemas.witness import Witnesses

_KEPT = VerdictWord.KEPT.value


class Judged(NamedTuple):
    """A verdict with all fifteen keys, the codes of its hedge, and what the reading rests on."""

    record: VerdictRecord
    codes: tuple[HedgeCode, ...]
    witnesses: Witnesses | None


def judge(turn: Turn, card: CardFacts, reader: Reader, namings: Namings, position: Position) -> Judged:
    """Judge a turn against its card (design sections 3 and 4).

    `card` was made ready by the profile's `reader`, which also reads the turn; all behind the reading is the same for
    all profiles. `namings` are the elements of the turn's session, `position` says which of them the turn sees.
    """
    reading = reader.read(turn, card, namings, position)
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
    found = list(hedges(reading))
    if not found:
        return Judged(record, (), reading.witnesses)
    codes, sentences = zip(*found, strict=True)
    record["hedge"] = " ".join(sentences)
    return Judged(record, codes, reading.witnesses)
