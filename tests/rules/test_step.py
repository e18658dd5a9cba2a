import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciding import CAPS, CARD, LEXICON, against, decide, judged_alike, outcomes, turn
from rules.profile import SEED
from rules.verify import ALL_PASSED, verify
from schemas.card import Card, Role
from schemas.element import Namings, Position
from schemas.lexicon import Entry
from schemas.refusal import OURS, Reason
from schemas.turn import Turn
from schemas.validate import VERDICT
from service.decode import Caps
from service.snapshot import Snapshot, snapshot
from service.step import Accepted, DeadLetter, Outcome, step

FIRST = Position(0, 0, None)
SNAPSHOT = against()


def tried(value: bytes, caps: Caps = CAPS) -> Outcome:
    outcome = step(value, FIRST, {}, SNAPSHOT, caps)
    assert step(value, FIRST, {}, SNAPSHOT, caps) == outcome
    if isinstance(outcome.result, DeadLetter):
        assert outcome.result.reason not in OURS, outcome.result.detail
    return outcome


@given(st.binary(max_size=200))
def test_any_bytes_have_an_outcome(value: bytes) -> None:
    outcome = tried(value)
    assert outcome.elements == ()
    assert isinstance(outcome.result, DeadLetter)


json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(st.characters(), max_size=8),
        st.sampled_from(["T-1", "C", "동생은?", "하늘"]),
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
json_rows = st.dictionaries(st.sampled_from(Turn._fields) | st.text(max_size=4), json_values, max_size=12)


