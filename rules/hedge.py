"""What a verdict did not or could not compare, sentence by sentence (design section 4)."""

from collections.abc import Iterator
from typing import NamedTuple

from rules.reading import Reading
from rules.text import is_blank
from rules.wording import QUOTE_LIMIT, quote
from schemas import hedge as sentences
from schemas.hedge import HedgeCode
from schemas.nfc import nfc


class Hedge(NamedTuple):
    """One finding: its code and its sentence."""

    code: HedgeCode
    sentence: str


def hedges(reading: Reading) -> Iterator[Hedge]:
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
        yield from _speech(reading)
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


def _speech(reading: Reading) -> Iterator[Hedge]:
    speech, logged = reading.speech, reading.turn.honorific_level
    level = speech.level
    if level is None:
        if speech.unclear:
            yield Hedge(HedgeCode.LEVEL_UNCLEAR, sentences.LEVEL_UNCLEAR)
        else:
            yield Hedge(HedgeCode.LEVEL_UNKNOWN, sentences.LEVEL_UNKNOWN)
    elif logged is not None and logged != level and not is_blank(logged) and nfc(logged) != level:
        shown = quote(logged)[1:-1]
        yield Hedge(HedgeCode.LEVEL_DIFFERS, sentences.LEVEL_DIFFERS.format(logged=shown, level=level))
    if speech.polite and speech.plain:
        sentence = sentences.MIXED_LEVELS.format(polite=speech.polite, plain=speech.plain)
        yield Hedge(HedgeCode.MIXED_LEVELS, sentence)
    if reading.honorific is not None:
        yield Hedge(HedgeCode.HONORIFIC_FORM, sentences.HONORIFIC_FORM.format(word=_tail(reading.honorific)))
    if reading.review and (found := _review(reading)) is not None:
        yield found


def _tail(word: str) -> str:
    # The form stands at the end of the word, so a word too long to show keeps its end.
    return word if len(word) <= QUOTE_LIMIT else "…" + word[-QUOTE_LIMIT:]


def _review(reading: Reading) -> Hedge | None:
    """Name the terms of forbidden topics that may be part of another word; a term that was touched is not unsure."""
    touched = {hit.entry.term for hit in reading.hits}
    terms = list(
        dict.fromkeys(
            hit.entry.term
            for hit in reading.review
            if hit.topic_folded in reading.card.forbidden and hit.entry.term not in touched
        )
    )
    if not terms:
        return None
    sentence = sentences.TERM_REVIEW if len(terms) == 1 else sentences.TERM_REVIEW_MORE
    return Hedge(HedgeCode.TERM_REVIEW, sentence.format(term=quote(terms[0])[1:-1], more=len(terms) - 1))


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
    unsure = next((asked.role.entity for asked in reading.asked if asked.unsure and asked.source is not None), None)
    if unsure is not None:
        yield Hedge(HedgeCode.RECALL_UNSURE, sentences.RECALL_UNSURE.format(name=quote(unsure)[1:-1]))
    if reading.overlap is not None:
        first, second = (quote(role)[1:-1] for role in reading.overlap)
        yield Hedge(HedgeCode.ROLES_OVERLAP, sentences.ROLES_OVERLAP.format(first=first, second=second))
