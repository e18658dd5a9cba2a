"""The working agrees with the judge, and points at the text as it came."""

import json
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import generate
from deciding import CAPS, CARD, LEXICON, against, turn
from extended import test_step as odd
from extended.reading import HERE, card, entries, held, named, roles
from rules.earlier import additions
from rules.judge import Judged, judge
from rules.places import Unmet
from rules.working import Gap, State, Working, working
from schemas.card import Card
from schemas.element import Namings, Position
from schemas.lexicon import Entry
from schemas.nfc import nfc
from schemas.refusal import Refusal
from schemas.turn import Turn
from schemas.verdict import Level, Observed, VerdictWord
from schemas.witness import Tier
from service.decode import decode_card, decode_entry, decode_turn
from service.profiles import KNOWN, read_profiles
from service.snapshot import Snapshot, snapshot
from service.step import store
from services import SHARED

Row = dict[str, Any]
COLUMNS = (
    *("rule_expected", "rule_observed", "off_canon_entities", "touched_term", "touched_topic"),
    *("recall_target", "recall_source_turn"),
)
PROFILES = ("seed", "extended")


def both(a_turn: Turn, known: Snapshot, namings: Namings, position: Position) -> tuple[Judged, Working]:
    character = known.characters[a_turn.character_id]
    reader = known.book.desks[character.profile].reader
    return judge(a_turn, character.facts, reader, namings, position), working(
        a_turn, character.facts, reader, namings, position
    )


def agreed(a_turn: Turn, known: Snapshot, namings: Namings, position: Position) -> Working:
    """Work a turn out, and hold the conclusion to the judge's."""
    judged, shown = both(a_turn, known, namings, position)
    assert shown.verdict == judged.record["verdict"]
    assert shown.columns == {name: dict(judged.record)[name] for name in COLUMNS}
    assert [result.verdict for result in shown.results if result.state is State.DECIDED] == [shown.verdict]
    points_into_the_text(a_turn, shown)
    return shown


def points_into_the_text(a_turn: Turn, shown: Working) -> None:
    reply, message, met = a_turn.reply_text or "", a_turn.user_message or "", shown.met
    of_reply = [span for piece in met.speech.pieces for span in (piece.place, piece.last)]
    of_reply += [heard.place for piece in met.speech.pieces for heard in piece.heard]
    of_reply += [place.place for term in met.terms or () for place in term.places]
    of_reply += [place for name in met.names or () for place in name.places]
    of_reply += [place for role in met.roles or () for place in role.said]
    for text, spans in ((reply, of_reply), (message, [place for role in met.roles or () for place in role.asked])):
        for start, end in spans:
            assert 0 <= start < end <= len(text)


def rows_of(rows: Iterable[Row], decoded: Any) -> list[Any]:
    records = [decoded(orjson.dumps(row)) for row in rows]
    assert not any(isinstance(record, Refusal) for record in records)
    return records


def known_by(profile: str, cards: Iterable[Row], lexicon: Iterable[Row]) -> Snapshot:
    return snapshot(
        rows_of(cards, lambda value: decode_card(value, CAPS, KNOWN)),
        rows_of(lexicon, lambda value: decode_entry(value, CAPS)),
        *read_profiles(profile),
    )


def worked(known: Snapshot, turns: Iterable[Row]) -> Iterator[tuple[Turn, Working]]:
    sessions: dict[str, Namings] = {}
    for offset, row in enumerate(turns):
        a_turn, position = decode_turn(orjson.dumps(row), CAPS), Position(offset, 0, None)
        assert isinstance(a_turn, Turn)
        namings = sessions.get(a_turn.session_id, {})
        if a_turn.character_id in known.characters:
            yield a_turn, agreed(a_turn, known, namings, position)
        store(sessions, additions(a_turn, namings, position))


@pytest.mark.parametrize("profile", PROFILES)
def test_generated_turns_come_to_the_judges_verdict_and_columns(profile: str) -> None:
    rng = random.Random(8)
    cards, lexicon = generate.make_cards(rng, 12), generate.make_lexicon(rng, 60)
    known = known_by(profile, cards, lexicon)
    verdicts: Counter[str] = Counter()
    states: Counter[tuple[str, State]] = Counter()
    gaps: set[Gap | None] = set()
    for a_turn, shown in worked(known, generate.make_turns(rng, 3000, cards, lexicon, 120)):
        verdicts[shown.verdict] += 1
        states.update((result.verdict, result.state) for result in shown.results)
        gaps.update(result.gap for result in shown.results)
        if profile == "seed":
            the_places_read_as_the_card_and_lexicon_write_them(a_turn, shown)
    assert set(verdicts) == {word.value for word in VerdictWord}
    for word in (VerdictWord.OFF_CANON, VerdictWord.SPEECH_BROKEN, VerdictWord.FORGOT):
        assert states[word.value, State.HELD_LATER]
    assert gaps - {None} >= set(Gap) - ({Gap.LEVEL_UNCLEAR} if profile == "seed" else set())


