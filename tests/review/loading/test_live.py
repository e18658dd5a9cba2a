"""Following the topics of a real Kafka: every record once, in whatever order topics are read and whatever ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

import orjson
import pytest
from kafka import KafkaAdminClient
from sqlalchemy import Engine, event, func, select
from sqlalchemy.exc import OperationalError

from brokers import KafkaBroker
from deciding import CAPS, CARD, LEXICON, Row, outcomes, turn
from review.store.desk import SPIKED_MS, spike
from rules.profile import SEED
from schemas.refusal import Reason
from service.records import card_record, entry_record
from service.review.loading import live
from service.review.loading.live import Follower
from service.review.store import queries, reference
from service.review.store.opening import opened, reading
from service.review.store.spikes import open_spikes
from service.review.store.tables import CARDS, LETTERS, LEXICONS, POSITIONS, SPIKES, SUMMARIES, TURN_ROWS
from service.settings import KafkaSettings, load_settings
from service.snapshot import snapshot
from service.step import Accepted
from services import ROOT
from stream.world import World, headers, wait_for, world

pytestmark = pytest.mark.needs("kafka")
KNOWN = snapshot([CARD], LEXICON, SEED)
HANDS = """
import sys, time
from service.review.loading.live import Follower
from service.review.store.opening import opened
from service.settings import KafkaSettings, load_settings
with opened(sys.argv[1]) as engine:
    Follower(load_settings(KafkaSettings), engine).start()
    print("started", flush=True)
    time.sleep(100)
"""


@pytest.fixture
def made(kafka: KafkaBroker) -> Iterator[World]:
    with world(kafka.bootstrap) as one:
        one.create()
        yield one


@contextmanager
def following(one: World, engine: Engine, **options: Any) -> Iterator[Follower]:
    follower = Follower(one.kafka, engine, **options)
    follower.start()
    try:
        yield follower
    finally:
        assert follower.stop()


def count(engine: Engine, table: Any) -> int:
    with reading(engine) as connection:
        return connection.scalar(select(func.count()).select_from(table)) or 0


def shown(engine: Engine, turn_id: str = "T-9", session_id: str = "S") -> queries.Row | None:
    with reading(engine) as connection:
        return queries.row(connection, session_id, turn_id)


def turn_of(row: queries.Row) -> Row:
    found: Row = orjson.loads(row.turn or "{}")
    return found


def await_rows(engine: Engine, fewest: int) -> int:
    """Wait for so many rows and return how many there are."""
    return wait_for(f"{fewest} rows", lambda: found if (found := count(engine, TURN_ROWS)) >= fewest else None)


def send_turn(one: World, row: Row) -> int:
    """Send a turn to the first partition and return its offset."""
    value = json.dumps(row, ensure_ascii=False).encode()
    sent = one.send(one.settings.topics.chat_turns, value, row["session_id"].encode(), partition=0)
    one.flush()
    return int(sent.get(10).offset)


def send_verdict(one: World, row: Row, offset: int | None, verdict_id: str, **more: str) -> None:
    """Send a turn's verdict to the first partition, with the headers that the reader needs."""
    result = outcomes([row], KNOWN)[0].result
    assert isinstance(result, Accepted)
    named = {"verdict_id": verdict_id, "judged_at": "1000", "timestamp": "500", "skipped": ",".join(result.codes)}
    named |= {"card": result.card, "lexicon": KNOWN.book.digest, "profile": result.profile} | more
    if offset is not None:
        named["offset"] = str(offset)
    pairs = [(name, text.encode()) for name, text in named.items()]
    topic = one.settings.topics.turn_verdicts
    one.send(topic, result.value, row["session_id"].encode(), partition=0, headers=pairs)


def publish(one: World, rows: Iterable[Row]) -> list[str]:
    """Send turns and their verdicts; return the ids of the verdicts."""
    ids = []
    topic = one.settings.topics.chat_turns
    sent = [(row, one.send(topic, orjson.dumps(row), b"S", partition=0)) for row in rows]
    one.flush()
    for row, future in sent:
        offset = future.get(10).offset
        ids.append(f"v{offset}")
        send_verdict(one, row, offset, ids[-1])
    one.flush()
    return ids


