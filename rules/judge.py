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


class Judged(NamedTuple):
    """A verdict with all fifteen keys, and the codes of its hedge."""

    record: VerdictRecord
    codes: tuple[HedgeCode, ...]


def judge(turn: Turn, card: CardFacts, lexicon: Lexicon, ear: Ear, namings: Namings, position: Position) -> Judged:
    """Judge a turn against its card (design sections 3 and 4).

    `namings` are the elements of the turn's session; `position` says which of them the turn sees.
    """
    reading = read(turn, card, lexicon, ear, namings, position)
    columns: dict[str, Any] = {}
    decided: tuple[Check[Any], Any] | None = None
    for check in CHECKS:
        finding = check.find(reading)
        columns.update(check.columns(finding))
        if decided is None and finding.holds:
            decided = check, finding
    if decided is None:
        person = compares_person(reading)
        verdict, evidence, summary = VerdictWord.KEPT, kept.evidence(reading, person), kept.summary(reading, person)
    else:
        check, finding = decided
        verdict, evidence, summary = check.verdict, check.evidence(reading, finding), check.summary(reading, finding)
    found = list(hedges(reading, ear))
    record: VerdictRecord = {
        "turn_id": turn.turn_id,
        "session_id": turn.session_id,
        "character_id": turn.character_id,
        "model_id": turn.model_id,
        "verdict": verdict.value,
        "rule_expected": columns["rule_expected"],
        "rule_observed": columns["rule_observed"],
        "off_canon_entities": columns["off_canon_entities"],
        "touched_term": columns["touched_term"],
        "touched_topic": columns["touched_topic"],
        "recall_target": columns.get("recall_target"),
        "recall_source_turn": columns.get("recall_source_turn"),
        "evidence": evidence,
        "summary": summary,
        "hedge": " ".join(hedge.sentence for hedge in found) if found else None,
    }
    return Judged(record, tuple(hedge.code for hedge in found))
