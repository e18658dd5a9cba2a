from typing import NamedTuple

import pytest

from rules.extended.nouns import Followers
from schemas.lexicon import Entry
from service.profiles.tables import shipped
from service.workshop.concordance import concordance
from service.workshop.proposing import Proposal, inside_nouns, is_anywhere, propose
from service.workshop.words import homographs

FOLLOWERS = Followers(shipped().nouns)
INSULT, SUBJECT = True, False


def proposed(entry: Entry, lines: list[str], *, anywhere: bool) -> Proposal:
    [found] = concordance([entry.term], lines)
    nouns = inside_nouns([entry.term], shipped().nouns).get(entry.term, ())
    return propose(entry, found, anywhere=anywhere, followers=FOLLOWERS, nouns=nouns)


class Case(NamedTuple):
    term: str
    lines: list[str]
    anywhere: bool
    mode: str | None
    contexts: tuple[str, ...]


CASES = {
    "a subject is a word": Case("카지노", [], SUBJECT, "word", ()),
    "an insult stands anywhere": Case("바보멍청", [], INSULT, "any", ()),
    "an insult inside one other word": Case("멍텅", ["두멍텅은 물가래"], INSULT, "any", ("두멍텅",)),
    "an insult inside two other words": Case("멍텅", ["두멍텅은 뭐야", "세멍텅도 있어"], INSULT, "word", ()),
    "inside the same word twice": Case("멍텅", ["두멍텅은 뭐야", "두멍텅도 있어"], INSULT, "any", ("두멍텅",)),
    "the beginning of another word": Case("멍텅", ["멍텅구리배를 봤어"], INSULT, "any", ("멍텅구리배",)),
    "a word of its own is for the creator": Case("멍텅", ["저 멍텅이 또 왔네"], INSULT, "any", ()),
    "a compound of a subject is for the creator": Case("정치", ["정치인들은 바빠"], SUBJECT, "word", ()),
    "another word that begins like a subject": Case("소주", ["소주잔에 물 따라"], SUBJECT, "word", ("소주잔",)),
    "one syllable of a subject": Case("담", ["속담이 떠올라", "담이 높아"], SUBJECT, "word", ()),
    "nouns of the table hold it": Case("자지", [], INSULT, "word", ()),
    "Latin": Case("btc", ["btc 샀어"], INSULT, None, ()),
    "jamo": Case("ㅗ", ["ㅗㅜㅑ"], INSULT, None, ()),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_proposals(case: Case) -> None:
    proposal = proposed(Entry(case.term, "소재", 1), case.lines, anywhere=case.anywhere)
    known = homographs().get(case.term)
    found = tuple(context for context in proposal.except_ if known is None or context not in known.contexts)
    assert (proposal.mode, found) == (case.mode, case.contexts)


def test_known_contexts_come_with_their_sense() -> None:
    proposal = proposed(Entry("시발", "욕설", 1), ["여기가 시발점이야"], anywhere=INSULT)
    assert proposal.mode == "any"
    assert proposal.except_ == ("시발점", "시발역", "시발택시")
    assert proposal.reasons[-1] == "다른 뜻으로 쓰인 문맥을 뺐습니다: 처음 떠나는 곳."


def test_what_the_creator_wrote_stays() -> None:
    entry = Entry("시발", "욕설", 1, "word", ("시발점",))
    proposal = proposed(entry, ["여기가 시발점이야"], anywhere=INSULT)
    assert proposal.mode == "word"
    assert proposal.except_ == ("시발점", "시발역", "시발택시")


def test_a_context_that_holds_another_is_not_added() -> None:
    entry = Entry("시발", "욕설", 1, None, ("시발",))
    assert proposed(entry, ["여기가 시발점이야"], anywhere=INSULT).except_ == ("시발",)


@pytest.mark.parametrize(
    ("topic", "named", "expected"),
    [
        ("욕설", (), True),
        ("비속어와 욕", (), True),
        ("성차별·혐오", (), True),
        ("도박", (), False),
        ("도박", ("도박",), True),
        ("현실 정치", ("현실  정치",), True),
        ("정치", ("현실 정치",), False),
    ],
)
def test_topics_that_are_meant_anywhere(topic: str, named: tuple[str, ...], expected: bool) -> None:
    assert is_anywhere(topic, named) is expected


def test_a_noun_and_its_particle_hold_a_term() -> None:
    nouns = shipped().nouns._replace(common=("참새", "하늘"))
    assert inside_nouns(["새까", "늘이", "하늘", "새"], nouns) == {"새까": ("참새까지",), "늘이": ("하늘이",)}
