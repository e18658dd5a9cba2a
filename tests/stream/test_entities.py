"""The table: its bytes are golden, and what goes in and out of a partition."""

import gc
import tracemalloc
from dataclasses import dataclass

import pytest

from schemas.element import Element
from service.stream.entities import (
    DAY_MS,
    ElementKey,
    Partition,
    Partitions,
    UnreadableElement,
    decode,
    decode_key,
    encode_key,
    encode_value,
)

TTL_MS = 60_000
FIRST = Element("S-1", "하람", 7, "T-0007", '그는 "하람"이야.\n', 1_700_000_000_123)
SILENT = Element("세션 2", "Mira", 0, "1", None, 0)

GOLDEN = [
    (
        FIRST,
        '["S-1","하람",7]'.encode(),
        '["T-0007","그는 \\"하람\\"이야.\\n",1700000000123]'.encode(),
    ),
    (SILENT, '["세션 2","Mira",0]'.encode(), b'["1",null,0]'),
]


@pytest.mark.parametrize(("element", "key", "value"), GOLDEN)
def test_an_elements_bytes_are_golden_and_read_back(element: Element, key: bytes, value: bytes) -> None:
    assert encode_key(element.session_id, element.name, element.offset) == key
    assert encode_value(element) == value
    assert decode(decode_key(key), value) == element


@pytest.mark.parametrize(
    "key",
    [
        None,
        b"",
        b"null",
        b"{}",
        b'["S-1","n"]',
        b'["S-1","n","7"]',
        b'["S-1",1,7]',
        b'["S-1","n",true]',
        b'["S","n",1,2]',
    ],
)
def test_a_key_of_another_shape_is_refused_without_its_value(key: bytes | None) -> None:
    with pytest.raises(UnreadableElement, match=r"^key: expected ") as caught:
        decode_key(key)
    assert "S-1" not in str(caught.value)


@pytest.mark.parametrize(
    "value", [b"", b"[]", b'["T",null]', b"[1,null,0]", b'["T",2,0]', b'["T",null,"0"]', b'["T",null,1.5]']
)
def test_a_value_of_another_shape_is_refused(value: bytes) -> None:
    with pytest.raises(UnreadableElement, match=r"^value: expected "):
        decode(ElementKey("S-1", "n", 7), value)


def apply(partition: Partition, offset: int, element: Element, *, gone: bool = False) -> None:
    key = encode_key(element.session_id, element.name, element.offset)
    partition.apply(offset, key, None if gone else encode_value(element))


@pytest.mark.parametrize(
    ("spans", "applied"),
    [
        ([], 4),
        ([(5, 7)], 7),
        ([(5, 7), (8, 8)], 8),
        ([(6, 7)], 4),  # somebody else wrote 5: recovery must read it
        ([(5, 5), (7, 9)], 5),
        ([(6, 7), (8, 9)], 4),
    ],
)
def test_what_was_written_behind_another_writer_is_left_to_recovery(spans: list[tuple[int, int]], applied: int) -> None:
    held = Partition()
    apply(held, 4, FIRST)
    held.wrote(spans)
    assert held.applied == applied


def test_a_changelog_is_applied_once_and_in_order() -> None:
    held, later = Partition(), FIRST._replace(offset=9, turn_id="T-0009")
    apply(held, 0, later)
    apply(held, 1, FIRST)
    apply(held, 1, SILENT)  # an offset that was applied already
    apply(held, 4, FIRST)  # the same element written again by a repeat
    assert held.sessions == {"S-1": {"하람": (FIRST, later)}}
    assert (held.count, held.applied, held.end) == (2, 4, 10)
    apply(held, 5, FIRST, gone=True)
    apply(held, 6, FIRST, gone=True)
    assert held.sessions == {"S-1": {"하람": (later,)}}
    apply(held, 7, later, gone=True)
    assert (held.sessions, held.count) == ({}, 0)


def test_forgetting_takes_smaller_offsets_of_the_session_only() -> None:
    held = Partition()
    others = [FIRST._replace(session_id="S-2"), FIRST._replace(offset=20), SILENT]
    for element in (FIRST, FIRST._replace(name="별하", offset=8), *others):
        held.add(element)
    assert sorted(held.forget("S-1", 20)) == [("S-1", "별하", 8), ("S-1", "하람", 7)]
    assert [known for names in held.sessions.values() for known in names.values()] == [
        (each,) for each in (others[1], others[0], SILENT)
    ]
    assert held.count == 3
    assert held.forget("S-1", 20) == held.forget("S-none", 20) == []


