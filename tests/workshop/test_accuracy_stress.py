import unicodedata

import pytest

from service.workshop.accuracy_stress import STRESSES

BY_NAME = {stress.name: stress for stress in STRESSES}
SAID, ASKED = "밥은 먹었어요. 너무 맛있었어요!", "밥 먹었어? 나도"
CASES = {
    "zero-width before the mark": ("밥은 먹었어요\u200b. 너무 맛있었어요\u200b!", "밥 먹었어\u200b? 나도\u200b"),
    "… for the mark": ("밥은 먹었어요… 너무 맛있었어요…", "밥 먹었어… 나도…"),
    "~ for the mark": ("밥은 먹었어요~ 너무 맛있었어요~", "밥 먹었어~ 나도~"),
    "emoji before the mark": ("밥은 먹었어요😊. 너무 맛있었어요😊!", "밥 먹었어😊? 나도😊"),
    "ㅋㅋ for the mark": ("밥은 먹었어요ㅋㅋ 너무 맛있었어요ㅋㅋ", "밥 먹었어ㅋㅋ 나도ㅋㅋ"),
    "full-width marks": ("밥은 먹었어요． 너무 맛있었어요！", "밥 먹었어？ 나도"),
    "line breaks for marks": ("밥은 먹었어요\n 너무 맛있었어요\n", "밥 먹었어\n 나도\n"),
    "decomposed (NFD)": (unicodedata.normalize("NFD", SAID), unicodedata.normalize("NFD", ASKED)),
    "*narration* added": (f"{SAID} *고개를 끄덕인다.*", f"{ASKED} *고개를 끄덕입니다.*"),
    "“reply” and narration": (f"“{SAID}” 그는 고개를 끄덕였다.", f"“{ASKED}” 그는 고개를 끄덕였습니다."),
    "another's words cited": (f'{SAID} 걔가 "알겠어."라고 했어요.', f'{ASKED} 걔가 "알겠어요."라고 했어.'),
    "vocative behind": ("밥은 먹었어요. 너무 맛있었어요 선배님!", "밥 먹었어? 나도 민호야."),
    "phrase behind": (
        "밥은 먹었어요. 너무 맛있었어요 지난번에 말한 그 가게에서!",
        "밥 먹었어? 나도 지난번에 말한 그 가게에서.",
    ),
    "요 as 용": ("밥은 먹었어용. 너무 맛있었어용!", None),
    "요 as 여": ("밥은 먹었어여. 너무 맛있었어여!", None),
    "요 as 욬": ("밥은 먹었어욬. 너무 맛있었어욬!", None),
}


def test_every_stress_has_a_case() -> None:
    assert set(CASES) == set(BY_NAME)


@pytest.mark.parametrize("name", CASES)
def test_stresses(name: str) -> None:
    stress, (polite, plain) = BY_NAME[name], CASES[name]
    assert stress.polite is not None
    assert stress.polite(SAID) == polite
    assert (stress.plain(ASKED) if stress.plain else None) == plain


@pytest.mark.parametrize("text", ["요즘 바빠요", "필요한 게 있어", "3.5점이에요", "요."])
def test_only_a_final_yo_is_spelled_otherwise(text: str) -> None:
    respelled = BY_NAME["요 as 용"].polite
    assert respelled is not None
    assert respelled(text) == {"요즘 바빠요": "요즘 바빠용", "3.5점이에요": "3.5점이에용"}.get(text, text)