@settings(max_examples=200, deadline=None)
@given(st.lists(odd.rows, min_size=1, max_size=4), odd.cards)
def test_odd_turns_come_to_the_judges_verdict_and_columns_under_extended(turns: list[Any], a_card: Card) -> None:
    assert len(list(worked(held(a_card, odd.LEXICON), turns))) == len(turns)


def the_places_read_as_the_card_and_lexicon_write_them(a_turn: Turn, shown: Working) -> None:
    reply, message = a_turn.reply_text or "", a_turn.user_message or ""
    for term in shown.met.terms or ():
        assert term.places
        assert all(nfc(term.term) in nfc(reply[slice(*place.place)]) for place in term.places)
    for role in shown.met.roles or ():
        assert role.asked
        assert all(nfc(role.role) in nfc(message[slice(*place)]) for place in role.asked)
        assert all(nfc(role.entity) in nfc(reply[slice(*place)]) for place in role.said)
        assert bool(role.said) == (nfc(role.entity) in nfc(reply))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.needs("shared")
def test_every_judging_case_comes_to_the_judges_verdict_and_columns(profile: str) -> None:
    cases = [json.loads(line) for line in (SHARED / "cases/judging.jsonl").read_text("utf-8").splitlines()]
    count = 0
    for case in cases:
        count += len(list(worked(known_by(profile, case["cards"], case["lexicon"]), case["turns"])))
    assert count > len(cases) / 2


@pytest.mark.parametrize("profile", PROFILES)
def test_the_words_that_are_shown_are_those_that_were_counted(profile: str) -> None:
    rng = random.Random(9)
    cards, lexicon = generate.make_cards(rng, 6), generate.make_lexicon(rng, 20)
    known = known_by(profile, cards, lexicon)
    for row in generate.make_turns(rng, 1500, cards, lexicon, 60):
        a_turn = decode_turn(orjson.dumps(row), CAPS)
        if not isinstance(a_turn, Turn) or a_turn.character_id not in known.characters:
            continue
        character = known.characters[a_turn.character_id]
        reader = known.book.desks[character.profile].reader
        speech = reader.read(a_turn, character.facts, {}, HERE).speech
        shown = working(a_turn, character.facts, reader, {}, HERE)
        levels = [heard.level for piece in shown.met.speech.pieces for heard in piece.heard if heard.told != "humble"]
        assert levels.count(Level.POLITE.value) == speech.polite
        assert levels.count(Level.PLAIN.value) == speech.plain
        assert levels.count(Observed.OLD.value) == speech.old


def work(row: Row, known: Snapshot | None = None, namings: Namings | None = None) -> Working:
    a_turn = decode_turn(orjson.dumps(row), CAPS)
    assert isinstance(a_turn, Turn)
    return agreed(a_turn, known or against(), namings or {}, HERE)


def states(shown: Working) -> list[tuple[State, Gap | None]]:
    return [(result.state, result.gap) for result in shown.results]


def test_a_later_verdict_that_also_holds_says_so() -> None:
    shown = work(turn(reply_text="선거 얘기는 그만해요.", named_entities=["도담"]))
    assert states(shown) == [
        (State.DECIDED, None),
        (State.HELD_LATER, None),
        (State.HELD_LATER, None),
        (State.NOT_COMPARED, Gap.NOT_ASKED),
        (State.NOTHING, None),
    ]


def test_nothing_to_compare_is_not_nothing_found() -> None:
    shown = work(turn(reply_text=None, named_entities=None, user_asked_recall=True, user_message="동생은?"))
    assert states(shown) == [
        (State.NOT_COMPARED, Gap.NO_REPLY),
        (State.NOT_COMPARED, Gap.NO_NAMES),
        (State.NOT_COMPARED, Gap.NO_REPLY),
        (State.NOT_COMPARED, Gap.NO_REPLY),
        (State.DECIDED, None),
    ]


