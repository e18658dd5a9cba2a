"""Turns that a producer sends by transactions: what it aborts was never said, and its marks are no work that waits."""

import asyncio
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.structs import TopicPartition
from faust.types import TP
from kafka import KafkaProducer

from service.stream.thread import ConsumerThread
from stream.turns import CARD, turn
from stream.world import World, encode, headers, wait_for
from stream.worlds import Make


def send_by_transactions(world: World, numbers: list[tuple[int, bool]]) -> None:
    """Send a turn in a transaction each, and commit or abort it."""
    name = f"{world.settings.group}-sender"
    with closing(KafkaProducer(bootstrap_servers=world.settings.brokers, transactional_id=name)) as producer:
        producer.init_transactions()
        for number, is_committed in numbers:
            producer.begin_transaction()
            producer.send(world.settings.topics.chat_turns, encode(turn(number)), b"S-1").get(10)
            if is_committed:
                producer.commit_transaction()
            else:
                producer.abort_transaction()


@pytest.mark.needs("kafka")
def test_aborted_turns_are_not_judged_and_marks_are_no_lag(make_world: Make) -> None:
    world = make_world(1)
    topics = world.settings.topics
    world.load([CARD], [])
    worker = world.worker()
    worker.await_ready()
    send_by_transactions(world, [(1, True), (2, False), (3, True), (4, False)])
    end = world.ends(topics.chat_turns)
    assert end == 8  # a mark behind each turn
    wait_for("everything is behind the worker", lambda: world.committed() == end)
    assert [headers(each)["turn_id"] for each in world.read(topics.turn_verdicts)] == ["T-0001", "T-0003"]
    wait_for("no lag", lambda: worker.metric('judge_lag_records{partition="0"}') == 0)
    assert worker.metric('judge_records_completed_total{outcome="judged"}') == 2
    assert worker.end() == 0


@pytest.mark.parametrize(
    ("position", "sought"),
    [
        (13, [10]),  # behind the last record
        (14, [10]),  # behind the mark of its transaction
        (10, []),  # somebody went back by then
        (4, []),
    ],
)
def test_what_was_taken_and_not_judged_is_given_back(position: int, sought: list[int]) -> None:
    found: list[int] = []

    async def at(tp: TopicPartition) -> int:
        return position

    client = SimpleNamespace(position=at, seek=lambda tp, offset: found.append(offset))
    tp = TP("turns", 0)
    thread: Any = SimpleNamespace(_ensure_consumer=lambda: client, assignment=lambda: {tp})
    asyncio.run(ConsumerThread.give_back(thread, {tp: (10, 13), TP("turns", 1): (0, 1)}))
    assert found == sought
