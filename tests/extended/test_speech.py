from unicodedata import normalize

import pytest

from extended.reading import PROFILE, card, held, judged, turn
from rules.extended.fold import Folding
from rules.extended.speech import Hearing
from schemas.verdict import VerdictWord

FOLDING, HEARING = Folding(PROFILE.fold), Hearing(PROFILE.speech)
POLITE, PLAIN, MIXED, OLD, UNCLEAR, NONE = "존댓말", "반말", "섞임", "하오체", "불명", None

SAID: tuple[tuple[str, str | None], ...] = (
    ("등불을 켜 두었습니까?", POLITE),
    ("이제 걸읍시다.", POLITE),
    ("조심히 가십쇼!", POLITE),
    ("굽어살피소서.", POLITE),
    ("금방 간다니까욧!", POLITE),
    ("벌써 다 왔어여~", POLITE),
    ("도착했슴다", POLITE),
    ("보냈습니당ㅋㅋ", POLITE),
    ("다녀왔습니다아아!", POLITE),
    ("알겠어욬ㅋㅋ", POLITE),
    ("네.", POLITE),
    ("아뇨, 네.", POLITE),
    ("저도 같이 가고 싶었는데.", POLITE),
    ("가죠 뭐.", POLITE),
    ("등대로 갈까요 아니면 우체국으로", POLITE),
    ("와 별이 진짜 많다! 여기 앉으세요.", POLITE),
    ("열쇠를 어디에 뒀나? 아, 여기 있어요.", POLITE),
    ("그건 내 몫이 아니다.", PLAIN),
    ("저 사람은 우리 언니다.", PLAIN),
    ("같이 갈게", PLAIN),
    ("밥은 먹었냐", PLAIN),
    ("비가 오니까.", PLAIN),
    ("아무도 안 오는데 뭐.", PLAIN),
    ("ㅇㅇ ㄱㄱ ㅋㅋ", PLAIN),
    ("그래, 알겠어. *고개를 숙이며 인사합니다.*", PLAIN),
    ("흥, 안 기뻐. [호감도가 올랐습니다.]", PLAIN),
    ('걔가 "지금 가요."라고 했어.', PLAIN),
    ("뭐 하세요? 라고 물어봤어.", PLAIN),
    ("“늦었잖아.” 그는 한숨을 쉬었습니다.", PLAIN),
    ("다음에 봐. https://a.example/가요.", PLAIN),
    ("네 알겠어요\n나 먼저 갈게", MIXED),
    ("당연하죠ㅎㅎ 근데 너 밥은 먹었냐", MIXED),
    ("고맙소. 그대 덕에 살았소.", OLD),
    ("과인이 이 나라의 왕이요.", OLD),
    ("자네 거기서 뭐 하는 거요?", OLD),
    ("이 담요!", UNCLEAR),
    ("글쎄. 음.", UNCLEAR),
    ("*조용히 걸어간다*", UNCLEAR),
    ("OK, see you.", NONE),
    ("ㅋㅋㅋ", NONE),
    ("", NONE),
)


def level(text: str, *names: str) -> str | None:
    speech = HEARING.hear(FOLDING.fold(text), frozenset(names)).speech
    return UNCLEAR if speech.unclear else speech.level


@pytest.mark.parametrize(("text", "heard"), SAID)
def test_a_reply_is_heard_as_a_reader_hears_it(text: str, heard: str | None) -> None:
    assert level(text) == heard
    assert level(normalize("NFD", text)) == heard


@pytest.mark.parametrize(("text", "heard"), [row for row in SAID if row[0].endswith(".") and "라고" not in row[0]])
@pytest.mark.parametrize("tail", ["~", "…", "ㅋㅋ", "😊", " ^^", "\u200b.", "！", "\u3164."])
def test_what_stands_for_the_mark_changes_nothing(text: str, heard: str | None, tail: str) -> None:
    assert level(text[:-1] + tail) == heard


def test_a_sentence_that_ends_in_a_name_of_the_card_says_nothing() -> None:
    assert level("범인은 김다해!") == PLAIN
    assert level("범인은 김다해!", "김다해") == UNCLEAR


@pytest.mark.parametrize(
    ("rule", "reply", "verdict", "observed"),
    [
        ("존댓말", "걸읍시다.", VerdictWord.KEPT, "존댓말 · 나"),
        ("존댓말", "네 알겠어요. 나 먼저 갈게.", VerdictWord.SPEECH_BROKEN, "섞임 · 나"),
        ("반말", "네 알겠어요. 나 먼저 갈게.", VerdictWord.SPEECH_BROKEN, "섞임 · 나"),
        ("존댓말", "고맙소.", VerdictWord.KEPT, "하오체 · 나"),
        ("반말", "고맙소.", VerdictWord.KEPT, "하오체 · 나"),
        ("존댓말", "이 담요!", VerdictWord.KEPT, None),
        ("존댓말", "OK.", VerdictWord.KEPT, None),
        ("존댓말", "갈게.", VerdictWord.SPEECH_BROKEN, "반말 · 나"),
        ("존댓말", "저도 가고 싶었는데.", VerdictWord.KEPT, "존댓말 · 나"),
    ],
)
def test_the_verdict_of_each_level(rule: str, reply: str, verdict: VerdictWord, observed: str | None) -> None:
    record = judged(held(card(honorific_rule=rule, canon_entities=("별하",))), turn(reply_text=reply)).record
    assert (record["verdict"], record["rule_observed"]) == (verdict, observed)


def test_another_first_person_breaks_a_card_in_old_speech_too() -> None:
    record = judged(held(card()), turn(reply_text="고맙소.", first_person="과인")).record
    assert record["verdict"] == VerdictWord.SPEECH_BROKEN
    assert record["summary"] == (
        "답장이 하오체(1문장)로 들렸고 1인칭을 「나」가 아니라 「과인」으로 써 카드 규칙을 벗어났습니다."
    )


@pytest.mark.parametrize(
    ("reply", "summary"),
    [
        ("네 알겠어요. 나 먼저 갈게.", "답장에 존댓말 1문장과 반말 1문장이 섞였지만 카드가 정한 말투는 반말입니다."),
        ("갈게. 이 담요!", "말끝이 드러난 답장 한 문장이 반말로 끝났고 1인칭도 카드대로 「나」입니다."),
        ("고맙소.", "답장이 하오체(1문장)로 들렸고 카드가 정한 반말에 어긋난 문장은 0개입니다."),
        ("저도 그때.", "답장에 높임말 어미는 없어도 낮춤말이 있어 존댓말로 들렸지만 카드가 정한 말투는 반말입니다."),
    ],
)
def test_the_summary_says_what_was_heard(reply: str, summary: str) -> None:
    assert judged(held(card()), turn(reply_text=reply)).record["summary"] == summary
