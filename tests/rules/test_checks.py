import ast
import pkgutil
from collections.abc import Iterable
from typing import Any
from unicodedata import normalize

import pytest

import rules.checks
from deciding import CARD, Row, decide, turn
from rules.catalogue import CHECKS
from schemas.card import Card, Role
from schemas.lexicon import Entry
from schemas.verdict import COLUMNS, VERDICT_KEYS, VerdictWord
from service.cli.reading import DOSSIER, dossier, source

FORBIDDEN, OFF_CANON = VerdictWord.FORBIDDEN.value, VerdictWord.OFF_CANON.value
SPEECH, FORGOT, KEPT = VerdictWord.SPEECH_BROKEN.value, VerdictWord.FORGOT.value, VerdictWord.KEPT.value
POLITICS, BETTING = "현실 정치", "도박"


def nfd(text: str) -> str:
    return normalize("NFD", text)


def card(**changes: Any) -> Card:
    return CARD._replace(**changes)


TERMS = (
    Entry("술", "음주", 5),
    Entry("술잔", "잔치", 4),
    Entry("선거", POLITICS, 3),
    Entry("거판", BETTING, 2),
    Entry("선거", "뉴스", 1),
    Entry("ㅋㅋㅋ", "웃음", 9),
    Entry(nfd("할인"), "광고", 9),
)
TOUCHES: dict[str, tuple[str | None, tuple[str, ...], str | None, str | None]] = {
    "dossier, flags": ("요즘 바깥 선거 얘기로 시끄럽더군.", (POLITICS,), "선거", POLITICS),
    "dossier, passes": ("요즘 바깥 선거 얘기로 시끄럽더군.", (BETTING,), "선거", None),
    "no term": ("검을 잡아.", (POLITICS,), None, None),
    "no reply": (None, (POLITICS,), None, None),
    "no topic on the card": ("선거", (), "선거", None),
    "inside a word": ("기술이다", ("음주",), "술", "음주"),
    "over a space is another text": ("선 거", (POLITICS,), None, None),
    "earliest in the lexicon, not in the reply": ("술과 선거", ("음주", POLITICS), "선거", POLITICS),
    "a harmless hit hides no forbidden one": ("선거판", (BETTING, POLITICS), "거판", BETTING),
    "of several topics the forbidden one": ("선거", (POLITICS,), "선거", POLITICS),
    "of several forbidden topics the earliest row": ("선거", (POLITICS, "뉴스"), "선거", "뉴스"),
    "overlapping": ("술잔", ("음주",), "술", "음주"),
    "nested": ("술잔", ("잔치",), "술잔", "잔치"),
    "jamo to the letter": ("ㅋㅋㅋㅋ", ("웃음",), "ㅋㅋㅋ", "웃음"),
    "composed reply, decomposed term": ("할인이다", ("광고",), nfd("할인"), "광고"),
    "decomposed reply": (nfd("선거다"), (POLITICS,), "선거", POLITICS),
    "decomposed topic of the card": ("선거", (nfd(POLITICS),), "선거", POLITICS),
    "compatibility letters are others": ("ＶＩＰ 선거", (POLITICS,), "선거", POLITICS),
}


@pytest.mark.parametrize("kind", TOUCHES)
def test_forbidden_topic(kind: str) -> None:
    reply, forbidden, term, topic = TOUCHES[kind]
    decided = decide(turn(reply_text=reply), card=card(forbidden_topics=forbidden), lexicon=TERMS).record
    assert (decided["touched_term"], decided["touched_topic"]) == (term, topic)
    assert (decided["verdict"] == FORBIDDEN) is (topic is not None)


@pytest.mark.parametrize("count", [0, 1, 500])
def test_no_reply_is_too_full_of_terms(count: int) -> None:
    terms = [Entry(f"말{number}", "많은 말", number) for number in range(count)]
    reply = " ".join(entry.term for entry in reversed(terms))
    assert decide(turn(reply_text=reply), lexicon=terms).record["touched_term"] == ("말0" if count else None)


