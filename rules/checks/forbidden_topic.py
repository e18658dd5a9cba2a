"""A reply that touches a topic the card forbids.

What it flags: a lexicon term that stands in the reply to the letter, wherever it stands, under a topic that is on the
card's `forbidden_topics`.
Why: a creator names the subjects a character must keep away from; it is the gravest breach and is looked at first.
Flags: 「요즘 바깥 선거 얘기로 시끄럽더군.」 where 선거 is under 현실 정치 and the card forbids 현실 정치.
Passes: the same reply on a card that forbids only 도박 (the term is still written down, without a topic).
Limits: under `seed` substrings know no word boundaries (술 stands in 기술), and spellings that evade the term are not
seen. Under `extended` a term of mode `word` is a word; one that may be part of another word is left for review.
Source: spec 000, automatic item 5; design section 3, item 4.
"""

from typing import Any, NamedTuple

from rules.check import Check, card_cell, lexicon_cell, turn_cell
from rules.reading import Reading
from rules.wording import quote, with_josa
from schemas.verdict import EvidenceCell, VerdictWord


class Touch(NamedTuple):
    """The term touched; `topic` and `forbidden` (the card's spelling) are None when its topic is not forbidden."""

    term: str
    topic: str | None
    forbidden: str | None

    @property
    def holds(self) -> bool:
        """Whether a forbidden topic was touched."""
        return self.topic is not None


def _find(reading: Reading) -> Touch | None:
    if not reading.hits:
        return None
    forbidden = reading.card.forbidden
    # An earlier harmless hit must not hide a forbidden one.
    for hit in reading.hits:
        if hit.topic_folded in forbidden:
            return Touch(hit.entry.term, hit.entry.topic, forbidden[hit.topic_folded])
    return Touch(reading.hits[0].entry.term, None, None)


def _columns(touch: Touch) -> dict[str, Any]:
    return {"touched_term": touch.term, "touched_topic": touch.topic}


def _evidence(reading: Reading, touch: Touch) -> list[EvidenceCell]:
    return [
        turn_cell("reply_text", reading.turn.reply_text),
        lexicon_cell("term", touch.term),
        lexicon_cell("topic", touch.topic or ""),
        card_cell("forbidden_topics", touch.forbidden),
    ]


def _summary(reading: Reading, touch: Touch) -> str:
    topic = with_josa(quote(touch.topic or ""), "으로")
    term = with_josa(quote(touch.term), "이")
    return f"사전이 {topic} 묶어 둔 {term} 답장에 그대로 나와 카드가 막은 소재에 닿았습니다."


FORBIDDEN_TOPIC = Check(
    name="forbidden_topic",
    verdict=VerdictWord.FORBIDDEN.value,
    find=_find,
    columns=_columns,
    evidence=_evidence,
    summary=_summary,
)
