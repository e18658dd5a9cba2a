import itertools
import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciding import CAPS, against, decide, turn
from rules.earlier import additions, earliest
from schemas.element import Element, Namings, Position
from schemas.turn import Turn
from service.step import step, store

NAME = "하늘"
TTL = 1000
ASKING: dict[str, Any] = {"user_asked_recall": True, "user_message": "동생 이름 기억나?", "reply_text": "글쎄."}


def element(offset: int, turn_id: str = "T-1", time_ms: int = 0) -> Element:
    return Element("S", NAME, offset, turn_id, f"답장 {offset}", time_ms)


def namings(*elements: Element) -> Namings:
    return {NAME: elements} if elements else {}


def naming_turn(turn_id: str, *names: str) -> Turn:
    return Turn(turn_id, "S", "C", "m", reply_text="답장", named_entities=list(names))


SEEN: dict[str, tuple[tuple[Element, ...], str, Position, int | None]] = {
    "nothing": ((), "T-9", Position(5, 0, None), None),
    "one": ((element(1),), "T-9", Position(5, 0, None), 1),
    "of its own offset": ((element(5),), "T-9", Position(5, 0, None), None),
    "of a greater offset": ((element(6),), "T-9", Position(5, 0, None), None),
    "of the offset before": ((element(4),), "T-9", Position(5, 0, None), 4),
    "of its own id": ((element(1, "T-9"),), "T-9", Position(5, 0, None), None),
    "of the same number with another zero": ((element(1, "T-09"),), "T-9", Position(5, 0, None), 1),
    "of a later id": ((element(1, "T-10"),), "T-9", Position(5, 0, None), None),
    "earliest by id, not by offset": ((element(1, "T-2"), element(2, "T-1")), "T-9", Position(5, 0, None), 2),
    "of equal ids the smaller offset": ((element(1), element(2)), "T-9", Position(5, 0, None), 1),
    "a moment before it expires": ((element(1, time_ms=1),), "T-9", Position(5, TTL, TTL), 1),
    "as it expires": ((element(1),), "T-9", Position(5, TTL, TTL), None),
    "long expired": ((element(1),), "T-9", Position(5, 9 * TTL, TTL), None),
    "expired, with a fresh one": ((element(1), element(2, "T-3", TTL)), "T-9", Position(5, TTL, TTL), 2),
    "of a time to come": ((element(1, time_ms=50),), "T-9", Position(5, 0, TTL), 1),
    "expired before the clock turned back": ((element(1, time_ms=-TTL),), "T-9", Position(5, 0, TTL), None),
}


@pytest.mark.parametrize("kind", SEEN)
def test_the_earliest_earlier_turn_is_found(kind: str) -> None:
    elements, turn_id, position, offset = SEEN[kind]
    found = earliest(NAME, turn_id, namings(*elements), position)
    assert (found and found.offset) == offset