@pytest.mark.parametrize("profile", PROFILES)
def test_offsets_point_into_a_decomposed_text(profile: str) -> None:
    reply = generate.nfd("각하, 선거 얘기로 하늘이 시끄럽다. 선거는 싫다.")
    known = snapshot([CARD], LEXICON, *read_profiles(profile))
    shown = work(turn(reply_text=reply, named_entities=["하늘"]), known)
    assert shown.met.terms is not None
    assert shown.met.names is not None
    term, name = shown.met.terms[0], shown.met.names[0]
    assert [nfc(reply[slice(*place.place)]) for place in term.places] == ["선거", "선거"]
    assert [nfc(reply[slice(*place)]) for place in name.places] == ["하늘"]
    assert [nfc(reply[slice(*piece.last)]) for piece in shown.met.speech.pieces] == ["시끄럽다", "싫다"]
    assert [piece.heard[0].level for piece in shown.met.speech.pieces] == ["반말", "반말"]


def test_overlapping_places_of_a_term_are_all_shown() -> None:
    shown = work(turn(reply_text="ㅋㅋㅋ 그래."), against(lexicon=(Entry("ㅋㅋ", "광고", 1),)))
    assert shown.met.terms is not None
    assert [place.place for place in shown.met.terms[0].places] == [(0, 2), (1, 3)]
    assert not shown.met.terms[0].forbidden


def test_under_extended_each_place_says_whether_it_counts_and_why_not() -> None:
    lexicon = entries(("깍두기", "any", "깍두기김치"), "술", "노름")
    known = held(card(forbidden_topics=("소재",)), lexicon)
    shown = work(turn(reply_text="깍두기김치는 깍두기 맛이야. 예술은 어려워. 노름꾼이 노~름 해."), known)
    assert shown.met.terms is not None
    by_term = {term.term: [(place.tier, place.unmet) for place in term.places] for term in shown.met.terms}
    assert by_term["깍두기"] == [(None, Unmet.EXCEPT), (Tier.HIT, None)]
    assert by_term["술"] == [(None, Unmet.PART)]
    assert by_term["노름"][-1] == (Tier.HIT, None)
    assert next(term.tier for term in shown.met.terms if term.term == "술") is None


def test_under_extended_a_sentence_that_tells_no_level_stands_without_one() -> None:
    shown = work(turn(reply_text="오늘도 커피. 늦었어. *웃어요*"), held(card()))
    assert [[heard.level for heard in piece.heard] for piece in shown.met.speech.pieces] == [[], ["반말"]]


def test_recall_shows_who_was_asked_for_the_earlier_turn_and_the_answer() -> None:
    known = held(card(canon_entities=("하람",), entity_roles=roles(동생="하람")))
    row = turn(user_message="내 동생 이름 기억나?", reply_text="하람이 말이지?", user_asked_recall=True)
    shown = work(row, known, named(하람="T_1"))
    assert shown.met.roles is not None
    (role,) = shown.met.roles
    assert (role.entity, role.source_turn, role.answered, role.unsure) == ("하람", "T-1", True, False)
    assert (role.asked, role.said) == (((2, 4),), ((0, 2),))
    assert states(shown)[3] == (State.NOTHING, None)


@pytest.mark.parametrize("unit", odd.GIANT.values(), ids=odd.GIANT.keys())
@pytest.mark.parametrize("profile", PROFILES)
def test_a_giant_reply_is_worked_out_in_calls_in_proportion_to_its_length(profile: str, unit: str) -> None:
    giant = card(canon_entities=("하늘",), entity_roles=roles(동생="하늘"))
    known = snapshot([giant], odd.LEXICON, *read_profiles(profile))

    def calls(size: int) -> int:
        """Count the calls, which no load of the machine changes as it does a time."""
        text = unit * (size // len(unit))
        a_turn = Turn("T", "S", "C", "m", text, text, "나", None, ["하늘"], True)
        reader, facts = known.book.desks[profile].reader, known.characters["C"].facts
        counted = count()
        sys.setprofile(lambda *_: next(counted))
        try:
            working(a_turn, facts, reader, {}, HERE)
        finally:
            sys.setprofile(None)
        return next(counted)

    short, long = calls(10_000), calls(80_000)
    assert long < 9 * short + 1_000  # eight times the text; twice of it squared would be 64 times