@given(json_values | json_rows | json_rows.map(lambda row: {**turn(), **row}))
def test_any_json_has_an_outcome(row: Any) -> None:
    # The standard encoder writes what is no JSON as well: NaN, infinities, lone surrogates.
    for ascii_only in (True, False):
        tried(json.dumps(row, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass"))


WHOLE = orjson.dumps(turn(named_entities=["하늘"]))


def with_field(name: str, text: bytes) -> bytes:
    return WHOLE[:-1] + b',"%s":%s}' % (name.encode(), text)


# Records of every bad kind, and good ones that look bad.
RECORDS: dict[str, tuple[bytes, Reason | None, str]] = {
    "empty": (b"", Reason.MALFORMED, "record: expected JSON by RFC 8259"),
    "bad UTF-8": (WHOLE.replace(b"T-9", b"\xff"), Reason.MALFORMED, "record: expected JSON by RFC 8259"),
    "bad UTF-8 in an unknown field": (with_field("note", b'"\xed\xa0\x80"'), Reason.MALFORMED, "record: expected JSON"),
    "UTF-16": (WHOLE.decode().encode("utf-16"), Reason.MALFORMED, "record: expected JSON by RFC 8259"),
    "byte order mark": (b"\xef\xbb\xbf" + WHOLE, Reason.MALFORMED, "record: expected JSON by RFC 8259"),
    "bad JSON": (WHOLE[:-1], Reason.MALFORMED, "record: expected JSON by RFC 8259"),
    "two values": (WHOLE + WHOLE, Reason.MALFORMED, "record: expected JSON by RFC 8259"),
    "NaN": (with_field("note", b"NaN"), Reason.MALFORMED, "record: expected JSON by RFC 8259"),
    "Infinity": (with_field("note", b"-Infinity"), Reason.MALFORMED, "record: expected JSON by RFC 8259"),
    "NaN beside a wide number": (with_field("note", b"[1e999, NaN]"), Reason.MALFORMED, "record: expected JSON by"),
    "lone surrogate": (with_field("note", rb'"\ud800"'), Reason.MALFORMED, "record: expected JSON by RFC 8259"),
    "lone surrogate beside a wide number": (
        with_field("note", rb'[1e999, "\udc00"]'),
        Reason.MALFORMED,
        "record: expected",
    ),
    "surrogate pair": (with_field("note", rb'"\ud83d\ude0a"'), None, ""),
    "100,000 deep": (b"[" * 100_000, Reason.MALFORMED, "record: expected JSON by RFC 8259 ("),
    "129 deep": (
        with_field("note", b"[" * 128 + b"]" * 128),
        Reason.MALFORMED,
        "record: expected JSON by RFC 8259 (nest",
    ),
    "128 deep": (with_field("note", b"[" * 127 + b"]" * 127), None, ""),
    "many brackets in a text": (with_field("note", b'"' + b"[{" * 5000 + b'"'), None, ""),
    "many brackets side by side": (with_field("note", b"[" + b",".join([b"[]"] * 5000) + b"]"), None, ""),
    "5,000 digits": (with_field("note", b"7" * 5000), None, ""),
    "5,000 digits for a name": (
        with_field("named_entities", b"[" + b"7" * 5000 + b"]"),
        Reason.SCHEMA_INVALID,
        "named_ent",
    ),
    "wide exponent": (with_field("note", b"-1e999"), None, ""),
    "control character": (with_field("note", b'"\x01"'), Reason.MALFORMED, "record: expected JSON by RFC 8259"),
    "NUL escaped": (with_field("reply_text", rb'"\u0000."'), None, ""),
    "2 MB": (with_field("note", b'"' + b"x" * 2**21 + b'"'), Reason.TOO_LARGE, "record: expected at most 262144 bytes"),
    "257 names": (
        with_field("named_entities", orjson.dumps(["x"] * 257)),
        Reason.TOO_LARGE,
        "named_entities: expected at most 256 names",
    ),
    "256 names": (with_field("named_entities", orjson.dumps(["하늘"] * 256)), None, ""),
    "null": (b"null", Reason.SCHEMA_INVALID, "row: expected object"),
    "array": (b"[]", Reason.SCHEMA_INVALID, "row: expected object"),
    "wrong type": (with_field("reply_text", b"1"), Reason.SCHEMA_INVALID, "reply_text: expected string or null"),
    "1 is not true": (
        with_field("user_asked_recall", b"1"),
        Reason.SCHEMA_INVALID,
        "user_asked_recall: expected boolean",
    ),
    "missing": (b"{}", Reason.SCHEMA_INVALID, "turn_id, session_id, character_id, model_id: expected to be there"),
    "blank": (with_field("model_id", b'"\\u3000"'), Reason.SCHEMA_INVALID, "model_id: expected text that is not blank"),
    "the last of equal keys wins": (with_field("turn_id", b'"T-10"'), None, ""),
    "the last of equal keys is wrong": (
        with_field("turn_id", b"null"),
        Reason.SCHEMA_INVALID,
        "turn_id: expected string",
    ),
    "unknown character": (
        with_field("character_id", b'"nobody"'),
        Reason.UNKNOWN_CHARACTER,
        "character_id: expected one that has a card",
    ),
    "a character in another spelling": (
        with_field("character_id", '"Ｃ"'.encode()),
        Reason.UNKNOWN_CHARACTER,
        "charac",
    ),
    "unknown fields": (with_field("note", b'{"a": [1, 2.5, null]}'), None, ""),
}


@pytest.mark.parametrize("kind", RECORDS)
def test_every_kind_of_record_has_its_outcome(kind: str) -> None:
    value, reason, detail = RECORDS[kind]
    result = tried(value).result
    if isinstance(result, Accepted):
        assert reason is None
    else:
        assert result.reason is reason
        assert result.detail.startswith(detail)


def test_only_records_that_decode_add_their_names() -> None:
    added = {kind: len(tried(value).elements) for kind, (value, _, _) in RECORDS.items()}
    for kind, (_, reason, _) in RECORDS.items():
        assert added[kind] == (1 if reason in (None, Reason.UNKNOWN_CHARACTER) else 0)


def test_the_last_of_equal_keys_wins() -> None:
    result = tried(RECORDS["the last of equal keys wins"][0]).result
    assert isinstance(result, Accepted)
    assert json.loads(result.value)["turn_id"] == result.turn.turn_id == "T-10"


def test_an_outcome_says_what_was_decided() -> None:
    [outcome] = outcomes([turn(reply_text="선거다.", first_person=None, named_entities=["하늘"])], SNAPSHOT)
    result = outcome.result
    assert isinstance(result, Accepted)
    record = json.loads(result.value)
    assert (
        (result.verdict, result.topic)
        == (record["verdict"], record["touched_topic"])
        == ("금지 소재 접촉", "현실 정치")
    )
    assert [code.value for code in result.codes] == ["first_person_null"]
    assert result.card == SNAPSHOT.characters["C"].digest
    assert [(each.session_id, each.name, each.offset) for each in outcome.elements] == [("S", "하늘", 0)]


def test_a_fault_of_a_rule_costs_its_turn_and_shows_no_value() -> None:
    desk = SNAPSHOT.book.desks["seed"]._replace(reader=None)  # type: ignore[arg-type]
    broken = SNAPSHOT._replace(book=SNAPSHOT.book._replace(desks={"seed": desk}))
    outcome = step(orjson.dumps(turn(named_entities=["하늘"])), FIRST, {}, broken, CAPS)
    assert isinstance(outcome.result, DeadLetter)
    assert outcome.result.reason is Reason.RULE_FAILED
    assert outcome.result.detail.startswith("rules: expected a verdict, got AttributeError at rules.judge:")
    assert len(outcome.elements) == 1


def test_a_verdict_that_the_second_reading_refuses_is_kept_with_its_marks() -> None:
    other = against(CARD._replace(honorific_rule="존댓말"))
    mixed = SNAPSHOT.characters["C"]._replace(grounds=other.characters["C"].grounds)
    outcome = step(orjson.dumps(turn()), FIRST, {}, SNAPSHOT._replace(characters={"C": mixed}), CAPS)
    assert isinstance(outcome.result, DeadLetter)
    assert outcome.result.reason is Reason.UNVERIFIED
    failed = [item for item, passed in enumerate(outcome.result.marks, start=1) if not passed]
    assert failed == [1, 3, 9]
    assert outcome.result.detail == "checks: expected all ten to pass, failed 1, 3, 9"
    assert outcome.result.refused is not None
    assert json.loads(outcome.result.refused) == decide(turn()).record


words = st.text(st.sampled_from("가나요죠다까십\u1112\u1161\u11abㅋ .?！。\n\x00\u200b\u30001aT-「…😊"), max_size=10)
names = st.one_of(st.sampled_from(["하늘", "\u1112\u1161\u1102\u1173\u11af", "별", "하늘하늘", " "]), words)
roles = st.sampled_from(["동생", "여동생", "생여", "동생\u3000", "형", "\u1112\u1167\u11bc"])
filled = words.map(lambda text: f"{text}가")
persons = st.none() | st.sampled_from(["나", "저", " ", "\u1102\u1161", ""]) | words
asked_for = st.lists(roles | words, max_size=4).map("".join)

turns = st.fixed_dictionaries(
    {
        "turn_id": st.sampled_from(["T-1", "T-2", "T-02", "T-10", "가", "1.5?\n"]) | filled,
        "session_id": st.just("S"),
        "character_id": st.just("C"),
        "model_id": filled,
        "user_message": st.none() | asked_for,
        "reply_text": st.none()
        | st.lists(names | words | st.sampled_from(["선거", "가요.", "가십니까?"]), max_size=5).map("".join),
        "first_person": persons,
        "honorific_level": persons | st.sampled_from(["반말", "존댓말"]),
        "named_entities": st.none() | st.lists(names, max_size=4),
        "user_asked_recall": st.sampled_from([True, True, False, None]),
    }
)
cards = st.builds(
    Card,
    st.just("C"),
    st.sampled_from(["반말", "존댓말"]),
    persons,
    st.lists(names.filter(str.strip), max_size=3).map(tuple),
    st.lists(st.sampled_from(["현실 정치", "도박"]) | filled, max_size=3).map(tuple),
    st.lists(st.builds(Role, roles | filled, names.filter(str.strip)), max_size=4).map(tuple),
)
entries = st.lists(
    st.builds(
        Entry,
        st.sampled_from(["선거", "가", "\u1100\u1161", "ㅋ", ".", "\x00"]) | filled,
        st.sampled_from(["현실 정치", "도박"]) | filled,
        st.integers(-2, 2),
    ),
    max_size=5,
)


@settings(max_examples=400)
@given(st.lists(turns, min_size=1, max_size=5), cards, entries)
def test_whatever_is_judged_passes_all_ten_checks_twice_alike(
    rows: list[Any], card: Card, lexicon: list[Entry]
) -> None:
    held = snapshot([card], lexicon, SEED)
    for result, sessions, position in judged_alike(rows, held):
        assert marks_of(result, held, sessions, position) == ALL_PASSED


def marks_of(result: Accepted, held: Snapshot, sessions: dict[str, Namings], position: Position) -> tuple[bool, ...]:
    """The ten marks of the bytes as a reader of them would give."""
    record = json.loads(result.value)
    namings = sessions.get(result.turn.session_id, {})
    against, grounds = held.characters["C"].grounds, held.book.desks["seed"].grounds
    assert grounds is not None
    return verify(record, result.turn, against, grounds, namings, position, VERDICT.reference.is_valid)


def test_snapshots_of_equal_rows_have_equal_digests_in_any_order_of_rows() -> None:
    for entries_ in (LEXICON, LEXICON[::-1]):
        assert against(lexicon=entries_).book.digest == SNAPSHOT.book.digest
    assert against(lexicon=LEXICON[:1]).book.digest != SNAPSHOT.book.digest
    assert against(CARD._replace(first_person="저")).characters["C"].digest != SNAPSHOT.characters["C"].digest
    assert against().ruleset == SNAPSHOT.ruleset
