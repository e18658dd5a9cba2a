import pytest

from extended.reading import card, held, judged, named, read, roles, turn
from schemas.hedge import HedgeCode
from schemas.verdict import VerdictWord

# A canon name, a name of the turn, and whether the card knows it.
KNOWN = (
    ("별하", "별하", True),
    ("별하", "별하가", True),
    ("별하", "별하님이", True),
    ("별하", "별하 씨", True),
    ("별하", "별하이", False),
    ("가람", "가람이", True),
    ("가람", "가람이는", True),
    ("가람", "가람아", True),
    ("별하", "별하아", False),
    ("예은", "예은이가", True),
    ("영은", "영은", True),
    ("영은", "영", False),
    ("마리", "마리아", False),
    ("민지", "김민지", True),
    ("김민지", "민지", True),
    ("김민지", "박민지", False),
    ("Mira", " mira ", True),
    ("Mira", "“MIRA”", True),
    ("달빛 서점", "달빛서점에서", True),
    ("별", "별이", False),
    ("별하", "은별하", True),
    ("별하", "푸른별하", False),
)


@pytest.mark.parametrize(("canon", "name", "known"), KNOWN)
def test_a_name_is_known_through_what_is_written_on_to_it(canon: str, name: str, known: bool) -> None:
    record = judged(held(card(canon_entities=(canon,))), turn(reply_text="그래.", named_entities=[name])).record
    assert record["off_canon_entities"] == ([] if known else [name])
    assert (record["verdict"] == VerdictWord.OFF_CANON) is not known


def test_strangers_stand_once_in_the_turns_order_as_they_came() -> None:
    names = ["도담", "별하가", " 도담", "", "서리", '""', "도담이"]
    record = judged(held(card(canon_entities=("별하",))), turn(reply_text="그래.", named_entities=names)).record
    assert record["off_canon_entities"] == ["도담", "서리", "도담이"]


# Roles of the card, a message, and the roles it asks with.
ASKED = (
    ("동생", "내 동생 이름 기억나?", "동생"),
    ("동생", "여동생 말이야", "동생"),
    ("동생 여동생", "여동생 말이야", "여동생"),
    ("여동생 남동생", "동생 이름은?", "여동생 남동생"),
    ("친구", "여자친구 있어?", ""),
    ("형", "대형 인형 좋아해?", ""),
    ("형", "우리형은 어디 갔어?", "형"),
    ("형", "형님 성함이?", "형"),
    ("엄마", "어머니 성함이 어떻게 되셔?", "엄마"),
    ("누나", "누님은?", "누나"),
    ("친구 소꿉친구", "소꿉친구 이름은?", "소꿉친구"),
    ("역장", "역장님은 어디 계셔?", "역장"),
    ("딸", "딸기 좋아해?", ""),
    ("외할머니", "할머니 생신이 언제야?", "외할머니"),
)


@pytest.mark.parametrize(("on_card", "message", "asked"), ASKED)
def test_a_message_asks_with_the_longest_word(on_card: str, message: str, asked: str) -> None:
    against = held(card(entity_roles=roles(**{role: f"별하{place}" for place, role in enumerate(on_card.split())})))
    reading = read(against, turn(reply_text="글쎄.", user_message=message, user_asked_recall=True))
    assert " ".join(each.role.role for each in reading.asked or ()) == asked


# A role's entity, the name an earlier turn had, the reply, and what becomes of it.
FORGOT, KEPT, UNSURE = "forgot", "kept", "unsure"
RECALLED = (
    ("별하", "별하", "글쎄.", FORGOT),
    ("별하", "별하가", "글쎄.", FORGOT),
    ("별하", "도담", "글쎄.", KEPT),
    ("별하", "별하", "별하잖아.", KEPT),
    ("별하", "별하", "은별하가 왔지.", UNSURE),
    ("별하", "별하", "샛별하고 같이.", FORGOT),
    ("하늘", "하늘이", "오늘 하늘이 참 맑네.", UNSURE),
    ("하늘", "하늘", "하늘이가 왔잖아.", KEPT),
    ("하늘", "하늘", "하늘 씨 말이지?", KEPT),
    ("하늘", "하늘", "우리 하늘님 말이지?", KEPT),
    ("하늘", "하늘", "글쎄.", FORGOT),
    ("김민지", "민지", "민지잖아.", UNSURE),
    ("김민지", "민지", "민지 씨잖아.", KEPT),
)


@pytest.mark.parametrize(("entity", "before", "reply", "becomes"), RECALLED)
def test_a_name_is_forgotten_only_when_nothing_may_be_it(entity: str, before: str, reply: str, becomes: str) -> None:
    against = held(card(entity_roles=roles(동생=entity), canon_entities=(entity,)))
    asking = turn(reply_text=reply, user_message="동생 이름은?", user_asked_recall=True)
    result = judged(against, asking, named(**{before: "T_1"}))
    forgot = result.record["verdict"] == VerdictWord.FORGOT
    assert forgot == (becomes == FORGOT)
    assert (result.record["recall_target"] == entity) == forgot
    assert (HedgeCode.RECALL_UNSURE in result.codes) == (becomes == UNSURE)
    assert (HedgeCode.RECALL_NOT_NAMED in result.codes) == (before == "도담")


def test_the_source_is_the_earliest_turn_under_any_of_the_names() -> None:
    against = held(card(entity_roles=roles(동생="하늘")))
    asking = turn(reply_text="글쎄.", user_message="동생은?", user_asked_recall=True)
    record = judged(against, asking, named(하늘="T_5", 하늘이="T_3", 하늘님="T_10", 도담="T_1")).record
    assert record["recall_source_turn"] == "T-3"
    assert record["evidence"][5]["value"] == "하늘이 얘기"


def test_roles_of_one_place_are_answered_together() -> None:
    against = held(card(entity_roles=roles(여동생="별하", 남동생="가람")))
    asking = turn(reply_text="가람이 말이지?", user_message="동생 이름은?", user_asked_recall=True)
    result = judged(against, asking, named(별하="T_1", 가람="T_2"))
    assert result.record["verdict"] == VerdictWord.KEPT
    assert HedgeCode.ROLES_OVERLAP in result.codes


def test_a_role_or_name_that_shows_nothing_asks_for_nobody() -> None:
    against = held(card(entity_roles=roles(동생="“”", **{"\u200b": "하늘"}), canon_entities=("“”",)))
    asking = turn(reply_text="글쎄.", user_message="동생은?", user_asked_recall=True, named_entities=["하늘"])
    result = judged(against, asking, named(하늘="T_1"))
    assert [code for code in result.codes if code.startswith("recall")] == [HedgeCode.RECALL_NOT_NAMED]
    assert result.record["recall_target"] is None
