"""The worker's step under `extended`: whatever comes in is judged, verified and judged alike again."""

import gc
import json
import time
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciding import judged_alike
from extended.reading import CAPS, HERE, PROFILES, card, entries, held, roles
from generate import cut
from rules.profile import SEED
from schemas.card import Card
from schemas.lexicon import Entry
from schemas.verdict import VerdictWord
from service.decode import Caps
from service.profiles import read_profiles
from service.snapshot import Snapshot, snapshot, wanted
from service.step import Accepted, step

PARTS = (
    *cut("가요|갔어|합니다|합니까|이오|소|는데|네|아|와|저는|과인|라고|했어|뭐|담요|ㅇㅇ"),
    *cut("별하|하늘|가람|이|가|야|씨|최|동생|여동생|누님|역장|내|이름"),
    *cut("술|노름|판돈|노~름|노 름|ㄴㅗㄹㅡㅁ|shfma|깍두기|깍두기김치|BTC|ㅗ"),
    *cut(' | |.|?|!|\n|~|ㅋㅋ|^^|😊|…|*|**|(|)|[|]|"|“|”|「|」'),
    *cut("\u200b|\u0301|\u1112|\u1161|\u11a8|ẞ|İ|．|http://a.b/|\u3164|\x00|가\u0301"),
)
texts = st.lists(st.sampled_from(PARTS), max_size=14).map("".join)
rows = st.fixed_dictionaries(
    {
        "turn_id": st.sampled_from(("T-1", "T-2", "T-10")),
        "session_id": st.just("S"),
        "character_id": st.just("C"),
        "model_id": st.just("m"),
        "user_message": st.none() | texts,
        "reply_text": st.none() | texts,
        "first_person": st.sampled_from((None, " ", "나", "저")),
        "honorific_level": st.sampled_from((None, "반말", "섞임")),
        "named_entities": st.none() | st.lists(texts, max_size=3),
        "user_asked_recall": st.sampled_from((None, True, True, False)),
    }
)
cards = st.builds(
    lambda rule, canon, topics, asked: card(
        honorific_rule=rule, canon_entities=tuple(canon), forbidden_topics=tuple(topics), entity_roles=roles(**asked)
    ),
    st.sampled_from(("반말", "존댓말")),
    st.lists(st.sampled_from(("별하", "하늘", "가람", "최시원", "Mira", "술")), max_size=4),
    st.lists(st.sampled_from(("소재", "다른 소재")), max_size=2),
    st.dictionaries(
        st.sampled_from(("동생", "여동생", "누나", "역장", "막내 동생", "\u200b")),
        st.sampled_from(("별하", "하늘", "가람", "최시원", "“”")),
        max_size=3,
    ),
)
LEXICON = entries(
    *("술", "노름", "판돈", ("깍두기", "any", "깍두기김치"), ("노름", "any")),
    *("BTC", "ㅗ", ("별", "any"), ("판돈걸이", "word")),
    Entry("술", "다른 소재", 9),
)


@settings(max_examples=600)
@given(st.lists(rows, min_size=1, max_size=4), cards)
def test_whatever_is_judged_passes_all_ten_checks_twice_alike(turns: list[Any], a_card: Card) -> None:
    assert len(list(judged_alike(turns, held(a_card, LEXICON)))) == len(turns)


def test_each_card_is_judged_by_its_own_profile() -> None:
    plain = card(honorific_rule="존댓말")
    row = {"turn_id": "T", "session_id": "S", "model_id": "m", "reply_text": "가십니까?"}
    two = [
        plain._replace(character_id=name, profile=profile)
        for name, profile in (("A", None), ("B", "seed"), ("C", "extended"))
    ]
    for default, of_default in (("seed", VerdictWord.SPEECH_BROKEN), ("extended", VerdictWord.KEPT)):
        against = snapshot(two, [], *read_profiles(default))
        results = [step(orjson.dumps(row | {"character_id": each}), HERE, {}, against, CAPS).result for each in "ABC"]
        assert all(isinstance(result, Accepted) for result in results)
        verdicts = [result.verdict for result in results if isinstance(result, Accepted)]
        assert verdicts == [of_default, VerdictWord.SPEECH_BROKEN, VerdictWord.KEPT]
        digests = [result.profile for result in results if isinstance(result, Accepted)]
        assert digests[0] == against.profile_digest
        assert digests[1] != digests[2]


def test_only_profiles_that_are_asked_for_are_made_ready() -> None:
    seed_first = (SEED, *PROFILES[:1])
    assert wanted([card()], seed_first) == (SEED,)
    assert wanted([card()._replace(profile="extended")], seed_first) == seed_first


GIANT = {
    "sentences": "가요. ",
    "one word": "가",
    "decomposed": "\u1100\u1161\u11a8요. ",
    "hidden marks": "가\u200b요.",
    "combining marks": "\u0323\u0301",
    "open narration": "*(",
    "open quotes": '"가',
    "terms": "노름노름",
    "terms apart": "노~름 ",
    "names": "하늘 ",
    "roles": "동생동생 ",
    "cries": "아 그랬네. ",
}


def spent_s(text: str, against: Snapshot) -> float:
    row = {"turn_id": "T", "session_id": "S", "character_id": "C", "model_id": "m", "named_entities": ["하늘"]}
    value = json.dumps(row | {"reply_text": text, "user_message": text, "user_asked_recall": True}).encode()
    gc.disable()  # a collection takes as long as all that the tests before left in memory
    try:
        begun = time.process_time()
        outcome = step(value, HERE, {}, against, Caps(max_record_bytes=64 * 1024 * 1024))
        spent = time.process_time() - begun
    finally:
        gc.enable()
    assert isinstance(outcome.result, Accepted), outcome.result.detail
    return spent


@pytest.mark.parametrize("unit", GIANT.values(), ids=GIANT.keys())
def test_a_giant_reply_takes_time_in_proportion_to_its_length(unit: str) -> None:
    against = held(card(canon_entities=("하늘",), entity_roles=roles(동생="하늘")), LEXICON)
    short, long = (min(spent_s(unit * (size // len(unit)), against) for _ in range(2)) for size in (20_000, 160_000))
    assert long < 24 * short + 0.05  # eight times the text; twice of it squared would be 64 times
