"""Records of the live topics as rows, one by one: what is read of each, and what stands in for what is not there."""

import json
from typing import Any, NamedTuple

import orjson
import pytest

from deciding import CAPS, CARD, LEXICON, Row, outcomes, turn
from review.store.desk import spike
from rules.lexicon import in_order
from rules.profile import SEED
from schemas.refusal import Reason
from service.digest import digest
from service.records import card_record, entry_record
from service.review.loading.records import Terms, card_of, letter_of, offset_of, spike_of, summary_of, verdict_of
from service.review.store.batch import CardChange, Judged, Letter, RefusedTurn
from service.snapshot import snapshot
from service.step import Accepted

TURN = turn(reply_text="가요.", named_entities=None)
VALUE = orjson.dumps(TURN)
NAMED = {"verdict_id": "v1", "judged_at": "1000", "timestamp": "500", "offset": "7", "skipped": "names_null,no_reply"}


class Record(NamedTuple):
    """What a consumer hands out."""

    value: bytes | None
    key: bytes | None = b"k"
    headers: list[tuple[str, bytes]] = []  # noqa: RUF012 - never changed
    topic: str = "t"
    partition: int = 0
    offset: int = 3
    timestamp: int = 9_000


def headed(value: bytes | None, named: dict[str, str], **more: Any) -> Record:
    return Record(value, headers=[(name, text.encode()) for name, text in named.items()], **more)


def verdict() -> bytes:
    result = outcomes([TURN], snapshot([CARD], LEXICON, SEED))[0].result
    assert isinstance(result, Accepted)
    return result.value


def test_a_verdict_takes_its_headers_and_its_turn() -> None:
    judged = verdict_of(headed(verdict(), NAMED), VALUE, CAPS)
    assert judged is not None
    assert (judged.verdict_id, judged.judged_ms, judged.occurred_ms, judged.position) == ("v1", 1000, 500, 7)
    assert judged.codes == ("names_null", "no_reply")
    assert (judged.turn.reply_text, judged.turn.named_entities) == ("가요.", None)


def test_without_headers_the_record_says_when_and_where() -> None:
    judged = [verdict_of(Record(verdict(), offset=offset), VALUE, CAPS) for offset in (3, 3, 4)]
    assert all(isinstance(one, Judged) for one in judged)
    first, same, other = (one for one in judged if one is not None)
    assert first.verdict_id == same.verdict_id != other.verdict_id
    assert (first.judged_ms, first.occurred_ms, first.position, first.codes) == (9_000, None, 3, ())


@pytest.mark.parametrize(
    "value",
    [None, b"{", orjson.dumps(TURN | {"turn_id": "T-8"}), orjson.dumps(TURN | {"model_id": "x"})],
    ids=["gone", "no turn", "another turn", "another model"],
)
def test_what_a_verdict_quotes_stands_for_a_turn_that_is_not_its_own(value: bytes | None) -> None:
    judged = verdict_of(headed(verdict(), NAMED), value, CAPS)
    assert judged is not None
    assert (judged.turn.turn_id, judged.turn.reply_text, judged.turn.first_person) == ("T-9", "가요.", "나")


def test_of_two_replies_that_are_quoted_the_last_is_this_turns() -> None:
    row = orjson.loads(verdict())
    cells = [("turn_id", "T-1"), ("reply_text", "하늘이 왔어."), ("reply_text", "글쎄.")]
    evidence: list[Row] = [{"source": "chat_turn", "field": field, "value": value} for field, value in cells]
    evidence.append({"source": "chat_turn", "field": "user_message", "value": 3.5})
    judged = verdict_of(Record(orjson.dumps(row | {"evidence": evidence})), None, CAPS)
    assert judged is not None
    assert (judged.turn.turn_id, judged.turn.reply_text, judged.turn.user_message) == ("T-9", "글쎄.", None)


@pytest.mark.parametrize("text", ["", "x", "-1", "٣", "1.5", "9" * 19, "9" * 30])
def test_an_offset_is_a_number_that_a_database_takes(text: str) -> None:
    assert offset_of(headed(b"", {"offset": text})) is None


def test_an_id_that_no_index_takes_becomes_its_hash() -> None:
    ids = ["v" * 5_000, "v" * 4_999, "v\x00"]
    judged = [verdict_of(headed(verdict(), NAMED | {"verdict_id": one}), VALUE, CAPS) for one in ids]
    found = {one.verdict_id for one in judged if one is not None}
    assert len(found) == 3
    assert all(len(one) < 100 and "\x00" not in one for one in found)


