from typing import Any
from unicodedata import normalize

import pytest

from deciding import CARD, Row, decide, turn
from schemas.card import Card, Role
from schemas.hedge import HedgeCode

NAMED = turn(turn_id="T-1", named_entities=["하늘"], reply_text="하늘이다.")
ASKING: Row = {"user_asked_recall": True, "user_message": "동생 이름 기억나?", "reply_text": "하늘이다."}
ROLES = (Role("동생", "하늘"), Role("여동생", "별"), Role("막내", "별"), Role("스승", "솔"))
NO_NAMES: Row = {"named_entities": None}

NULL_ONLY = "등장 이름 목록이 비어 있어 세계관 대조는 건너뛰고 말투와 금지 소재만 맞춰 봤습니다."
NULL = "등장 이름 목록이 비어 있어 세계관 대조는 건너뛰었습니다."
NO_REPLY = "답장이 비어 있어 말투와 금지 소재는 맞춰 보지 못했습니다."
NO_REPLY_RECALL = "답장이 비어 있어 말투와 금지 소재, 기억은 맞춰 보지 못했습니다."
NO_PERSON = "로그의 1인칭이 비어 있어 1인칭 비교는 건너뛰었습니다."
NO_PERSON_CARD = "카드의 1인칭이 비어 있어 1인칭 비교는 건너뛰었습니다."
NO_PERSON_BOTH = "카드와 로그의 1인칭이 모두 비어 있어 1인칭 비교는 건너뛰었습니다."
NO_LEVEL = "답장에 한글 문장이 없어 말투를 뽑지 못했고 말투 비교는 건너뛰었습니다."
NO_CANON = "카드에 올린 이름이 하나도 없어 등장 이름이 있으면 모두 카드 밖 이름이 됩니다."
NO_MESSAGE = "유저가 앞 이야기를 물은 회차인데 유저 메시지가 비어 있어 기억 대조는 건너뛰었습니다."
NO_ROLE = "유저가 앞 이야기를 물었지만 메시지에 카드의 관계어가 없어 기억 대조는 건너뛰었습니다."


def mixed(polite: int, plain: int) -> str:
    return f"존댓말 문장 {polite}개와 반말 문장 {plain}개가 한 답장에 섞여 있습니다."


def differs(logged: str, level: str) -> str:
    return f"로그에 적힌 말투(「{logged}」)가 답장에서 뽑은 말투({level})와 다릅니다."


def form(word: str) -> str:
    return f"반말로 센 문장에 「{word}」처럼 종결 어미 목록에 없는 높임 꼴이 있습니다."


def unnamed(name: str, more: int = 0) -> str:
    shown = f"「{name}」 외 {more}개" if more else f"「{name}」"
    return f"유저가 물은 이름({shown})이 앞선 회차에 나온 적이 없어 그 기억은 견주지 못했습니다."


def overlap(first: str, second: str) -> str:
    return f"메시지에서 찾은 관계어(「{first}」, 「{second}」)가 서로 겹쳐 누구를 물었는지 분명하지 않습니다."