def test_a_worker_verdict_comes_with_its_turn_card_and_lexicon(made: World, engine: Engine) -> None:
    for entry in LEXICON:
        record = entry_record(entry)
        made.send(made.settings.topics.topic_lexicon, record.value, record.key)
    made.send(made.settings.topics.character_cards, card_record(CARD).value, b"C")
    made.flush()
    made.worker().await_ready()
    made.send_turns(
        [turn(reply_text="선거 얘기다."), turn(turn_id="T-10", character_id="N"), {"turn_id": 1, "session_id": "S"}]
    )
    (verdict,) = made.await_records(made.settings.topics.turn_verdicts, 1)
    made.await_records(made.settings.topics.turn_dead_letters, 2)
    with following(made, engine) as follower:
        row = wait_for("the verdict", lambda: shown(engine))
        refused = wait_for("the refused turn", lambda: shown(engine, "T-10"))
        wait_for("the letter", lambda: count(engine, LETTERS) == 1)
        wait_for("the lexicon", lambda: count(engine, LEXICONS) == 1)
        wait_for("no lag", lambda: follower.state().lag == 0)
        state = follower.state()
    told = headers(verdict)
    assert (row.verdict_id, row.verdict, row.touched_topic) == (told["verdict_id"], "금지 소재 접촉", "현실 정치")
    assert turn_of(row)["reply_text"] == "선거 얘기다."
    assert (row.judged_ms, row.occurred_ms) == (int(told["judged_at"]), int(told["timestamp"]))
    assert (refused.reason, refused.verdict) == (Reason.UNKNOWN_CHARACTER, None)
    with reading(engine) as connection:
        assert reference.card(connection, told["card"], CAPS) is not None
        assert reference.lexicon(connection, told["lexicon"], CAPS) is not None
    assert (state.connected, state.problem, state.passed_over) == (True, None, 0)
    assert state.last_ms is not None
    assert not follower.state().connected


def test_killed_in_the_middle_it_loses_and_doubles_nothing(made: World, url: str) -> None:
    rows = [turn(turn_id=f"T-{number}", reply_text=f"{number}번째다.") for number in range(6000)]
    ids = publish(made, rows)
    interrupted = 0
    with opened(url) as engine:
        for _ in range(4):
            environment = os.environ | made.environment
            command = [sys.executable, "-c", HANDS, url]
            before = count(engine, TURN_ROWS)
            with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                assert process.stdout.readline() == b"started\n"
                await_rows(engine, min(before + 1, len(ids)))
                process.send_signal(signal.SIGKILL)
            interrupted += before < count(engine, TURN_ROWS) < len(ids)
        with following(made, engine):
            wait_for("all rows", lambda: count(engine, TURN_ROWS) >= len(ids))
        with reading(engine) as connection:
            found = list(connection.execute(select(TURN_ROWS.c.verdict_id, TURN_ROWS.c.turn, TURN_ROWS.c.place)))
            (position,) = [
                one.next_offset
                for one in connection.execute(select(POSITIONS))
                if (one.topic, one.partition) == (made.settings.topics.turn_verdicts, 0)
            ]
    assert interrupted >= 2, "it was to be killed in the middle"
    assert sorted(one.verdict_id for one in found) == sorted(ids)
    assert all(one.place is not None for one in found)
    assert {json.loads(one.turn)["reply_text"] for one in found} == {row["reply_text"] for row in rows}
    assert position == len(ids)


def test_copies_are_one_row_and_a_newer_verdict_takes_its_place(made: World, engine: Engine) -> None:
    row = turn(reply_text="가요.")
    offset = send_turn(made, row)
    for _ in range(3):
        send_verdict(made, row, offset, "v1")
    send_verdict(made, row, offset, "v2", judged_at="2000")
    send_verdict(made, row, offset, "v1")
    made.flush()
    with following(made, engine) as follower:
        wait_for("both", lambda: count(engine, TURN_ROWS) == 2 and follower.state().lag == 0)
    newest = shown(engine)
    assert newest is not None
    assert newest.verdict_id == "v2"


def test_a_summary_may_come_before_its_verdict(made: World, engine: Engine) -> None:
    row = turn()
    offset = send_turn(made, row)
    summary: Row = {"verdict_id": "v1", "turn_id": "T-9", "session_id": "S", "summary": "카드대로 말했습니다."}
    summary |= {"by": "model", "model": "m-1", "reason": None}
    made.send(made.settings.topics.turn_summaries, orjson.dumps(summary), b"S")
    made.flush()
    with following(made, engine):
        wait_for("the summary", lambda: count(engine, SUMMARIES) == 1)
        assert shown(engine) is None
        send_verdict(made, row, offset, "v1")
        made.flush()
        wait_for("the verdict", lambda: shown(engine))
    with reading(engine) as connection:
        told = queries.summary(connection, "v1")
    assert told is not None
    assert told.summary == "카드대로 말했습니다."


