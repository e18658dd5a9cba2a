"""State does not grow for ever: names expire by record time, and the broker compacts away what is gone."""

from collections.abc import Iterator

import pytest
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource

from brokers import KafkaBroker
from stream.offline import changelog_state, check_outcomes, snapshot_of
from stream.world import Row, World, encode, wait_for, world

DAY_MS = 86_400_000
TTL_S = 3_600
START_MS = 1_700_000_000_000
SESSIONS, NAMES = 60, ("하람", "별하", "가온")
CARD: Row = {
    "character_id": "C",
    "honorific_rule": "반말",
    "first_person": "나",
    "canon_entities": list(NAMES),
    "forbidden_topics": [],
    "entity_roles": [{"role": "동생", "entity": "하람"}],
}


@pytest.fixture
def cleaned() -> Iterator[World]:
    """A world on a broker that compacts at once what may be compacted, and drops tombstones then."""
    often = {"log.cleaner.backoff.ms": "100", "log.cleaner.delete.retention.ms": "100"}
    with KafkaBroker(often) as broker, world(broker.bootstrap, entity_ttl_s=TTL_S) as made:
        made.create(2)
        yield made


def send_round(world: World, number: int, time_ms: int, names: tuple[str, ...] = NAMES) -> int:
    """Send a turn to every session."""
    for session in range(SESSIONS):
        row = {"turn_id": f"T-{number:03d}", "session_id": f"S-{session}", "character_id": "C", "model_id": "m"}
        said: Row = {"user_message": "동생 이름 기억나?", "reply_text": "그래.", "first_person": "나"}
        said |= {"named_entities": list(names), "user_asked_recall": True}
        world.send(world.settings.topics.chat_turns, encode(row | said), row["session_id"].encode(), time_ms=time_ms)
    world.flush()
    return SESSIONS


def end_segments_after(world: World, milliseconds: int) -> None:
    """End the changelog's segments sooner than an hour: the active one is never compacted."""
    with KafkaAdminClient(bootstrap_servers=world.settings.brokers) as admin:
        configs = {"segment.ms": str(milliseconds), "delete.retention.ms": "100"}
        admin.alter_configs([ConfigResource("TOPIC", world.settings.topics.changelog, configs=configs)])


@pytest.mark.needs("kafka")
def test_state_returns_to_zero_in_memory_in_the_changelog_and_on_the_brokers_disk(cleaned: World) -> None:
    topics = cleaned.settings.topics
    cleaned.load([CARD], [])
    worker = cleaned.worker()
    sent = 0
    for number in range(6):  # five half TTLs: each name is renewed again and again
        sent += send_round(cleaned, number, START_MS + number * (TTL_S * 500 + 60_000))
        cleaned.await_records(topics.turn_verdicts, sent)
    state = changelog_state(cleaned.read(topics.changelog))
    assert len(state) > SESSIONS * len(NAMES)
    wait_for("memory is the changelog", lambda: worker.metric("judge_elements") == len(state))
    end_segments_after(cleaned, 100)
    # A day and a TTL later: the first committed turn of that time lets everything before it go.
    sent += send_round(cleaned, 7, START_MS + 3 * DAY_MS, names=())
    wait_for("nothing is held", lambda: worker.metric("judge_elements") == 0)
    wait_for("nothing is left", lambda: changelog_state(cleaned.read(topics.changelog)) == {})
    assert cleaned.ends(topics.changelog) >= 2 * len(state)

    later = START_MS + 6 * DAY_MS

    def is_compacted() -> bool:
        # A new record ends the segment before it, which then may be compacted; its names expire like the others'.
        nonlocal sent, later
        sent += send_round(cleaned, 8, later, names=("하람",))
        later += 3 * DAY_MS
        wait_for("it is gone", lambda: worker.metric("judge_elements") <= SESSIONS)
        return len(cleaned.read(topics.changelog)) < len(state)

    wait_for("what is gone is compacted away", is_compacted)
    assert worker.end() == 0
    again = cleaned.worker()
    again.await_ready()
    assert again.metric("judge_elements") == len(changelog_state(cleaned.read(topics.changelog)))
    assert again.end() == 0
    check_outcomes(cleaned, snapshot_of([CARD], []))