def test_a_late_write_of_a_worker_given_up_brings_back_what_was_forgotten_until_it_is_forgotten_again() -> None:
    # Its key is the same, so the last write stands, also after compaction; whoever forgot it never reads it.
    held = Partition()
    apply(held, 0, FIRST)
    apply(held, 1, FIRST, gone=True)
    apply(held, 2, FIRST)
    assert held.sessions == {"S-1": {"하람": (FIRST,)}}
    assert held.forget("S-1", 20) == [("S-1", "하람", 7)]
    assert held.sessions == {}


@dataclass(frozen=True)
class Expiry:
    """Elements at record times, what is delivered and committed, and what has expired then."""

    delivered: tuple[tuple[int, int], ...]
    committed: int
    expired: tuple[int, ...]


MINUTE_MS = 60_000
LAST_MS = 10 * MINUTE_MS + TTL_MS + DAY_MS  # when elements of minute 9 have expired
EXPIRIES = [
    Expiry(((5, LAST_MS),), 5, (0, 9)),
    Expiry(((5, LAST_MS - 1),), 5, (0,)),
    Expiry(((5, LAST_MS),), 4, ()),  # delivered, but not committed
    Expiry(((5, LAST_MS - MINUTE_MS), (9, LAST_MS)), 8, (0,)),
    Expiry(((5, LAST_MS), (9, 0)), 9, (0, 9)),  # the largest, not the last
]


@pytest.mark.parametrize("case", EXPIRIES)
def test_elements_expire_by_committed_record_time(case: Expiry) -> None:
    held = Partition()
    for minute in (9, 0, 200_000):
        held.add(FIRST._replace(name=str(minute), time_ms=minute * MINUTE_MS))
    for end, newest_ms in case.delivered:
        held.delivered(end, newest_ms)
    held.committed(case.committed)
    assert held.has_expired(TTL_MS) is bool(case.expired)
    assert sorted(int(key.name) for key in held.expire(TTL_MS)) == list(case.expired)
    assert held.count == 3 - len(case.expired)
    assert held.expire(TTL_MS) == []


def test_what_was_forgotten_does_not_expire_again() -> None:
    held = Partition()
    held.add(FIRST._replace(time_ms=0))
    held.forget("S-1", 100)
    held.delivered(1, LAST_MS)
    held.committed(1)
    assert held.expire(TTL_MS) == []


def test_a_partition_that_is_dropped_takes_its_changelog_offset_with_it() -> None:
    partitions = Partitions()
    apply(partitions[3], 12, FIRST)
    assert (partitions.applied(3), partitions.applied(4), partitions.count()) == (12, None, 1)
    partitions.drop(3)
    assert (partitions.applied(3), partitions.count(), partitions[3].sessions) == (None, 0, {})


def test_an_element_takes_at_most_400_bytes_over_its_text() -> None:
    count = 20_000
    reply = "바람이 차니까 목도리를 꼭 챙겨서 기다릴게요. " * 3
    pairs = []
    for number in range(count):
        turn = number // 2
        element = Element(
            f"S-{turn // 2:07d}", f"이름-{number % 4}", 10**7 + turn, f"T-{turn:08d}", f"{turn} {reply}", turn
        )
        pairs.append((encode_key(element.session_id, element.name, element.offset), encode_value(element)))
    held = Partition()
    tracemalloc.start()
    try:
        for offset, (key, value) in enumerate(pairs):
            held.apply(offset, key, value)
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0] / count
    finally:
        tracemalloc.stop()
    assert held.count == count
    assert taken - sum(len(key) + len(value) for key, value in pairs) / count <= 400


def test_elements_share_strings_and_stay_what_they_were() -> None:
    told = [
        Element("S", "하람", 7, "T-7", "그래.", 5),
        Element("S", "별하", 7, "T-7", "그래.", 5),
        Element("S", "가온", 8, "T-7", "그래.", 5),
        Element("S-2", "하람", 8, "T-7", None, 6),
        Element("S", "하람", 8, "T-8", "아니.", 5),
    ]
    held = Partition()
    for offset, each in enumerate(told):
        held.apply(offset, encode_key(each.session_id, each.name, each.offset), encode_value(each))
    kept = [each for session in held.sessions.values() for known in session.values() for each in known]
    assert sorted(kept, key=told.index) == told
    assert held.sessions["S"]["하람"][0].reply_text is held.sessions["S"]["별하"][0].reply_text
    assert held.sessions["S"]["하람"][0].name is held.sessions["S-2"]["하람"][0].name
