"""Word the hedge again from what the second reading found."""

from collections.abc import Iterable, Sequence
from itertools import combinations

from rules.verify.grounds import CardGrounds
from rules.verify.text import Heard, Hearing, cleaned, starts
from schemas import hedge as said
from schemas.nfc import nfc
from schemas.turn import Turn
from schemas.verdict import Level

_SHOWN = 40
_POLITE, _PLAIN = Level.POLITE.value, Level.PLAIN.value


def hedge_of(
    turn: Turn, against: CardGrounds, heard: Heard, hearing: Hearing, asked: Sequence[tuple[int, object]] | None
) -> str | None:
    """Return the hedge of a turn under `seed`, or None when there is nothing to say.

    `asked` holds the places of the roles asked for and their sources; None where no recall is compared.
    """
    known = bool(heard.polite or heard.plain)
    speech: Sequence[str] = ()
    if known:
        speech = _speech(turn, heard, hearing)
    elif turn.reply_text is not None:
        speech = (said.LEVEL_UNKNOWN,)
    return worded(turn, against, known, speech, () if asked is None else _recall(turn, against, asked))


def worded(turn: Turn, against: CardGrounds, known: bool, speech: Sequence[str], recall: Sequence[str]) -> str | None:
    """Put the sentences of a hedge in their order; `known` tells that the reply has a level."""
    asks = turn.user_asked_recall
    sentences = []
    if turn.named_entities is None:
        sentences.append(said.NAMES_NULL_ONLY if known and not asks else said.NAMES_NULL)
    if turn.reply_text is None:
        sentences.append(said.NO_REPLY_RECALL if asks else said.NO_REPLY)
    person = turn.first_person
    spoke = bool(person and not person.isspace())
    if not spoke or not against.person:
        sentences.append(_PERSONS[spoke, bool(against.person)])
    sentences += speech
    if not against.canon:
        sentences.append(said.NO_CANON)
    if asks and turn.user_message is None:
        sentences.append(said.RECALL_NO_MESSAGE)
    sentences += recall
    return " ".join(sentences) or None


# By whether the log and the card have a first person.
_PERSONS = {
    (False, True): said.FIRST_PERSON_NULL_TURN,
    (True, False): said.FIRST_PERSON_NULL_CARD,
    (False, False): said.FIRST_PERSON_NULL_BOTH,
}


def levels(turn: Turn, level: str, heard: Heard) -> list[str]:
    """Say how the level differs from the one that was logged, and that both were heard."""
    sentences = []
    logged = turn.honorific_level
    if logged and logged != level and logged.strip() and nfc(logged) != level:
        sentences.append(said.LEVEL_DIFFERS.format(logged=cleaned(logged), level=level))
    if heard.polite > 0 < heard.plain:
        sentences.append(said.MIXED_LEVELS.format(polite=heard.polite, plain=heard.plain))
    return sentences


def _speech(turn: Turn, heard: Heard, hearing: Hearing) -> list[str]:
    sentences = levels(turn, _POLITE if heard.polite else _PLAIN, heard)
    if heard.odd:
        word = hearing.odd_word(nfc(turn.reply_text or ""))
        if word is not None:
            shown = word if len(word) <= _SHOWN else f"…{word[len(word) - _SHOWN :]}"
            sentences.append(said.HONORIFIC_FORM.format(word=shown))
    return sentences


def unnamed(against: CardGrounds, places: Iterable[int]) -> list[str]:
    """Say which of the roles at some places of the card have an entity that no earlier turn named."""
    roles = against.card.entity_roles
    names = {against.roles[place][1]: roles[place].entity for place in places}
    if not names:
        return []
    name, *more = names.values()
    form = said.RECALL_NOT_NAMED_MORE if more else said.RECALL_NOT_NAMED
    return [form.format(name=cleaned(name), more=len(more))]


def _recall(turn: Turn, against: CardGrounds, asked: Sequence[tuple[int, object]]) -> list[str]:
    if not asked:
        return [said.RECALL_NO_ROLE]
    roles = against.card.entity_roles
    sentences = unnamed(against, (place for place, source in asked if source is None))
    message = nfc(turn.user_message or "")
    shown = {against.roles[place][0]: roles[place].role for place, _ in asked}
    for one, other in combinations(shown, 2):
        if _share_a_letter(message, one, other):
            sentences.append(said.ROLES_OVERLAP.format(first=cleaned(shown[one]), second=cleaned(shown[other])))
            break
    return sentences


def _share_a_letter(message: str, one: str, other: str) -> bool:
    """Mark every letter that one role covers, then look for an occurrence of the other on a marked one."""
    covered = bytearray(len(message))
    for place in starts(message, one):
        covered[place : place + len(one)] = b"\1" * len(one)
    return any(covered.find(1, place, place + len(other)) != -1 for place in starts(message, other))
