"""Word the hedge again from the witnesses of the `extended` profile."""

from collections.abc import Sequence
from typing import NamedTuple

from rules.verify.grounds import CardGrounds
from rules.verify.hedge import PERSONS
from rules.verify.text import Heard, cleaned
from schemas import hedge as said
from schemas.nfc import nfc
from schemas.turn import Turn
from schemas.witness import RoleWitness, Tier


class Doubts(NamedTuple):
    """What was not sure: the level, whether Hangul without one was heard, terms for review, the roles asked with."""

    level: str | None = None
    unclear: bool = False
    review: Sequence[str] = ()
    asked: tuple[RoleWitness, ...] | None = None


def hedge_from(turn: Turn, against: CardGrounds, heard: Heard, doubts: Doubts) -> str | None:
    """Return the hedge of a turn, or None when there is nothing to say."""
    there, recall = turn.reply_text is not None, turn.user_asked_recall
    level = doubts.level
    sentences = []
    if turn.named_entities is None:
        sentences.append(said.NAMES_NULL_ONLY if level and not recall else said.NAMES_NULL)
    if not there:
        sentences.append(said.NO_REPLY_RECALL if recall else said.NO_REPLY)
    person = turn.first_person
    spoke = bool(person and not person.isspace())
    if not (spoke and against.person):
        sentences.append(PERSONS[spoke, bool(against.person)])
    if there and level is None:
        sentences.append(said.LEVEL_UNCLEAR if doubts.unclear else said.LEVEL_UNKNOWN)
    logged = turn.honorific_level
    if level and logged and logged.strip() and nfc(logged) != level:
        sentences.append(said.LEVEL_DIFFERS.format(logged=cleaned(logged), level=level))
    if heard.polite > 0 < heard.plain:
        sentences.append(said.MIXED_LEVELS.format(polite=heard.polite, plain=heard.plain))
    if doubts.review:
        form = said.TERM_REVIEW_MORE if len(doubts.review) > 1 else said.TERM_REVIEW
        sentences.append(form.format(term=cleaned(doubts.review[0]), more=len(doubts.review) - 1))
    if not against.canon:
        sentences.append(said.NO_CANON)
    if recall and turn.user_message is None:
        sentences.append(said.RECALL_NO_MESSAGE)
    if doubts.asked is not None:
        sentences += _recall(against, doubts.asked)
    return " ".join(sentences) or None


def _recall(against: CardGrounds, asked: tuple[RoleWitness, ...]) -> list[str]:
    if not asked:
        return [said.RECALL_NO_ROLE]
    sentences, roles = [], against.card.entity_roles
    unnamed: dict[str, str] = {}
    for witness in asked:
        if witness.source is None:
            unnamed[against.roles[witness.place][1]] = roles[witness.place].entity
    if unnamed:
        name, *more = unnamed.values()
        form = said.RECALL_NOT_NAMED_MORE if more else said.RECALL_NOT_NAMED
        sentences.append(form.format(name=cleaned(name), more=len(more)))
    sure = {witness.start for witness in asked if witness.mention is Tier.HIT}
    weak = {witness.start for witness in asked if witness.mention is Tier.REVIEW} - sure
    unsure = [roles[witness.place].entity for witness in asked if witness.start in weak and witness.source is not None]
    if unsure:
        sentences.append(said.RECALL_UNSURE.format(name=cleaned(unsure[0])))
    overlap = _overlap(against, asked)
    if overlap:
        sentences.append(said.ROLES_OVERLAP.format(first=cleaned(overlap[0]), second=cleaned(overlap[1])))
    return sentences


def _overlap(against: CardGrounds, asked: tuple[RoleWitness, ...]) -> tuple[str, str] | None:
    roles = against.card.entity_roles
    for number, witness in enumerate(asked):
        here = [other for other in asked[:number] if other.start == witness.start]
        if here and against.roles[here[0].place][0] != against.roles[witness.place][0]:
            return roles[here[0].place].role, roles[witness.place].role
    return None
