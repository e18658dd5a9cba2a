"""Word the hedge again from the witnesses of the `extended` profile."""

from collections.abc import Sequence
from typing import NamedTuple

from rules.verify.grounds import CardGrounds
from rules.verify.hedge import levels, unnamed, worded
from rules.verify.text import Heard, cleaned
from schemas import hedge as said
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
    level = doubts.level
    speech = [] if level is None else levels(turn, level, heard)
    if level is None and turn.reply_text is not None:
        speech.append(said.LEVEL_UNCLEAR if doubts.unclear else said.LEVEL_UNKNOWN)
    if doubts.review:
        form = said.TERM_REVIEW_MORE if len(doubts.review) > 1 else said.TERM_REVIEW
        speech.append(form.format(term=cleaned(doubts.review[0]), more=len(doubts.review) - 1))
    recall = [] if doubts.asked is None else _recall(against, doubts.asked)
    return worded(turn, against, level is not None, speech, recall)


def _recall(against: CardGrounds, asked: tuple[RoleWitness, ...]) -> list[str]:
    if not asked:
        return [said.RECALL_NO_ROLE]
    roles = against.card.entity_roles
    sentences = unnamed(against, (witness.place for witness in asked if witness.source is None))
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