ADDED: dict[str, tuple[tuple[Element, ...], str, Position, bool]] = {
    "a new name": ((), "T-2", Position(5, 0, TTL), True),
    "named by an earlier turn": ((element(1),), "T-2", Position(5, 0, TTL), False),
    "named by a later id": ((element(1, "T-3"),), "T-2", Position(5, 0, TTL), True),
    "named by its own id": ((element(1, "T-2"),), "T-2", Position(5, 0, TTL), True),
    "named at its own offset": ((element(5),), "T-2", Position(5, 0, TTL), True),
    "named at a greater offset": ((element(6),), "T-2", Position(5, 0, TTL), True),
    "as old as half the TTL": ((element(1),), "T-2", Position(5, TTL // 2, TTL), False),
    "older than half the TTL": ((element(1),), "T-2", Position(5, TTL // 2 + 1, TTL), True),
    "older than half the TTL, with a fresh one": (
        (element(1), element(2, "T-9", TTL // 2)),
        "T-2",
        Position(5, TTL - 1, TTL),
        False,
    ),
    "fresh, but only of a later id": ((element(2, "T-9", TTL // 2),), "T-2", Position(5, TTL - 1, TTL), True),
    "expired": ((element(1),), "T-2", Position(5, TTL, TTL), True),
    "never expires": ((element(1),), "T-2", Position(5, 10**15, None), False),
}


@pytest.mark.parametrize("kind", ADDED)
def test_a_turn_adds_an_element_where_its_name_has_none_that_will_do(kind: str) -> None:
    elements, turn_id, position, adds = ADDED[kind]
    made = Element("S", NAME, position.offset, turn_id, "답장", position.time_ms)
    assert additions(naming_turn(turn_id, NAME), namings(*elements), position) == ((made,) if adds else ())


@pytest.mark.parametrize(
    ("names", "added"),
    [
        ([], []),
        (["하늘", "별", "하늘"], ["하늘", "별"]),
        (["", " ", "\u3000", "별"], ["별"]),
        (["하늘", "\u1112\u1161\u1102\u1173\u11af"], ["하늘"]),
        (["\u1112\u1161\u1102\u1173\u11af"], ["하늘"]),
        ([" 별"], [" 별"]),
    ],
)
def test_names_are_folded_each_once_without_blanks(names: list[str], added: list[str]) -> None:
    made = additions(naming_turn("T-1", *names), {}, Position(0, 0, None))
    assert [element.name for element in made] == added


def test_a_turn_without_names_adds_nothing() -> None:
    assert additions(Turn("T-1", "S", "C", "m"), {}, Position(0, 0, None)) == ()


def test_store_keeps_each_element_once_in_the_order_of_offsets() -> None:
    elements = tuple(element(offset) for offset in range(4))
    for order in itertools.permutations(elements):
        sessions: dict[str, Namings] = {}
        store(sessions, (*order, *order[:2]))
        assert sessions == {"S": {NAME: elements}}


Event = tuple[str, list[str], bool, int, int]
events = st.lists(
    st.tuples(
        st.sampled_from(["T-1", "T-01", "T-2", "T-3", "T-10", "가"]),
        st.lists(st.sampled_from(["하늘", "검술원", "별"]), max_size=2),
        st.booleans(),
        st.sampled_from([0, 0, 1, 100, 499, 500, 501, 1000]),
        st.sampled_from([0, 0, 0, 300]),
    ),
    min_size=1,
    max_size=12,
)


def records(some: Iterable[Event]) -> list[tuple[bytes, Position]]:
    """Records of a partition: their time goes on, now and then back a little."""
    made, now = [], 5000
    for offset, (turn_id, names, asks, later, back) in enumerate(some):
        now += later
        row = turn(turn_id=turn_id, named_entities=names) | (ASKING if asks else {})
        made.append((json.dumps(row).encode(), Position(offset, now - back, TTL)))
    return made


@given(events, st.randoms(use_true_random=False))
def test_a_repeat_gives_the_same_bytes_and_elements_whatever_was_written_after_it(
    some: list[Event], order: Any
) -> None:
    sessions: dict[str, Namings] = {}
    first = []
    for value, position in records(some):
        outcome = step(value, position, sessions, against(), CAPS)
        store(sessions, outcome.elements)
        first.append(outcome)
    recovered: dict[str, Namings] = {}
    written = [element for outcome in first for element in outcome.elements] * 2
    order.shuffle(written)
    store(recovered, tuple(written))
    assert recovered == sessions
    again = [step(value, position, recovered, against(), CAPS) for value, position in records(some)]
    assert again == first


@given(events)
def test_where_ids_rise_a_name_of_the_last_half_of_the_ttl_is_known(some: list[Event]) -> None:
    sessions: dict[str, Namings] = {}
    named: dict[str, int] = {}
    now = 5000
    for offset, (_, names, _, later, _) in enumerate(some):
        now += later
        row, position = naming_turn(f"T-{offset}", *names), Position(offset, now, TTL)
        for name, last_ms in named.items():
            if (now - last_ms) * 2 < TTL:
                assert earliest(name, row.turn_id, sessions.get("S", {}), position) is not None
        store(sessions, additions(row, sessions.get("S", {}), position))
        named |= dict.fromkeys(names, now)


def test_another_sessions_names_are_not_known() -> None:
    naming = turn(turn_id="T-1", session_id="S-2", named_entities=[NAME], reply_text="하늘이다.")
    assert decide(naming, turn(**ASKING)).codes == ["recall_not_named"]
    assert decide(naming | {"session_id": "S"}, turn(**ASKING)).record["recall_source_turn"] == "T-1"


def test_sessions_are_compared_as_they_came() -> None:
    naming = turn(turn_id="T-1", session_id="가", named_entities=[NAME])
    assert decide(naming, turn(**ASKING, session_id="\u1100\u1161")).codes == ["recall_not_named"]