NAMES: dict[str, tuple[list[str] | None, tuple[str, ...], list[str] | None]] = {
    "dossier, flags": (["리안", "아카데미"], ("검술원", "하늘"), ["리안", "아카데미"]),
    "dossier, passes": (["하늘"], ("검술원", "하늘"), []),
    "none": ([], ("하늘",), []),
    "null": (None, ("하늘",), None),
    "in the turn's order, each once": (["별", "하늘", "달", "별"], ("하늘",), ["별", "달"]),
    "blanks are passed over": (["", " \u3000", "별"], (), ["별"]),
    "only blanks": (["", " "], ("하늘",), []),
    "no canon": (["하늘"], (), ["하늘"]),
    "to the letter": (["하늘이", " 하늘", "Mira"], ("하늘", "mira"), ["하늘이", " 하늘", "Mira"]),
    "decomposed name": ([nfd("하늘")], ("하늘",), []),
    "decomposed canon": (["하늘"], (nfd("하늘"),), []),
    "as it came, the first of two spellings": ([nfd("별"), "별"], (), [nfd("별")]),
}


@pytest.mark.parametrize("kind", NAMES)
def test_off_canon_name(kind: str) -> None:
    names, canon, strangers = NAMES[kind]
    decided = decide(turn(named_entities=names), card=card(canon_entities=canon)).record
    assert decided["off_canon_entities"] == strangers
    assert (decided["verdict"] == OFF_CANON) is bool(strangers)


# Reply, first person, the card's rule and first person; what is expected, what observed, and whether it breaks.
SPEAKING: dict[str, tuple[str | None, str | None, str, str | None, str, str | None, bool]] = {
    "dossier, flags": ("저는 그렇게 생각해요.", "저", "반말", "나", "반말 · 나", "존댓말 · 저", True),
    "dossier, passes": ("검을 잡아. 오늘은 손목부터 본다.", "나", "반말", "나", "반말 · 나", "반말 · 나", False),
    "dossier, no syllable": ("OK!", "저", "반말", "나", "반말 · 나", None, False),
    "level only": ("가요.", "나", "반말", "나", "반말 · 나", "존댓말 · 나", True),
    "too plain": ("간다.", "저", "존댓말", "저", "존댓말 · 저", "반말 · 저", True),
    "first person only": ("간다.", "저", "반말", "나", "반말 · 나", "반말 · 저", True),
    "one polite piece": ("간다. 가요. 간다.", "나", "반말", "나", "반말 · 나", "존댓말 · 나", True),
    "the turn's first person null": ("간다.", None, "반말", "나", "반말 · 나", "반말", False),
    "the turn's first person blank": ("간다.", " \u3000", "반말", "나", "반말 · 나", "반말", False),
    "the card's first person null": ("간다.", "저", "반말", None, "반말", "반말 · 저", False),
    "the card's first person blank": ("간다.", "저", "반말", "", "반말", "반말 · 저", False),
    "both null, level differs": ("가요.", None, "반말", None, "반말", "존댓말", True),
    "no reply": (None, "저", "반말", "나", "반말 · 나", None, False),
    "empty reply": ("", "저", "반말", "나", "반말 · 나", None, False),
    "decomposed first person": ("간다.", nfd("나"), "반말", "나", "반말 · 나", f"반말 · {nfd('나')}", False),
    "decomposed reply": (nfd("가요."), "저", "존댓말", "저", "존댓말 · 저", "존댓말 · 저", False),
    "space is a letter": ("간다.", "나 ", "반말", "나", "반말 · 나", "반말 · 나 ", True),
}


@pytest.mark.parametrize("kind", SPEAKING)
def test_speech_level(kind: str) -> None:
    reply, person, rule, asked, expected, observed, breaks = SPEAKING[kind]
    for logged in (None, "반말", "존댓말"):
        row = turn(reply_text=reply, first_person=person, honorific_level=logged)
        decided = decide(row, card=card(honorific_rule=rule, first_person=asked)).record
        assert (decided["rule_expected"], decided["rule_observed"]) == (expected, observed)
        assert decided["verdict"] == (SPEECH if breaks else KEPT)