def test_a_verdict_whose_turn_is_gone_keeps_what_it_quotes(made: World, engine: Engine) -> None:
    gone, other = turn(turn_id="T-1", reply_text="가요."), turn(turn_id="T-2")
    offset = send_turn(made, other)
    send_verdict(made, gone, offset, "another turn stands there")
    send_verdict(made, gone | {"turn_id": "T-3"}, 10**9, "no turn was ever there")
    send_verdict(made, gone | {"turn_id": "T-4"}, None, "no offset is named")
    made.flush()
    with following(made, engine):
        wait_for("all", lambda: count(engine, TURN_ROWS) == 3)
    for turn_id in ("T-1", "T-3", "T-4"):
        row = shown(engine, turn_id)
        assert row is not None
        assert (turn_of(row)["turn_id"], turn_of(row)["reply_text"]) == (turn_id, "가요.")


def test_what_is_no_record_is_passed_over_and_counted(made: World, engine: Engine) -> None:
    topics = made.settings.topics
    for topic in (topics.turn_verdicts, topics.turn_dead_letters, topics.turn_summaries):
        for value in (b"\xff", b"[]", b"{}", None):
            made.send(topic, value, b"k", headers=[("offset", b"\x00"), ("reason", b"malformed")])
    made.send(topics.character_cards, b"{}", b"\xff")
    made.send(topics.topic_lexicon, b"{}", b"no key")
    made.flush()
    row = turn()
    send_verdict(made, row, send_turn(made, row), "v\x00" + "v" * 3000, card="\x00")
    made.flush()
    with following(made, engine) as follower:
        wait_for("the verdict", lambda: shown(engine))
        wait_for("all of it", lambda: follower.state().passed_over == 13)
        assert follower.state().problem is None
    assert count(engine, TURN_ROWS) == 1


def test_a_dead_letter_without_a_turn_is_kept_once_without_its_value(made: World, engine: Engine) -> None:
    named = {"reason": "malformed", "detail": "record: expected JSON", "topic": "t", "partition": "0", "offset": "7"}
    pairs = [(name, text.encode()) for name, text in named.items()]
    for _ in range(2):
        made.send(made.settings.topics.turn_dead_letters, b"{secret", b"S", partition=0, headers=pairs)
    made.flush()
    with following(made, engine) as follower:
        wait_for("the letter", lambda: count(engine, LETTERS) == 1 and follower.state().lag == 0)
    with reading(engine) as connection:
        (letter,) = connection.execute(select(LETTERS))
    assert (letter.source, letter.position, letter.reason) == ("t/0", 7, "malformed")
    assert "secret" not in str(letter)


def test_from_now_on_leaves_out_what_was_there_and_nothing_that_comes(made: World, engine: Engine) -> None:
    publish(made, [turn(turn_id="T-1")])
    made.send(made.settings.topics.character_cards, card_record(CARD).value, b"C")
    made.flush()
    with following(made, engine, from_beginning=False) as follower:
        wait_for("the start", lambda: follower.state().connected)
    publish(made, [turn(turn_id="T-2")])
    with following(made, engine, from_beginning=False):
        wait_for("what came while it was away", lambda: shown(engine, "T-2"))
        wait_for("the card", lambda: count(engine, CARDS) == 1)
    assert shown(engine, "T-1") is None


def test_a_removed_card_and_a_changed_lexicon_are_followed(made: World, engine: Engine) -> None:
    topics = made.settings.topics
    first, second = (entry_record(entry) for entry in LEXICON)

    def present() -> tuple[int, int]:
        with reading(engine) as connection:
            return len(reference.present_cards(connection, CAPS)), len(reference.present_lexicon(connection, CAPS))

    made.send(topics.character_cards, card_record(CARD).value, b"C")
    made.send(topics.topic_lexicon, first.value, first.key)
    made.send(topics.topic_lexicon, second.value, second.key)
    made.flush()
    with following(made, engine):
        wait_for("both kinds", lambda: present() == (1, 2))
        made.send(topics.character_cards, None, b"C")
        made.send(topics.topic_lexicon, None, first.key)
        made.flush()
        wait_for("both changes", lambda: present() == (0, 1))