# What the turn and the card are like, and the sentences of the hedge with their codes.
HEDGES: dict[str, tuple[Row, dict[str, Any], dict[str, str]]] = {
    "nothing to say": ({}, {}, {}),
    "names null": (NO_NAMES, {}, {"names_null": NULL_ONLY}),
    "names empty": ({"named_entities": []}, {}, {}),
    "names null, no level": (NO_NAMES | {"reply_text": "OK"}, {}, {"names_null": NULL, "level_unknown": NO_LEVEL}),
    "names null, no reply": (NO_NAMES | {"reply_text": None}, {}, {"names_null": NULL, "no_reply": NO_REPLY}),
    "names null, recall asked": (NO_NAMES | ASKING, {}, {"names_null": NULL}),
    "no reply": ({"reply_text": None}, {}, {"no_reply": NO_REPLY}),
    "no reply, recall asked": (ASKING | {"reply_text": None}, {}, {"no_reply": NO_REPLY_RECALL}),
    "no reply, level logged": ({"reply_text": None, "honorific_level": "존댓말"}, {}, {"no_reply": NO_REPLY}),
    "empty reply": ({"reply_text": ""}, {}, {"level_unknown": NO_LEVEL}),
    "no person": ({"first_person": None}, {}, {"first_person_null": NO_PERSON}),
    "blank person": ({"first_person": " "}, {}, {"first_person_null": NO_PERSON}),
    "no person on the card": ({}, {"first_person": None}, {"first_person_null": NO_PERSON_CARD}),
    "blank person on the card": ({}, {"first_person": "\t"}, {"first_person_null": NO_PERSON_CARD}),
    "no person at all": ({"first_person": None}, {"first_person": ""}, {"first_person_null": NO_PERSON_BOTH}),
    "level logged right": ({"honorific_level": "반말"}, {}, {}),
    "level logged right, decomposed": ({"honorific_level": normalize("NFD", "반말")}, {}, {}),
    "level logged blank": ({"honorific_level": " "}, {}, {}),
    "level logged wrong": ({"honorific_level": "존댓말"}, {}, {"level_differs": differs("존댓말", "반말")}),
    "level logged otherwise": ({"honorific_level": "해요체."}, {}, {"level_differs": differs("해요체", "반말")}),
    "level logged long": ({"honorific_level": "긴" * 50}, {}, {"level_differs": differs("긴" * 40 + "…", "반말")}),
    "mixed": ({"reply_text": "가요. 간다. 가."}, {}, {"mixed_levels": mixed(1, 2)}),
    "not mixed over a line": ({"reply_text": "갈게요\n간다"}, {}, {}),
    "form": ({"reply_text": "어디로 가십니까?"}, {}, {"honorific_form": form("가십니까")}),
    "form, the first": ({"reply_text": "걸읍시다. 가십쇼."}, {}, {"honorific_form": form("걸읍시다")}),
    "form, long word": ({"reply_text": "긴" * 50 + "십쇼"}, {}, {"honorific_form": form("…" + "긴" * 38 + "십쇼")}),
    "no form": ({"reply_text": "없니까. 높으시다. 니까."}, {}, {}),
    "mixed, with a form": (
        {"reply_text": "가요. 가십쇼."},
        {},
        {"mixed_levels": mixed(1, 1), "honorific_form": form("가십쇼")},
    ),
    "no canon": ({}, {"canon_entities": ()}, {"no_canon": NO_CANON}),
    "recall named": (ASKING, {}, {}),
    "recall, no message": (ASKING | {"user_message": None}, {}, {"recall_no_message": NO_MESSAGE}),
    "recall, empty message": (ASKING | {"user_message": ""}, {}, {"recall_no_role": NO_ROLE}),
    "recall, no message, no reply": (
        ASKING | {"user_message": None, "reply_text": None},
        {},
        {"no_reply": NO_REPLY_RECALL, "recall_no_message": NO_MESSAGE},
    ),
    "recall, no role": (ASKING | {"user_message": "누구?"}, {}, {"recall_no_role": NO_ROLE}),
    "recall, no roles on the card": (ASKING, {"entity_roles": ()}, {"recall_no_role": NO_ROLE}),
    "recall not asked": (ASKING | {"user_asked_recall": False, "user_message": "스승은?"}, {}, {}),
    "recall, not named": (ASKING | {"user_message": "스승은?"}, {}, {"recall_not_named": unnamed("솔")}),
    "recall, two not named": (ASKING | {"user_message": "막내 스승은?"}, {}, {"recall_not_named": unnamed("별", 1)}),
    "recall, one not named twice": (
        ASKING | {"user_message": "여동생, 그러니까 막내는?"},
        {"entity_roles": ROLES[1:]},
        {"recall_not_named": unnamed("별")},
    ),
    "recall, one named and one not": (
        ASKING | {"user_message": "동생 스승은?"},
        {},
        {"recall_not_named": unnamed("솔")},
    ),
    "recall, roles overlap": (
        ASKING | {"user_message": "여동생은?"},
        {},
        {"recall_not_named": unnamed("별"), "roles_overlap": overlap("동생", "여동생")},
    ),
    "recall, one role twice": (ASKING, {"entity_roles": ROLES[:1] * 2}, {}),
    "recall, roles side by side": (
        ASKING | {"user_message": "동생스승은?"},
        {"entity_roles": (ROLES[0], Role("스승", "하늘"))},
        {},
    ),
    "recall, roles cross": (
        ASKING | {"user_message": "짝짝짝꿍은?"},
        {"entity_roles": (Role("짝짝", "하늘"), Role("짝꿍", "하늘"))},
        {"roles_overlap": overlap("짝짝", "짝꿍")},
    ),
}
EVERYTHING = {
    "names_null": NULL,
    "first_person_null": NO_PERSON_BOTH,
    "level_differs": differs("반말", "존댓말"),
    "mixed_levels": mixed(1, 1),
    "honorific_form": form("가십쇼"),
    "no_canon": NO_CANON,
    "recall_not_named": unnamed("하늘", 1),
    "roles_overlap": overlap("동생", "여동생"),
}


def hedged(changes: Row, card: Card) -> tuple[str | None, list[str]]:
    record, codes = decide(NAMED, turn(**changes), card=card)
    return record["hedge"], codes


@pytest.mark.parametrize("kind", HEDGES)
def test_the_hedge_has_a_sentence_a_finding(kind: str) -> None:
    changes, card_changes, sentences = HEDGES[kind]
    card = CARD._replace(**({"entity_roles": ROLES} | card_changes))
    assert hedged(changes, card) == (" ".join(sentences.values()) or None, list(sentences))


def test_sentences_stand_in_the_order_of_the_codes() -> None:
    changes = NO_NAMES | {"first_person": None, "honorific_level": "반말", "reply_text": "가요. 가십쇼."}
    card = CARD._replace(first_person=None, canon_entities=(), entity_roles=ROLES[:2])
    record, codes = decide(
        turn(**changes, user_asked_recall=True, user_message="여동생은?"),
        card=card,
    )
    assert (record["hedge"], codes) == (" ".join(EVERYTHING.values()), list(EVERYTHING))
    order = [code.value for code in HedgeCode]
    assert codes == sorted(codes, key=order.index)


def test_the_tables_reach_every_code() -> None:
    reached = {code for _, _, sentences in HEDGES.values() for code in sentences}
    of_extended = {HedgeCode.LEVEL_UNCLEAR, HedgeCode.TERM_REVIEW, HedgeCode.RECALL_UNSURE}
    assert reached == {code.value for code in HedgeCode} - of_extended