ROLES = (Role("동생", "하늘"), Role("여동생", "별"), Role("스승", "검술원"))
EARLIER = (
    turn(turn_id="T-3", named_entities=["별", "하늘"], reply_text="별과 하늘이다."),
    turn(turn_id="T-2", named_entities=["하늘"], reply_text="하늘이다."),
    turn(turn_id="T-4", named_entities=["검술원"], reply_text=None),
    turn(turn_id="T-12", named_entities=["솔"], reply_text="솔이다."),
)
ASKED: dict[str, tuple[Row, str | None, str | None]] = {
    "dossier, flags": (
        {"user_message": "내 동생 이름 기억나?", "reply_text": "동생? 글쎄, 그런 얘길 들은 적 있던가."},
        "하늘",
        "T-2",
    ),
    "dossier, passes": ({"user_message": "내 동생 이름 기억나?", "reply_text": "하늘이 말이지?"}, None, None),
    "not asked": ({"user_asked_recall": False}, None, None),
    "not known whether asked": ({"user_asked_recall": None}, None, None),
    "no message": ({"user_message": None}, None, None),
    "no reply": ({"reply_text": None}, None, None),
    "empty reply": ({"reply_text": ""}, "하늘", "T-2"),
    "no role": ({"user_message": "누구였지?"}, None, None),
    "a role in a longer one": ({"user_message": "여동생 기억나?"}, "하늘", "T-2"),
    "the first is given, the second not": ({"user_message": "여동생 기억나?", "reply_text": "하늘이다."}, "별", "T-3"),
    "the card's order": ({"user_message": "스승과 여동생"}, "하늘", "T-2"),
    "the source without a reply": ({"user_message": "스승은?"}, "검술원", "T-4"),
    "earlier by number": ({"turn_id": "T-10"}, "하늘", "T-2"),
    "before any naming": ({"turn_id": "T-1"}, None, None),
    "its own id is not earlier": ({"turn_id": "T-2"}, None, None),
    "decomposed message and reply": ({"user_message": nfd("동생?"), "reply_text": nfd("하늘이다.")}, None, None),
    "decomposed message": ({"user_message": nfd("동생?")}, "하늘", "T-2"),
    "a name inside a word answers": ({"reply_text": "하늘하늘하다."}, None, None),
}


@pytest.mark.parametrize("kind", ASKED)
def test_recall(kind: str) -> None:
    changes, target, source = ASKED[kind]
    row = turn(user_asked_recall=True, user_message="동생 이름은?", reply_text="글쎄.") | changes
    decided = decide(*EARLIER, row, card=card(entity_roles=ROLES)).record
    assert (decided["recall_target"], decided["recall_source_turn"]) == (target, source)
    assert (decided["verdict"] == FORGOT) is (target is not None)


def test_an_entity_is_recalled_in_either_spelling_and_quoted_as_the_card_has_it() -> None:
    roles = (Role(nfd("형"), nfd("솔")),)
    row = turn(turn_id="T-20", user_asked_recall=True, user_message="형은?", reply_text="글쎄.")
    decided = decide(*EARLIER, row, card=card(entity_roles=roles)).record
    assert (decided["recall_target"], decided["recall_source_turn"]) == (nfd("솔"), "T-12")
    assert decide(*EARLIER, row | {"reply_text": "솔이다."}, card=card(entity_roles=roles)).record["verdict"] == KEPT


# A turn with every breach at once, and what mends the first of them, one after the other.
EVERYTHING: Row = {
    "user_asked_recall": True,
    "user_message": "동생은?",
    "reply_text": "선거래요.",
    "named_entities": ["리안"],
}
MENDED: dict[str, Row] = {
    FORBIDDEN: {},
    OFF_CANON: {"reply_text": "그래요."},
    SPEECH: {"named_entities": []},
    FORGOT: {"reply_text": "글쎄."},
    KEPT: {"user_asked_recall": False},
}


def test_the_first_breach_in_the_order_of_the_catalogue_is_the_verdict_and_all_columns_stand() -> None:
    assert [str(check.verdict) for check in CHECKS] == list(MENDED)[:4]
    row = turn(**EVERYTHING)
    for mended, (word, changes) in enumerate(MENDED.items()):
        row |= changes
        decided = decide(*EARLIER, row).record
        assert decided["verdict"] == word
        assert (decided["touched_topic"] is not None) is (mended < 1)
        assert (decided["off_canon_entities"] == ["리안"]) is (mended < 2)
        assert (decided["rule_observed"] != decided["rule_expected"]) is (mended < 3)
        assert (decided["recall_target"] is not None) is (mended < 4)