def test_a_spike_opens_and_closes_and_its_position_is_kept(made: World, engine: Engine) -> None:
    topic = made.settings.topics.topic_spikes

    def open_now() -> list[str]:
        with reading(engine) as connection:
            return [each.topic for each in open_spikes(connection, 5, SPIKED_MS)[0]]

    def send(record: Any) -> None:
        made.send(topic, orjson.dumps(record), "현실 정치".encode())
        made.flush()

    with following(made, engine) as follower:
        send(spike())
        made.send(topic, b"{}", b"k")
        wait_for("the spike", lambda: open_now() == ["현실 정치"])
        wait_for("what is none", lambda: follower.state().passed_over == 1)
    send(spike(state="closed", at=SPIKED_MS + 1))
    send(spike())
    with following(made, engine) as follower:
        wait_for("its end", lambda: open_now() == [] and follower.state().lag == 0)
    with reading(engine) as connection:
        kept = [one.next_offset for one in connection.execute(select(POSITIONS)) if one.topic == topic]
    assert kept == [4]


def test_a_topic_of_spikes_that_comes_later_is_found(
    kafka: KafkaBroker, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "_SPIKES_S", 0.5)
    with world(kafka.bootstrap) as one:
        one.create()
        topic = one.settings.topics.topic_spikes
        with KafkaAdminClient(bootstrap_servers=kafka.bootstrap) as admin:
            admin.delete_topics([topic])
            wait_for("it is gone", lambda: not one.has(topic))
            publish(one, [turn(turn_id="T-1")])
            with following(one, engine) as follower:
                wait_for("the verdict", lambda: shown(engine, "T-1"))
                assert follower.state().connected
                one.create()
                one.send(topic, orjson.dumps(spike()), b"k")
                one.flush()
                wait_for("the spike", lambda: count(engine, SPIKES) == 1)


def test_it_comes_back_when_the_broker_does_and_says_meanwhile_that_it_is_away(engine: Engine) -> None:
    with KafkaBroker() as broker, world(broker.bootstrap) as one:
        one.create()
        publish(one, [turn(turn_id="T-1")])
        with following(one, engine) as follower:
            wait_for("the first", lambda: shown(engine, "T-1"))
            broker.kill()
            wait_for("it is away", lambda: not follower.state().connected)
            assert follower.state().problem is not None
            broker.start()
            publish(one, [turn(turn_id="T-2")])
            wait_for("the second", lambda: shown(engine, "T-2"))
            wait_for("it is there", lambda: follower.state().connected and follower.state().problem is None)
    assert count(engine, TURN_ROWS) == 2


def test_without_a_broker_it_stops_within_its_deadline(engine: Engine) -> None:
    follower = Follower(load_settings(KafkaSettings, brokers="127.0.0.1:1"), engine)
    follower.start()
    begun = time.monotonic()
    follower.stop(1.0)
    assert time.monotonic() - begun < 3
    assert not follower.state().connected


def test_a_missing_topic_is_said_until_it_is_there(kafka: KafkaBroker, engine: Engine) -> None:
    with world(kafka.bootstrap) as one, following(one, engine) as follower:
        wait_for("the problem", lambda: "missing" in (follower.state().problem or ""))
        one.create()
        wait_for("the topics", lambda: follower.state().connected)


@pytest.mark.parametrize("statement", ["INSERT INTO turn_rows", "UPDATE positions"])
def test_rows_and_positions_are_written_together_or_not_at_all(made: World, engine: Engine, statement: str) -> None:
    failing = Event()
    failing.set()

    @event.listens_for(engine, "before_cursor_execute")
    def fail(connection: Any, cursor: Any, text: str, *rest: Any) -> None:
        if failing.is_set() and text.startswith(statement):
            raise OperationalError(statement, {}, Exception("the disk is full"))

    ids = publish(made, [turn(turn_id=f"T-{number}") for number in range(50)])
    with following(made, engine) as follower:
        wait_for("the problem", lambda: "the database cannot be written" in (follower.state().problem or ""))
        with reading(engine) as connection:
            assert set(connection.scalars(select(POSITIONS.c.next_offset))) == {0}
        assert count(engine, TURN_ROWS) == 0
        failing.clear()
        wait_for("all rows", lambda: count(engine, TURN_ROWS) == len(ids))
        wait_for("no problem", lambda: follower.state().problem is None)
