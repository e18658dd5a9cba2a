"""Every branch of the Korean sentences, by what was met."""

from typing import Any

import orjson
import pytest

from deciding import CAPS, CARD, against, turn
from extended.reading import HERE, card, entries, held, named, roles
from rules.working import Gap, Result, State
from schemas.element import Element, Namings
from schemas.lexicon import Entry
from schemas.verdict import VerdictWord
from service.snapshot import Snapshot
from service.working.explained import Explained, explained
from service.working.words import because

SEED = against()
TOLD: Namings = {"하늘": (Element("S", "하늘", 0, "T-1", "하늘이 왔어.", 0),)}
ASKED: dict[str, Any] = {"user_asked_recall": True, "user_message": "동생 이름 기억나?"}
WORDS = held(card(forbidden_topics=("소재",)), entries("술", "노름"))
KIN = held(card(canon_entities=("하늘",), entity_roles=roles(동생="하늘")))
TERMS, NAMES, SPEECH, RECALL, KEPT = range(5)
BOTH = "말투와 1인칭이 카드와 다릅니다. 카드는 「반말 · 나」, 답장은 「존댓말 · 저」입니다."
CASES: dict[str, tuple[dict[str, Any], int, str, Snapshot]] = {
    "no term": ({}, TERMS, "답장에 사전 낱말이 하나도 없습니다.", SEED),
    "forbidden": (
        {"reply_text": "선거다."},
        TERMS,
        "카드가 막은 「현실 정치」로 묶인 「선거」가 답장에 있습니다.",
        SEED,
    ),
    "not forbidden": (
        {"reply_text": "베팅이다."},
        TERMS,
        "답장에 사전 낱말이 1개 있지만 카드가 막은 소재의 것은 없습니다.",
        SEED,
    ),
    "for review": (
        {"reply_text": "노름꾼판이다."},
        TERMS,
        "막은 소재의 낱말이 더 긴 말의 한 부분일 수 있어 닿은 것으로 치지 않고 검토로 남겼습니다.",
        WORDS,
    ),
    "part of a word": (
        {"reply_text": "예술이야."},
        TERMS,
        "답장에 사전 낱말과 같은 글자가 있지만 다른 말의 한 부분이거나 예외로 적은 문맥이라 세지 않았습니다.",
        WORDS,
    ),
    "no name": ({}, NAMES, "등장한 이름이 없습니다.", SEED),
    "known": ({"named_entities": ["하늘"]}, NAMES, "등장한 이름 1개가 모두 카드에 있습니다.", SEED),
    "one stranger": ({"named_entities": ["도담"]}, NAMES, "카드에 없는 이름 「도담」이 등장했습니다.", SEED),
    "two strangers": (
        {"named_entities": ["모라", "도담"]},
        NAMES,
        "카드에 없는 이름이 「모라」 등 2개 등장했습니다.",
        SEED,
    ),
    "level and person": ({"reply_text": "가요.", "first_person": "저"}, SPEECH, BOTH, SEED),
    "level": (
        {"reply_text": "가요."},
        SPEECH,
        "말투가 카드와 다릅니다. 카드는 「반말 · 나」, 답장은 「존댓말 · 나」입니다.",
        SEED,
    ),
    "person": (
        {"first_person": "저"},
        SPEECH,
        "1인칭이 카드와 다릅니다. 카드는 「반말 · 나」, 답장은 「반말 · 저」입니다.",
        SEED,
    ),
    "same": ({}, SPEECH, "말투와 1인칭이 모두 카드와 같습니다.", SEED),
    "level alone": (
        {"first_person": None},
        SPEECH,
        "말투가 카드와 같습니다. 1인칭은 카드나 로그에 없어 견주지 않았습니다.",
        SEED,
    ),
    "old": (
        {"reply_text": "그렇소. 어디로 가시오?"},
        SPEECH,
        "하오체로 들렸고, 하오체는 어느 카드의 말투와도 어긋나지 않습니다.",
        held(card()),
    ),
    "forgotten": (
        ASKED,
        RECALL,
        "유저가 「동생」을 물었는데 앞선 회차 「T-1」에 나온 「하늘」이 답장에 없습니다.",
        SEED,
    ),
    "answered": (ASKED | {"reply_text": "하늘이지."}, RECALL, "유저가 물은 이름이 답장에 있습니다.", SEED),
    "unsure": (
        ASKED | {"reply_text": "하늘을 봐."},
        RECALL,
        "유저가 물은 이름을 답장이 부른 것인지 분명하지 않아 기억 못 한 것으로 치지 않고 검토로 남겼습니다.",
        KIN,
    ),
    "second": (
        {"reply_text": "선거.", "named_entities": ["도담"]},
        NAMES,
        "카드에 없는 이름 「도담」이 등장했습니다. 그러나 차례가 앞선 「금지 소재 접촉」이 먼저 판정이 되었습니다.",
        SEED,
    ),
    "kept": ({}, KEPT, "앞의 네 가지에 모두 해당하지 않아 이 판정이 되었습니다.", SEED),
    "not kept": ({"first_person": "저"}, KEPT, "「말투 어긋남」이 해당해 이 판정이 될 수 없습니다.", SEED),
}


def worked(changes: dict[str, Any], known: Snapshot) -> Explained:
    sessions = {"S": TOLD if known is SEED else named(하늘="T_1")}
    answer = explained(orjson.dumps(turn(**changes)), HERE, sessions, known, CAPS)
    assert isinstance(answer, Explained), answer.detail
    return answer


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_each_result_says_why(case: tuple[dict[str, Any], int, str, Snapshot]) -> None:
    changes, place, sentence, known = case
    working = worked(changes, known).working
    assert because(working.results[place], working) == sentence


def test_every_gap_has_a_sentence_of_its_own() -> None:
    working = worked({}, SEED).working
    results = [Result("x", VerdictWord.FORGOT.value, State.NOT_COMPARED, gap) for gap in Gap]
    sentences = {because(result, working) for result in results}
    assert len(sentences) == len(Gap)
    assert all(sentence.endswith("습니다.") for sentence in sentences)


def test_the_verdict_is_the_record_that_is_published() -> None:
    answer = worked({"reply_text": "선거다."}, against(CARD, (Entry("선거", "현실 정치", 1),)))
    assert (answer.profile, answer.verdict["touched_term"], len(answer.verdict)) == ("seed", "선거", 15)
    assert answer.working.verdict == answer.verdict["verdict"]
