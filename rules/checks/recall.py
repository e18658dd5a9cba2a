"""A reply that lacks a name which the user asked for and the session had already named.

What it flags: the turn is marked as asking for something said before, a role of the card stands in the user's message,
an earlier turn of the session named that role's entity, and the reply does not contain the name.
Why: a user who asks 「내 동생 이름 기억나?」 and is answered 「글쎄」 finds that the character forgot.
Flags: 「동생? 글쎄, 그런 얘길 들은 적 있던가.」 after a turn that named 하늘, the card's 동생.
Passes: 「하늘이 말이지?」 to the same question; a turn that asks for nothing; a name no earlier turn had.
Limits: under `seed` roles and names are substrings (동생 stands in 여동생, a 하늘 in the sky answers for the person);
under `extended` they are words, and a 하늘 that may be the sky is left for review and never called forgotten.
Source: spec 000, automatic item 6; design section 3, item 5.
"""

from typing import Any, NamedTuple

from rules.card import AskedRole
from rules.check import Check, card_cell, turn_cell
from rules.reading import Reading
from rules.wording import quote, with_josa
from schemas.element import Element
from schemas.verdict import EvidenceCell, VerdictWord


class Forgotten(NamedTuple):
    """The asked role whose name the reply lacks, and the turn that named it."""

    role: AskedRole
    source: Element

    @property
    def holds(self) -> bool:
        """Whether a name was forgotten: always, since an answered one is no finding."""
        return True


def _find(reading: Reading) -> Forgotten | None:
    for asked in reading.asked or ():
        if asked.source is not None and not asked.answered:
            return Forgotten(asked.role, asked.source)
    return None


def _columns(forgotten: Forgotten) -> dict[str, Any]:
    return {"recall_target": forgotten.role.entity, "recall_source_turn": forgotten.source.turn_id}


def _evidence(reading: Reading, forgotten: Forgotten) -> list[EvidenceCell]:
    turn, role, source = reading.turn, forgotten.role, forgotten.source
    canon = reading.card.canon.get(role.entity_folded)
    return [
        turn_cell("user_asked_recall", turn.user_asked_recall),
        turn_cell("user_message", turn.user_message),
        card_cell("entity_roles", role.role),
        card_cell("canon_entities", canon) if canon is not None else card_cell("entity_roles", role.entity),
        turn_cell("turn_id", source.turn_id),
        turn_cell("reply_text", source.reply_text),
        turn_cell("reply_text", turn.reply_text),
    ]


def _summary(reading: Reading, forgotten: Forgotten) -> str:
    role = with_josa(quote(forgotten.role.role), "을")
    entity = with_josa(quote(forgotten.role.entity), "이")
    return f"유저가 {role} 물었는데 앞선 회차 {quote(forgotten.source.turn_id)}에 나온 {entity} 이번 답장에는 없습니다."


RECALL = Check(
    name="recall",
    verdict=VerdictWord.FORGOT.value,
    find=_find,
    columns=_columns,
    evidence=_evidence,
    summary=_summary,
)