LETTER = {"reason": "unknown_character", "detail": "d", "topic": "turns", "partition": "1", "offset": "7"}


def test_a_letter_that_holds_a_turn_is_a_refused_turn_and_others_keep_no_value() -> None:
    refused = letter_of(headed(VALUE, LETTER | {"timestamp": "500"}), CAPS)
    assert isinstance(refused, RefusedTurn)
    assert (refused.reason, refused.position, refused.occurred_ms) == (Reason.UNKNOWN_CHARACTER, 7, 500)
    letter = letter_of(headed(b"{", LETTER), CAPS)
    assert isinstance(letter, Letter)
    assert (letter.source, letter.position, letter.detail) == ("turns/1", 7, "d")


def test_copies_of_a_letter_have_one_id_and_other_letters_another() -> None:
    def id_of(offset: int = 3, **changes: str) -> str:
        letter = letter_of(headed(b"{", LETTER | changes, offset=offset), CAPS)
        assert isinstance(letter, Letter)
        return letter.letter_id

    assert id_of() == id_of(offset=4)
    assert len({id_of(), id_of(partition="2"), id_of(topic="x"), id_of(reason="malformed"), id_of(sha256="x")}) == 5


@pytest.mark.parametrize("lost", ["reason", "partition", "offset"])
def test_a_letter_that_does_not_say_what_it_is_is_passed_over(lost: str) -> None:
    assert letter_of(headed(b"{", {name: text for name, text in LETTER.items() if name != lost}), CAPS) is None
    assert letter_of(headed(b"{", LETTER | {lost: "?"}), CAPS) is None


def test_a_summary_names_its_verdict() -> None:
    row = {"verdict_id": "v1", "turn_id": "T", "session_id": "S", "summary": "그렇습니다.", "by": "rule", "model": None}
    assert summary_of(Record(orjson.dumps(row | {"reason": "r"}))) == row | {"reason": "r"}
    for wrong in ({"verdict_id": None}, {"verdict_id": ""}, {"by": "x"}, {"summary": " "}):
        assert summary_of(Record(orjson.dumps(row | {"reason": "r"} | wrong))) is None


def test_a_card_that_cannot_be_used_takes_what_its_key_held_with_it() -> None:
    value = card_record(CARD).value
    assert card_of(Record(value, b"C"), CAPS) == CardChange("C", CARD, 9_000)
    for record in (Record(None, b"C"), Record(b"{", b"C"), Record(value, b"D")):
        change = card_of(record, CAPS)
        assert change is not None
        assert change.card is None
    assert card_of(Record(value, None), CAPS) is None
    assert card_of(Record(value, b"\xff"), CAPS) is None


def test_a_lexicon_has_the_workers_digest_and_is_told_once_for_each_change() -> None:
    terms, rows = Terms(CAPS), [entry_record(entry) for entry in LEXICON]
    assert terms.change() is None
    for place, row in enumerate(reversed(rows)):
        terms.take(Record(row.value, row.key, timestamp=9_000 - place))
    change = terms.change()
    assert change is not None
    assert (change.entries, change.changed_ms) == (in_order(LEXICON), 9_000)
    assert change.digest == snapshot([CARD], LEXICON, SEED).book.digest
    assert terms.change() is None
    terms.take(Record(rows[0].value, rows[1].key))
    change = terms.change()
    assert change is not None
    assert change.entries == (LEXICON[0],)
    assert change.digest == digest((LEXICON[0],))


@pytest.mark.parametrize(
    ("changes", "is_spike"),
    [
        ({}, True),
        ({"ratio": None, "baseline_observed": 0}, True),
        ({"at": 2_000.0}, True),
        ({"turns": []}, True),
        ({"at": 2**63}, False),
        ({"window_s": 0}, False),
        ({"state": "paused"}, False),
        ({"spike_id": " "}, False),
        ({"turns": [{"session_id": "S"}]}, False),
        ({"ratio": 10**400}, False),
        ({"p_value": -1}, False),
    ],
)
def test_a_spike_is_read_whose_numbers_every_database_takes(changes: dict[str, Any], is_spike: bool) -> None:
    found = spike_of(Record(json.dumps(spike() | changes).encode()))
    assert (found is not None) is is_spike
    if found is not None:
        assert isinstance(found["at"], int)


@pytest.mark.parametrize("value", [None, b"", b"[]", b"{}", b'{"ratio": 1e999}', b"\xff"])
def test_what_is_no_spike_is_none(value: bytes | None) -> None:
    assert spike_of(Record(value)) is None
