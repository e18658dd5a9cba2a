"""The verdict that stands when no check holds: evidence and summary of a turn that kept to its card.

Source: spec 000, order of judging; design section 4. The summary claims only what was compared.
"""

from rules.check import card_cell, speech_cells, turn_cell
from rules.reading import Reading
from rules.wording import heard, quote
from schemas.verdict import EvidenceCell


def evidence(reading: Reading, compared_person: bool) -> list[EvidenceCell]:
    """Return the rows of 설정대로 말함."""
    cells = speech_cells(reading)
    if reading.turn.named_entities is None:
        cells.append(turn_cell("named_entities", None))
    elif compared_person:
        cells.append(card_cell("first_person", reading.card.card.first_person))
    return cells


def summary(reading: Reading, compared_person: bool) -> str:
    """Return one sentence that says what was compared and found as the card has it."""
    if reading.speech.level is None:
        return _without_level(reading)
    if reading.speech.old:
        return f"{heard(reading.speech)}고 카드가 정한 {reading.card.card.honorific_rule}에 어긋난 문장은 0개입니다."
    if compared_person:
        return f"{heard(reading.speech)}고 1인칭도 카드대로 {quote(reading.turn.first_person or '')}입니다."
    return f"{heard(reading.speech)}고 카드가 정한 말투와 같습니다."


def _without_level(reading: Reading) -> str:
    names = reading.names
    if reading.reply is None:
        if not names:
            return "답장도 등장 이름도 비어 있어 카드와 견줄 수 있는 것이 없었습니다."
        return f"답장이 비어 있어 등장 이름 {len(names)}개만 견주었고 모두 카드에 있는 이름입니다."
    if not names:
        return "답장에서 말투를 뽑지 못해 금지 소재만 찾아보았고 닿은 것은 0개입니다."
    return f"답장에서 말투를 뽑지 못해 등장 이름 {len(names)}개와 금지 소재만 견주었고 벗어난 것은 0개입니다."