T, C, L = "chat_turn", "character_card", "topic_lexicon"
REPLY, RULE, PERSON, ASKS = (T, "reply_text"), (C, "honorific_rule"), (T, "first_person"), (C, "first_person")
NULL_NAMES = (T, "named_entities")
# Turns and cards, and the rows of evidence: the column, and the value where it is not the turn's or the card's own.
EVIDENCE: dict[str, tuple[Row, Row, list[tuple[str, str] | tuple[str, str, Any]]]] = {
    "forbidden": (
        {"reply_text": "선거다."},
        {"forbidden_topics": (BETTING, nfd(POLITICS))},
        [REPLY, (L, "term", "선거"), (L, "topic", POLITICS), (C, "forbidden_topics", nfd(POLITICS))],
    ),
    "off canon": ({"named_entities": ["리안"]}, {}, [REPLY, (C, "canon_entities", "하늘"), (T, "turn_id")]),
    "off canon, no canon": ({"named_entities": ["리안"]}, {"canon_entities": ()}, [REPLY, (T, "turn_id")]),
    "speech": ({"reply_text": "가요.", "first_person": "저"}, {}, [REPLY, RULE, PERSON, ASKS]),
    "speech, level only": ({"reply_text": "가요."}, {}, [REPLY, RULE, PERSON, ASKS]),
    "speech, names null": (
        {"reply_text": "가요.", "named_entities": None},
        {},
        [REPLY, RULE, PERSON, ASKS, NULL_NAMES],
    ),
    "speech, no person": ({"reply_text": "가요.", "first_person": None}, {}, [REPLY, RULE, PERSON]),
    "speech, blank person": ({"reply_text": "가요.", "first_person": " "}, {}, [REPLY, RULE, PERSON]),
    "speech, no person on the card": ({"reply_text": "가요."}, {"first_person": None}, [REPLY, RULE, PERSON]),
    "kept": ({}, {}, [REPLY, RULE, PERSON, ASKS]),
    "kept, names null": ({"named_entities": None}, {}, [REPLY, RULE, PERSON, NULL_NAMES]),
    "kept, no person": ({"first_person": None}, {}, [REPLY, RULE, PERSON]),
    "kept, no person, names null": (
        {"first_person": None, "named_entities": None},
        {},
        [REPLY, RULE, PERSON, NULL_NAMES],
    ),
    "kept, no level": ({"reply_text": "OK"}, {}, [REPLY, RULE, PERSON]),
    "kept, no reply": ({"reply_text": None}, {}, [REPLY, RULE, PERSON]),
    "kept, no reply, names null": ({"reply_text": None, "named_entities": None}, {}, [REPLY, RULE, PERSON, NULL_NAMES]),
    "forgot": (
        {"user_asked_recall": True, "user_message": "동생은?", "reply_text": "글쎄."},
        {"canon_entities": (nfd("하늘"), "하늘")},
        [
            (T, "user_asked_recall"),
            (T, "user_message"),
            (C, "entity_roles", "동생"),
            (C, "canon_entities", nfd("하늘")),
            (T, "turn_id", "T-2"),
            (T, "reply_text", "하늘이다."),
            REPLY,
        ],
    ),
    "forgot, not canon": (
        {"user_asked_recall": True, "user_message": "스승은?", "reply_text": "글쎄."},
        {"canon_entities": ("하늘",), "entity_roles": (Role("스승", "검술원"),)},
        [
            (T, "user_asked_recall"),
            (T, "user_message"),
            (C, "entity_roles", "스승"),
            (C, "entity_roles", "검술원"),
            (T, "turn_id", "T-4"),
            (T, "reply_text", None),
            REPLY,
        ],
    ),
}


@pytest.mark.parametrize("kind", EVIDENCE)
def test_evidence_rows_are_the_designs(kind: str) -> None:
    changes, card_changes, wanted = EVIDENCE[kind]
    row, held = turn(**changes), card(**card_changes)
    own = {T: row.get, C: held._asdict().get}
    cells = [
        {"source": source, "field": field, "value": rest[0] if rest else own[source](field)}
        for source, field, *rest in wanted
    ]
    assert decide(*EARLIER, row, card=held).record["evidence"] == cells


