"""Where a reading of the `extended` profile met what it rests on, in the texts as they came."""

from collections import deque
from collections.abc import Iterator

from rules.extended.fold import Folded, Folding, without_case
from rules.extended.speech import Hearing
from rules.extended.terms import TermIndex
from rules.places import Heard, NamePlaces, Piece, Places, RolePlaces, Span, occurrences
from rules.reading import Reading
from schemas.profile import Says
from schemas.verdict import Level, Observed
from schemas.witness import RoleWitness, WordWitness

_LEVELS = {
    Says.POLITE.value: Level.POLITE.value,
    Says.LEANING.value: Level.POLITE.value,
    Says.PLAIN.value: Level.PLAIN.value,
    Says.MUSING.value: Level.PLAIN.value,
    Says.OLD.value: Observed.OLD.value,
}


def placed(reading: Reading, folding: Folding, hearing: Hearing, terms: TermIndex) -> Places:
    """Put the witnesses of a reading at their places, and add what was met and did not count."""
    witnesses = reading.witnesses
    assert witnesses is not None, "this profile keeps the witnesses of every reading"
    reply = folding.fold(reading.turn.reply_text or "")
    lower = without_case(reply)
    asked = witnesses.asked or ()
    return Places(
        tuple(_pieces(reading, list(hearing.sentences(reply)), list(witnesses.words))),
        terms.places(lower),
        tuple(_names(reading, folding, lower)),
        tuple(RolePlaces(one.way, (Span(one.start, one.end),), _said(one, asked)) for one in asked),
    )


def _pieces(
    reading: Reading, sentences: list[tuple[tuple[int, int], tuple[int, int]]], words: list[WordWitness]
) -> Iterator[Piece]:
    """Yield the sentences with the words heard in them; a word outside every sentence is a piece of its own."""
    is_old = reading.speech.level == Observed.OLD.value
    left = deque(sorted((_heard(word, is_old=is_old) for word in words), key=lambda word: word.place))
    for place, last in sentences:
        while left and left[0].place.start < place[0]:
            yield _alone(left.popleft())
        inside = []
        while left and left[0].place.end <= place[1]:
            inside.append(left.popleft())
        yield Piece(Span(*place), Span(*last), tuple(inside))
    yield from map(_alone, left)


def _alone(word: Heard) -> Piece:
    return Piece(word.place, word.place, (word,))


def _heard(word: WordWitness, *, is_old: bool) -> Heard:
    """Put a witness in words; what leans to 존댓말 is 하오체 in a reply of that."""
    level = _LEVELS[Says.OLD.value if is_old and word.says == Says.LEANING.value else word.says]
    return Heard(Span(word.start, word.end), level, word.told)


def _names(reading: Reading, folding: Folding, lower: Folded) -> Iterator[NamePlaces]:
    """Yield the names in the reading's order; where they stand in the reply is searched as they are written."""
    assert reading.witnesses is not None, "as above"
    named = reading.turn.named_entities or ()
    canon = reading.card.card.canon_entities
    matched = {named[witness.place]: witness for witness in reading.witnesses.names}
    for name in (reading.names or {}).values():
        places = tuple(Span(*lower.span(*place)) for place in occurrences(lower.text, folding.key(name).strip()))
        witness = matched.get(name)
        yield NamePlaces(
            None if witness is None else canon[witness.canon], None if witness is None else witness.way, places
        )


def _said(one: RoleWitness, asked: tuple[RoleWitness, ...]) -> tuple[Span, ...]:
    """Return where the reply names the entity, or one that the same place of the message asks for."""
    said = [Span(each.said_start, each.said_end) for each in asked if each.start == one.start and each.mention]
    return tuple(sorted(set(said)))
