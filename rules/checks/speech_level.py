"""A reply in another speech level, or with another first person, than the card asks for.

What it flags: the level heard in the reply's endings differs from the card's `honorific_rule`, or both first persons
are there and differ.
Why: speech level and first person are the surest signs of who is speaking; 무뚝뚝한 교관 does not say 생각해요.
Flags: 「저는 그렇게 생각해요.」 on a card of 반말 · 나.
Passes: 「검을 잡아. 오늘은 손목부터 본다.」 on that card; a reply without a Hangul syllable, which is skipped.
Limits: under `seed` four endings decide (습니까 is not heard, 아니다 is), one polite piece makes the reply polite, and
what stands in quotes or asterisks counts as speech. Under `extended` a reply of both levels breaks either card, 하오체
breaks none, and a reply without a telling ending is skipped. `honorific_level` of the log never judges.
Source: spec 000, automatic items 3 and 7; design section 3, items 1 and 2.
"""

from typing import Any, NamedTuple

from rules.check import Check, card_cell, speech_cells, turn_cell
from rules.reading import Reading
from rules.wording import heard, quote, with_josa
from schemas.verdict import EvidenceCell, Observed, VerdictWord

# 하오체 is neither of the levels a card can ask for, and breaks neither.
_OLD = Observed.OLD.value


class Speaking(NamedTuple):
    """Expected and observed rule as they are written down, and what of them differs."""

    expected: str
    observed: str | None
    level_differs: bool
    person_differs: bool

    @property
    def holds(self) -> bool:
        """Whether level or first person differs."""
        return self.level_differs or self.person_differs


def compares_person(reading: Reading) -> bool:
    """Tell whether both first persons are compared: a level that could not be taken compares nothing."""
    return (
        reading.speech.level is not None and reading.first_person is not None and reading.card.first_person is not None
    )


def _find(reading: Reading) -> Speaking:
    card = reading.card
    level = reading.speech.level
    if level is None:
        return Speaking(card.expected, None, False, False)
    level_differs = level != card.card.honorific_rule and level != _OLD
    if reading.first_person is None:
        return Speaking(card.expected, level, level_differs, False)
    person_differs = card.first_person is not None and reading.first_person != card.first_person
    return Speaking(card.expected, f"{level} · {reading.turn.first_person}", level_differs, person_differs)


def _columns(speaking: Speaking) -> dict[str, Any]:
    return {"rule_expected": speaking.expected, "rule_observed": speaking.observed}


def _evidence(reading: Reading, speaking: Speaking) -> list[EvidenceCell]:
    cells = speech_cells(reading)
    if compares_person(reading):
        cells.append(card_cell("first_person", reading.card.card.first_person))
    if reading.turn.named_entities is None:
        cells.append(turn_cell("named_entities", None))
    return cells


def _summary(reading: Reading, speaking: Speaking) -> str:
    card = reading.card.card
    said = quote(reading.turn.first_person or "")
    if reading.speech.level == _OLD:
        asked = with_josa(quote(card.first_person or ""), "이")
        level = heard(reading.speech)
        return f"{level}고 1인칭을 {asked} 아니라 {with_josa(said, '으로')} 써 카드 규칙을 벗어났습니다."
    if not speaking.level_differs:
        asked = with_josa(quote(card.first_person or ""), "이")
        return (
            f"말투는 카드대로 {card.honorific_rule}이지만 "
            f"1인칭을 {asked} 아니라 {with_josa(said, '으로')} 써 카드 규칙을 벗어났습니다."
        )
    if not speaking.person_differs:
        return f"{heard(reading.speech)}지만 카드가 정한 말투는 {card.honorific_rule}입니다."
    return (
        f"{heard(reading.speech)}고 1인칭도 {with_josa(said, '을')} 써 "
        f"카드가 정한 {quote(speaking.expected)}에서 두 가지 모두 벗어났습니다."
    )


SPEECH_LEVEL = Check(
    name="speech_level",
    verdict=VerdictWord.SPEECH_BROKEN.value,
    find=_find,
    columns=_columns,
    evidence=_evidence,
    summary=_summary,
)