SUMMARIES: dict[str, tuple[Row, Row]] = {
    "사전이 「현실 정치」로 묶어 둔 「선거」가 답장에 그대로 나와 카드가 막은 소재에 닿았습니다.": (
        {"reply_text": "선거다."},
        {},
    ),
    "카드에 없는 이름 「리안」이 이번 회차에 등장해 카드의 세계관을 벗어났습니다.": ({"named_entities": ["리안"]}, {}),
    "카드에 없는 이름 「리안」·「아카데미」가 이번 회차에 등장해 카드의 세계관을 벗어났습니다.": (
        {"named_entities": ["리안", "아카데미"]},
        {},
    ),
    "카드에 없는 이름 「가」·「나」·「다」 등 4개가 이번 회차에 등장해 카드의 세계관을 벗어났습니다.": (
        {"named_entities": ["가", "나", "다", "라"]},
        {},
    ),
    "말투는 카드대로 반말이지만 1인칭을 「나」가 아니라 「저」로 써 카드 규칙을 벗어났습니다.": (
        {"first_person": "저"},
        {},
    ),
    "답장 한 문장이 존댓말로 끝났지만 카드가 정한 말투는 반말입니다.": ({"reply_text": "가요."}, {}),
    "답장 2문장 가운데 1문장이 존댓말로 끝났지만 카드가 정한 말투는 반말입니다.": ({"reply_text": "가요. 간다."}, {}),
    "답장 2문장이 모두 존댓말로 끝났고 1인칭도 「저」를 써 카드가 정한 「반말 · 나」에서 두 가지 모두 벗어났습니다.": (
        {"reply_text": "가요. 갈게요.", "first_person": "저"},
        {},
    ),
    "유저가 「동생」을 물었는데 앞선 회차 「T-2」에 나온 「하늘」이 이번 답장에는 없습니다.": (
        {"user_asked_recall": True, "user_message": "동생은?", "reply_text": "글쎄."},
        {},
    ),
    "답장 한 문장이 반말로 끝났고 1인칭도 카드대로 「나」입니다.": ({}, {}),
    "답장 한 문장이 반말로 끝났고 카드가 정한 말투와 같습니다.": ({"first_person": None}, {}),
    "답장도 등장 이름도 비어 있어 카드와 견줄 수 있는 것이 없었습니다.": ({"reply_text": None}, {}),
    "답장이 비어 있어 등장 이름 1개만 견주었고 모두 카드에 있는 이름입니다.": (
        {"reply_text": None, "named_entities": ["하늘", "하늘"]},
        {},
    ),
    "답장에서 말투를 뽑지 못해 금지 소재만 찾아보았고 닿은 것은 0개입니다.": ({"reply_text": "OK"}, {}),
    "답장에서 말투를 뽑지 못해 등장 이름 1개와 금지 소재만 견주었고 벗어난 것은 0개입니다.": (
        {"reply_text": "OK", "named_entities": ["하늘"]},
        {},
    ),
    f"카드에 없는 이름 「{'긴' * 40}…」이 이번 회차에 등장해 카드의 세계관을 벗어났습니다.": (
        {"named_entities": ["긴" * 50]},
        {},
    ),
    "카드에 없는 이름 「아카데미 본관」이 이번 회차에 등장해 카드의 세계관을 벗어났습니다.": (
        {"named_entities": ["아카데미.\n 본관!"]},
        {},
    ),
}


@pytest.mark.parametrize("summary", SUMMARIES)
def test_summaries(summary: str) -> None:
    changes, card_changes = SUMMARIES[summary]
    assert decide(*EARLIER, turn(**changes), card=card(**card_changes)).record["summary"] == summary


# By check: its cases, and of each the words by which its dossier tells of it.
EXAMPLES: dict[str, dict[str, Iterable[str]]] = {
    "forbidden_topic": {kind: (str(case[0]),) for kind, case in TOUCHES.items()},
    "off_canon_name": {kind: case[0] or () for kind, case in NAMES.items()},
    "speech_level": {kind: (str(case[0]),) for kind, case in SPEAKING.items()},
    "recall": {kind: (str(case[0].get("reply_text")),) for kind, case in ASKED.items()},
}


def test_a_verdict_has_the_fifteen_keys_in_the_schemas_order() -> None:
    assert tuple(decide(turn()).record) == VERDICT_KEYS


def test_every_check_is_in_the_catalogue_and_has_a_whole_dossier() -> None:
    modules = [f"rules.checks.{module.name}" for module in pkgutil.iter_modules(rules.checks.__path__)]
    assert sorted(check.find.__module__ for check in CHECKS) == sorted(modules)
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    for check in CHECKS:
        assert check.find.__module__ == f"rules.checks.{check.name}"
        first, parts = dossier(ast.get_docstring(source(check)) or "")
        assert first.endswith(".")
        assert tuple(parts) == DOSSIER
        assert all(len(text) > 20 for text in parts.values())
        assert "design section 3" in parts["Source"]
        # What passes may be what is flagged, on another card.
        for kind, told in (("flags", parts["Flags"]), ("passes", parts["Flags"] + parts["Passes"])):
            assert any(word in told for word in EXAMPLES[check.name][f"dossier, {kind}"]), kind


def test_evidence_cites_columns_of_the_three_tables_only() -> None:
    for table, field in {(row[0], row[1]) for _, _, rows in EVIDENCE.values() for row in rows}:
        assert field in COLUMNS[table]
