"""The canary's script is what the judge answers, whatever is loaded; and nobody else notices the canary."""

from itertools import islice
from typing import Any

import orjson
import pytest

from deciding import CAPS, CARD, turn
from rules.profile import SEED
from schemas.canary import CANARY_CHARACTER
from schemas.element import Namings, Position
from schemas.lexicon import Entry
from schemas.refusal import Reason, Refusal
from schemas.verdict import VERDICT_KEYS, VerdictWord
from service.canary.character import CANARY_CARD, with_canary
from service.canary.script import SCRIPT, Saying, differences, known_by, sayings
from service.decode import decode_card
from service.profiles import KNOWN, read_profiles
from service.snapshot import Snapshot, snapshot
from service.step import Accepted, DeadLetter, step, store

# Terms and topics that an operator may load, chosen to meet the script.
MEETING = [Entry("종탑", "여행", 1), Entry("유황불", "딴 소재", 2), Entry("나는", "딴 소재", 3)]
SNAPSHOTS = {
    "nothing loaded": snapshot([], [], SEED),
    "a lexicon that meets the script": snapshot([CARD], MEETING, SEED),
    "another default profile": snapshot([CARD], MEETING, *read_profiles("extended", None)),
}


def answers(known: Snapshot, session: str = "turnjudge-canary-r-0-0") -> list[Accepted | DeadLetter]:
    sessions: dict[str, Namings] = {}
    found = []
    for place in range(len(SCRIPT)):
        outcome = step(Saying(session, 0, place).value, Position(place, 0, None), sessions, known, CAPS)
        store(sessions, outcome.elements)
        found.append(outcome.result)
    return found


@pytest.mark.parametrize("known", SNAPSHOTS.values(), ids=SNAPSHOTS.keys())
def test_the_judge_gives_the_scripts_verdicts_whatever_is_loaded(known: Snapshot) -> None:
    for place, result in enumerate(answers(with_canary(known))):
        assert isinstance(result, Accepted), result.detail
        assert differences(place, result.value, "1" * 10) == []


def test_without_its_card_there_is_no_verdict() -> None:
    results = answers(SNAPSHOTS["nothing loaded"])
    assert [result.reason for result in results if isinstance(result, DeadLetter)] == [Reason.UNKNOWN_CHARACTER] * 5


def test_the_script_holds_each_verdict_once() -> None:
    assert sorted(line.verdict["verdict"] for line in SCRIPT) == sorted(VerdictWord)
    for line in SCRIPT:
        assert {*line.verdict, "session_id", "summary"} == set(VERDICT_KEYS)


def test_others_are_judged_as_without_it() -> None:
    known = SNAPSHOTS["a lexicon that meets the script"]
    record = orjson.dumps(turn(reply_text="나는 유황불을 봤어."))
    beside = step(record, Position(1, 0, None), {}, with_canary(known), CAPS)
    assert beside == step(record, Position(1, 0, None), {}, known, CAPS)
    assert with_canary(known).book.digest == known.book.digest
    assert CANARY_CHARACTER not in known.characters


def test_no_card_of_its_name_can_be_loaded() -> None:
    row = {"character_id": CANARY_CHARACTER, "honorific_rule": "반말", "canon_entities": [], "forbidden_topics": []}
    refused = decode_card(orjson.dumps({**row, "entity_roles": []}), CAPS, KNOWN)
    assert isinstance(refused, Refusal)
    assert refused.detail == "character_id: expected one that is not the canary's"
    assert not isinstance(
        decode_card(orjson.dumps({**row, "character_id": "C", "entity_roles": []}), CAPS, KNOWN), Refusal
    )


def verdict(place: int, **changes: Any) -> bytes:
    return orjson.dumps({**SCRIPT[place].verdict, "session_id": "s", "summary": "아무 말입니다.", **changes})


@pytest.mark.parametrize("column", sorted({*VERDICT_KEYS} - {"session_id", "summary"}))
@pytest.mark.parametrize("place", range(len(SCRIPT)))
def test_a_changed_column_is_a_difference(place: int, column: str) -> None:
    assert differences(place, verdict(place), "1" * 10) == []
    assert differences(place, verdict(place, **{column: "다른 값"}), "1" * 10) == [column]
    lacking = {name: value for name, value in orjson.loads(verdict(place)).items() if name != column}
    assert differences(place, orjson.dumps(lacking), "1" * 10) == [column]


@pytest.mark.parametrize(
    ("value", "checks", "found"),
    [
        (verdict(0), "1111111101", ["checks"]),
        (verdict(0), "", ["checks"]),
        (verdict(0, more=None), "1" * 10, ["more"]),
        (verdict(0, evidence=SCRIPT[0].verdict["evidence"][::-1]), "1" * 10, ["evidence"]),
        (b"not json", "1" * 10, sorted({*VERDICT_KEYS} - {"session_id", "summary"})),
        (b"[]", "1" * 10, sorted({*VERDICT_KEYS} - {"session_id", "summary"})),
    ],
)
def test_what_else_is_a_difference(value: bytes, checks: str, found: list[str]) -> None:
    assert differences(0, value, checks) == found


def test_turns_go_to_one_partition_after_the_other_and_a_session_holds_the_script_once() -> None:
    said = list(islice(sayings("r", 3), 3 * len(SCRIPT) * 2))
    assert [each.partition for each in said] == [0, 1, 2] * (2 * len(SCRIPT))
    for session in dict.fromkeys(each.session_id for each in said):
        assert [each.place for each in said if each.session_id == session] == list(range(len(SCRIPT)))
    assert len({each.key for each in said}) == len(said)
    assert {each.session_id for each in said}.isdisjoint(each.session_id for each in islice(sayings("other", 3), 30))


SESSION = "turnjudge-canary-r-0-0"
OWN = Saying(SESSION, 0, 2)


@pytest.mark.parametrize(
    ("key", "value", "known"),
    [
        (SESSION.encode(), OWN.value, OWN.key),
        (SESSION.encode(), orjson.dumps({**SCRIPT[2].verdict, "session_id": SESSION}), OWN.key),
        (b"S-1", OWN.value, None),
        (None, OWN.value, None),
        (SESSION.encode(), None, None),
        (SESSION.encode(), b"{", None),
        (SESSION.encode(), b"[1]", None),
        (SESSION.encode(), orjson.dumps({**SCRIPT[2].turn, "session_id": SESSION, "character_id": "C"}), None),
        (SESSION.encode(), orjson.dumps({**SCRIPT[2].turn, "session_id": 7}), None),
    ],
)
def test_its_records_are_known_and_nobody_elses(
    key: bytes | None, value: bytes | None, known: tuple[str, str] | None
) -> None:
    assert known_by(key, value) == known


def test_the_card_is_the_reserved_one() -> None:
    assert CANARY_CARD.character_id == CANARY_CHARACTER
    assert {line.turn["character_id"] for line in SCRIPT} == {CANARY_CHARACTER}
