"""A turn that names somebody or something the card does not know.

What it flags: a name in the turn's `named_entities` that is not in the card's `canon_entities`.
Why: a character who meets people and places the card never set up grows the world behind the creator's back.
Flags: names 리안 and 아카데미 on a card whose canon is 검술원 and 하늘.
Passes: name 하늘 on that card; a turn without names; a turn whose names could not be taken (null), which is skipped.
Limits: the list of names is taken as given. Under `seed` names compare to the letter: 하늘이 is not 하늘; under
`extended` particles, honorifics and surnames do not make another name, so 남지현 and 전지현 are both 지현.
Source: spec 000, automatic items 4 and 7; design section 3, item 3.
"""

from typing import Any, NamedTuple

from rules.check import Check, card_cell, turn_cell
from rules.reading import Reading
from rules.wording import quote, with_josa
from schemas.verdict import EvidenceCell, VerdictWord


class Strangers(NamedTuple):
    """The names the card does not know, in the turn's order, as they came."""

    names: list[str]

    @property
    def holds(self) -> bool:
        """Whether there is such a name."""
        return bool(self.names)


def _find(reading: Reading) -> Strangers | None:
    if reading.names is None:
        return None
    known = reading.known
    return Strangers([name for folded, name in reading.names.items() if folded not in known])


def _columns(strangers: Strangers) -> dict[str, Any]:
    return {"off_canon_entities": strangers.names}


def _evidence(reading: Reading, strangers: Strangers) -> list[EvidenceCell]:
    canon = reading.card.card.canon_entities
    return [
        turn_cell("reply_text", reading.turn.reply_text),
        *(card_cell("canon_entities", name) for name in canon[:1]),
        turn_cell("turn_id", reading.turn.turn_id),
    ]


def _summary(reading: Reading, strangers: Strangers) -> str:
    names = strangers.names
    shown = "·".join(quote(name) for name in names[:3])
    if len(names) > 3:
        return f"카드에 없는 이름 {shown} 등 {len(names)}개가 이번 회차에 등장해 카드의 세계관을 벗어났습니다."
    return f"카드에 없는 이름 {with_josa(shown, '이')} 이번 회차에 등장해 카드의 세계관을 벗어났습니다."


OFF_CANON_NAME = Check(
    name="off_canon_name",
    verdict=VerdictWord.OFF_CANON.value,
    find=_find,
    columns=_columns,
    evidence=_evidence,
    summary=_summary,
)
