from unicodedata import normalize

import pytest

from extended.reading import card, entries, held, judged, read, turn
from schemas.hedge import HedgeCode
from schemas.lexicon import Entry
from schemas.verdict import VerdictWord
from schemas.witness import Tier, Way

FORBIDDING = card(forbidden_topics=("소재",), canon_entities=("별하",))

# A term (with its mode and innocent contexts), a reply, and how the term is met: h a hit, r for review, - not at all.
MET: tuple[tuple[str | tuple[str, ...], str, str], ...] = (
    ("술", "술을 끊었어.", "h"),
    ("술", "예술과 기술, 마술 이야기.", "-"),
    ("술", "술탄이 왔어.", "-"),
    ("술", "술마시러 가자.", "h"),
    ("판돈", "판돈까지 걸었어.", "h"),
    ("판돈", "판돈걸이 놀이.", "r"),
    ("판돈", "큰판돈을 걸었어.", "-"),
    ("판돈", "불법판돈이야.", "h"),
    ("정치", "정치인들은 다 그래.", "h"),
    ("살인", "몇살인가요?", "-"),
    ("노름", "노름하지 마.", "h"),
    ("노름", "노 름 은 그만.", "h"),
    ("노름", "노~름은 그만.", "h"),
    ("노름꾼", "노.름.꾼이래.", "h"),
    ("노름꾼", "노.름꾼이래.", "-"),
    ("노름", "피아노 름름", "-"),
    ("노름", "ㄴㅗㄹㅡㅁ", "h"),
    ("노름", "shfma", "-"),
    (("노름", "any"), "shfma", "h"),
    (("노름", "any"), "ㄴ름이야", "h"),
    (("노름", "any"), "ㅋㅋㄴ름", "-"),
    (("노름", "any"), "피아노름름", "h"),
    (("노름", "any", "피아노름름"), "피아노 름름", "-"),
    (("노름", "any", "피아노름름"), "피아노름름", "-"),
    (("노름", "any", "피아노름름"), "노름이 최고", "h"),
    ("BTC", "btc 샀어", "h"),
    ("BTC", "abtc 샀어", "-"),
    ("ㅗ", "ㅗ 그만해", "h"),
    ("ㅗ", "ㅗㅗㅗ", "-"),
    ("노름", "노\u200b름 얘기", "h"),
    ("노름", normalize("NFD", "노름 얘기"), "h"),
    (normalize("NFD", "노름"), "노름 얘기", "h"),
    (" 노름 ", "노름 얘기", "h"),
    ("\uf914", "\u6a02이야", "h"),
)


@pytest.mark.parametrize(("term", "reply", "met"), MET)
def test_a_term_is_met_as_a_reader_meets_it(term: str | tuple[str, ...], reply: str, met: str) -> None:
    against = held(FORBIDDING, entries(term))
    reading, result = read(against, turn(reply_text=reply)), judged(against, turn(reply_text=reply))
    assert ("h" if reading.hits else "r" if reading.review else "-") == met
    assert (result.record["verdict"] == VerdictWord.FORBIDDEN) == (met == "h")
    assert (HedgeCode.TERM_REVIEW in result.codes) == (met == "r")
    assert (result.record["touched_topic"] is not None) == (met == "h")


def test_a_witness_stands_on_the_original_text() -> None:
    reply = normalize("NFD", "그 ") + "노\u200b름을 해."
    (witness,) = read(held(FORBIDDING, entries("노름")), turn(reply_text=reply)).witnesses.terms  # type: ignore[union-attr]
    assert (witness.rank, witness.tier, witness.way) == (0, Tier.HIT, Way.WHOLE)
    assert reply[witness.start : witness.end] == "노\u200b름"


def test_a_term_of_several_topics_is_met_in_all_and_the_first_forbidden_decides() -> None:
    rows = [Entry("노름", "가", 1), Entry("노름", "나", 2), Entry("노름판", "나", 0)]
    record = judged(held(card(forbidden_topics=("나",)), rows), turn(reply_text="노름판 말고 노름.")).record
    assert (record["touched_term"], record["touched_topic"]) == ("노름판", "나")
    record = judged(held(card(forbidden_topics=("가",)), rows), turn(reply_text="노름판 말고 노름.")).record
    assert (record["touched_term"], record["touched_topic"]) == ("노름", "가")
    assert judged(held(card(), rows), turn(reply_text="노름")).record["touched_topic"] is None


def test_review_is_said_of_forbidden_topics_only_and_not_of_a_term_that_was_touched() -> None:
    rows = entries("판돈", "놀이판")
    both = turn(reply_text="판돈걸이 판돈. 놀이판깔기.")
    hedge = judged(held(FORBIDDING, rows), both).record["hedge"] or ""
    assert "「놀이판」" in hedge
    assert "판돈" not in hedge
    assert HedgeCode.TERM_REVIEW not in judged(held(card(), rows), both).codes


def test_more_terms_for_review_are_counted() -> None:
    rows = entries("판돈", "놀이판", "노름")
    hedge = judged(held(FORBIDDING, rows), turn(reply_text="판돈걸이 놀이판깔기 노름터네.")).record["hedge"] or ""
    assert "(「판돈」 외 2개)" in hedge
