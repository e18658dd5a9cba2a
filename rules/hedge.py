"""What a verdict did not or could not compare, sentence by sentence (design section 4)."""

from collections.abc import Iterator
from typing import NamedTuple

from rules.reading import Reading
from rules.text import Ear, is_blank
from rules.wording import QUOTE_LIMIT, quote
from schemas import hedge as sentences
from schemas.hedge import HedgeCode
from schemas.nfc import nfc


class Hedge(NamedTuple):
    """One finding: its code and its sentence."""

    code: HedgeCode
    sentence: str


def hedges(reading: Reading, ear: Ear) -> Iterator[Hedge]:
    """Yield the findings in the order of `HedgeCode`."""
    turn, level = reading.turn, reading.speech.level
    if turn.named_entities is None:
        rest_compared = level is not None and not turn.user_asked_recall
        yield Hedge(HedgeCode.NAMES_NULL, sentences.NAMES_NULL_ONLY if rest_compared else sentences.NAMES_NULL)
    if reading.reply is None:
        yield Hedge(HedgeCode.NO_REPLY, sentences.NO_REPLY_RECALL if turn.user_asked_recall else sentences.NO_REPLY)
    if reading.first_person is None or reading.card.first_person is None:
        yield Hedge(HedgeCode.FIRST_PERSON_NULL, _first_person_null(reading))
    if reading.reply is not None:
        yield from _speech(reading, reading.reply, ear)
    if not reading.card.canon:
        yield Hedge(HedgeCode.NO_CANON, sentences.NO_CANON)
    if turn.user_asked_recall:
        yield from _recall(reading)


def _first_person_null(reading: Reading) -> str:
    if reading.first_person is not None:
        return sentences.FIRST_PERSON_NULL_CARD
    if reading.card.first_person is not None:
        return sentences.FIRST_PERSON_NULL_TURN
    return sentences.FIRST_PERSON_NULL_BOTH


def _speech(reading: Reading, reply: str, ear: Ear) -> Iterator[Hedge]:
    speech, logged = reading.speech, reading.turn.honorific_level
    level = speech.level
    if level is None:
        yield Hedge(HedgeCode.LEVEL_UNKNOWN, sentences.LEVEL_UNKNOWN)
    elif logged is not None and logged != level and not is_blank(logged) and nfc(logged) != level:
        shown = quote(logged)[1:-1]
        yield Hedge(HedgeCode.LEVEL_DIFFERS, sentences.LEVEL_DIFFERS.format(logged=shown, level=level))
    if speech.polite and speech.plain:
        sentence = sentences.MIXED_LEVELS.format(polite=speech.polite, plain=speech.plain)
        yield Hedge(HedgeCode.MIXED_LEVELS, sentence)
    if speech.suspect and (word := ear.honorific_word(reply)) is not None:
        yield Hedge(HedgeCode.HONORIFIC_FORM, sentences.HONORIFIC_FORM.format(word=_tail(word)))


def _tail(word: str) -> str:
    # The form stands at the end of the word, so a word too long to show keeps its end.
    return word if len(word) <= QUOTE_LIMIT else "…" + word[-QUOTE_LIMIT:]


def _recall(reading: Reading) -> Iterator[Hedge]:
    if reading.turn.user_message is None:
        yield Hedge(HedgeCode.RECALL_NO_MESSAGE, sentences.RECALL_NO_MESSAGE)
    if reading.asked is None:
        return
    if not reading.asked:
        yield Hedge(HedgeCode.RECALL_NO_ROLE, sentences.RECALL_NO_ROLE)
    unnamed = list(
        {asked.role.entity_folded: asked.role.entity for asked in reading.asked if asked.source is None}.values()
    )
    if unnamed:
        sentence = sentences.RECALL_NOT_NAMED if len(unnamed) == 1 else sentences.RECALL_NOT_NAMED_MORE
        shown = quote(unnamed[0])[1:-1]
        yield Hedge(HedgeCode.RECALL_NOT_NAMED, sentence.format(name=shown, more=len(unnamed) - 1))
    if len(reading.asked) > 1 and (pair := _overlap(reading)) is not None:
        first, second = (quote(role)[1:-1] for role in pair)
        yield Hedge(HedgeCode.ROLES_OVERLAP, sentences.ROLES_OVERLAP.format(first=first, second=second))


def _overlap(reading: Reading) -> tuple[str, str] | None:
    message = nfc(reading.turn.user_message or "")
    roles = list({asked.role.role_folded: asked.role.role for asked in reading.asked or ()}.items())
    for index, (first, first_shown) in enumerate(roles):
        for second, second_shown in roles[index + 1 :]:
            if _meet(message, first, second):
                return first_shown, second_shown
    return None


def _meet(message: str, first: str, second: str) -> bool:
    """Tell whether an occurrence of one role meets one of the other, in one walk through the message."""
    here, there = message.find(first), message.find(second)
    while here >= 0 and there >= 0:
        if here + len(first) <= there:
            here = message.find(first, here + 1)
        elif there + len(second) <= here:
            there = message.find(second, there + 1)
        else:
            return True
    return False
