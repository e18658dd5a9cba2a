"""What has no witness, or a wrong one, fails the item it is of."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from extended.reading import HERE, card, entries, held, judged, named, roles, turn
from rules.judge import Judged
from rules.verify import verify_witnessed
from schemas.validate import VERDICT
from schemas.witness import Tier, Told, Way, Witnesses

AGAINST = held(
    card(
        forbidden_topics=("소재",),
        canon_entities=("별하", "하늘"),
        entity_roles=roles(동생="하늘", 누나="별하"),
    ),
    entries("노름", "판돈", ("깍두기", "any", "깍두기김치")),
)
REPLY = "노름은 그만할게요. *고개를 젓는다.* 별하가 그랬어. 판돈걸이도 그만둘게."
TURN = turn(
    reply_text=REPLY, named_entities=["별하가", "도담"], user_message="누나 이름은? 동생은?", user_asked_recall=True
)
NAMINGS = named(하늘이="T_2", 별하="T_3", 하늘="T_4")
Change = Callable[[Witnesses], Witnesses]


def failed(result: Judged, witnesses: Witnesses, record: Any = None) -> list[int]:
    desk, character = AGAINST.book.desks["extended"], AGAINST.characters["C"]
    assert desk.grounding is not None
    marks = verify_witnessed(
        record or result.record,
        witnesses,
        TURN,
        character.grounds,
        desk.grounding,
        NAMINGS,
        HERE,
        VERDICT.is_valid,
    )
    return [item for item, passed in enumerate(marks, start=1) if not passed]


def test_the_verdict_of_the_turn_stands() -> None:
    result = judged(AGAINST, TURN, NAMINGS)
    assert result.witnesses is not None
    assert failed(result, result.witnesses) == []
    assert result.record["rule_observed"] == "섞임 · 나"
    assert (result.record["touched_term"], result.record["recall_target"]) == ("노름", "하늘")
    assert [len(each or ()) for each in result.witnesses] == [3, 2, 1, 2]


def nth(kind: str, place: int, /, **changes: Any) -> Change:
    """Change one witness of a kind."""
    return lambda found: found._replace(
        **{
            kind: tuple(
                one._replace(**changes) if number == place else one for number, one in enumerate(getattr(found, kind))
            )
        }
    )


word, term, role = partial(nth, "words"), partial(nth, "terms"), partial(nth, "asked")


def name(**changes: Any) -> Change:
    return lambda found: found._replace(names=(found.names[0]._replace(**changes),))


# By item: what is done to the witnesses.
WRONG: tuple[tuple[int, str, Change], ...] = (
    (3, "no words", lambda found: found._replace(words=())),
    (3, "a word less", lambda found: found._replace(words=found.words[:2])),
    (3, "a word twice", lambda found: found._replace(words=found.words + found.words[:1])),
    (3, "another level", word(0, says="plain")),
    (3, "another way", word(0, told=Told.ANSWER)),
    (3, "a shorter word", word(0, start=5)),
    (3, "a word in narration", word(0, start=15, end=18)),
    (3, "a word past the end", word(0, start=900, end=905)),
    (3, "a word before the start", word(0, start=-4, end=3)),
    (5, "no terms", lambda found: found._replace(terms=())),
    (5, "another rank", term(0, rank=1)),
    (5, "a rank that is none", term(0, rank=99)),
    (5, "another place", term(0, start=1, end=3)),
    (5, "another tier", term(1, tier=Tier.HIT)),
    (5, "another way", term(0, way=Way.SPELLED)),
    (5, "a term that is not there", term(0, rank=2)),
    (4, "no names", lambda found: found._replace(names=())),
    (4, "a stranger known", name(place=1)),
    (4, "another entity", name(canon=1)),
    (4, "a name that is none", name(place=7)),
    (4, "another way", name(way=Way.WHOLE)),
    (6, "no roles", lambda found: found._replace(asked=())),
    (6, "no recall", lambda found: found._replace(asked=None)),
    (6, "another role", role(0, place=1)),
    (6, "another place", role(0, start=0, end=2)),
    (6, "no source", role(0, source=None)),
    (6, "a later source", role(0, source=NAMINGS["하늘"][0])),
    (6, "said in the reply", role(0, mention=Tier.HIT, said_start=22, said_end=24)),
    (6, "not said", role(1, mention=None)),
)


@pytest.mark.parametrize(("item", "what", "change"), WRONG, ids=[f"{item} {what}" for item, what, _ in WRONG])
def test_a_wrong_witness_fails_its_item(item: int, what: str, change: Change) -> None:
    result = judged(AGAINST, TURN, NAMINGS)
    assert result.witnesses is not None
    changed = change(result.witnesses)
    assert changed != result.witnesses
    assert item in failed(result, changed)


@pytest.mark.parametrize(
    ("item", "field", "value"),
    [
        (1, "verdict", "설정대로 말함"),
        (3, "rule_observed", "존댓말 · 나"),
        (3, "rule_expected", "존댓말 · 나"),
        (4, "off_canon_entities", []),
        (5, "touched_term", "판돈"),
        (5, "touched_topic", None),
        (6, "recall_target", "별하"),
        (6, "recall_source_turn", "T-4"),
        (7, "hedge", None),
        (8, "evidence", []),
        (10, "summary", "카드대로 말했습니다."),
        (10, "summary", "사전이 「소재」로 묶어 둔 「노름」이 나왔다"),
    ],
)
def test_a_field_that_the_witnesses_do_not_come_to_fails(item: int, field: str, value: Any) -> None:
    result = judged(AGAINST, TURN, NAMINGS)
    assert result.witnesses is not None
    assert item in failed(result, result.witnesses, {**result.record, field: value})
