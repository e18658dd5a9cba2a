"""How the worker refuses to start, and how it ends when the broker is gone."""

import re
import signal
from collections.abc import Iterator

import pytest
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource

from brokers import KafkaBroker
from service.cli import USAGE, run
from service.stream.app import DEADLINE, FAILED, FAULTS, STALLED
from stream.turns import CARD, turn
from stream.world import World, encode, headers, wait_for, world
from stream.worlds import Make


@pytest.fixture
def own_world() -> Iterator[tuple[KafkaBroker, World]]:
    """A world on a Kafka of its own, that may be killed."""
    with KafkaBroker() as broker, world(broker.bootstrap, stop_deadline_s=4.0) as made:
        made.create(2)
        yield broker, made


def test_topics_with_different_partition_counts_are_refused_in_one_line(make_world: Make, kafka: KafkaBroker) -> None:
    made = make_world(2)
    topics = made.settings.topics
    with KafkaAdminClient(bootstrap_servers=kafka.bootstrap) as admin:
        admin.create_partitions({topics.turn_verdicts: 3})
    worker = made.worker()
    assert worker.wait() == 2
    assert re.fullmatch(
        rf"turnjudge: topics: {topics.turn_verdicts}: expected 2 partitions, has 3[^\n]*\n", worker.output
    )


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"entity_ttl_s": "soon"}, "TURNJUDGE_ENTITY_TTL_S: expected "),
        ({"http_host": "192.0.2.1"}, "TURNJUDGE_HTTP_HOST, TURNJUDGE_HTTP_PORT: expected a free address"),
        ({"brokers": "127.0.0.1:1"}, "no answer from the brokers at 127.0.0.1:1"),
        ({"topic_chat_turns": "nowhere"}, "topics: nowhere: missing"),
    ],
)
def test_a_wrong_setting_is_one_line(make_world: Make, change: dict[str, str], line: str) -> None:
    made = make_world(1)
    made.load([CARD], [])
    worker = made.worker(**change)
    assert worker.wait() == 2
    assert worker.output.startswith(f"turnjudge: {line}")
    assert worker.output.count("\n") == 1


def test_help_names_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["worker", "--help"]) == 0
    named = capsys.readouterr().out.split("Exit codes:", 1)[1].split("Options:", 1)[0]
    assert set(map(int, re.findall(r"\b\d+\b", named))) == {0, FAILED, USAGE, FAULTS, DEADLINE, STALLED}


def test_elements_ahead_of_the_input_are_refused(make_world: Make) -> None:
    made = make_world(1)
    topics = made.settings.topics
    made.load([CARD], [])
    made.send_turns([turn(1), turn(2)])
    made.send(topics.changelog, encode(["T-0001", None, 0]), encode(["S-1", "하람", 2]))
    made.flush()
    worker = made.worker()
    assert worker.wait() == 2
    last = worker.output.splitlines()[-1]
    assert last.startswith(f"turnjudge: {topics.chat_turns}, partition 0 ends at 2, but {topics.changelog} holds names")
    assert made.ends(topics.turn_verdicts) == made.committed() == 0
    assert "Traceback" not in worker.output


def test_a_changelog_record_of_somebody_else_is_refused(make_world: Make) -> None:
    made = make_world(1)
    topics = made.settings.topics
    made.load([CARD], [])
    made.send_turns([turn(1)])
    made.send(topics.changelog, b"?", encode(["S-1", "하람", 0]))
    made.flush()
    worker = made.worker()
    assert worker.wait() == 2
    last = worker.output.splitlines()[-1]
    assert last == f"turnjudge: {topics.changelog}, partition 0, offset 0: value: expected a JSON array"
    assert made.ends(topics.turn_verdicts) == 0


def test_without_its_broker_it_lives_and_ends_at_the_deadline(own_world: tuple[KafkaBroker, World]) -> None:
    broker, made = own_world
    made.load([CARD], [])
    worker = made.worker()
    worker.await_ready()
    made.send_turns([turn(1)])
    made.await_records(made.settings.topics.turn_verdicts, 1)
    broker.kill()
    assert worker.get("/healthz").status == 200
    assert worker.end(signal.SIGTERM) == 70
    assert "Traceback" not in worker.output


def test_a_batch_that_cannot_be_delivered_is_not_committed(own_world: tuple[KafkaBroker, World]) -> None:
    broker, made = own_world
    topics = made.settings.topics
    made.load([CARD], [])
    worker = made.worker()
    worker.await_ready()
    made.send_turns([turn(1)])
    made.await_records(topics.turn_verdicts, 1)
    wait_for("a commit", lambda: made.committed() == 1)
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
        admin.delete_topics([topics.turn_verdicts])
    made.send_turns([turn(2)])
    wait_for(
        "the turn is taken", lambda: worker.metric("judge_inflight_records") == 1 or worker.process.poll() is not None
    )
    worker.end(signal.SIGTERM)
    assert worker.process.returncode in (1, 70)
    assert made.committed() == 1


def test_a_refused_batch_is_not_overtaken_by_the_next(make_world: Make, kafka: KafkaBroker) -> None:
    made = make_world(1)
    name = made.settings.topics.turn_verdicts
    made.load([CARD], [])
    # Verdicts of some 700 KiB in one fetch: a batch of 512 KiB and a smaller one.
    made.send_turns([turn(number, reply_text="가" * 10_000) for number in range(24)])

    def limit(size: int) -> None:
        with KafkaAdminClient(bootstrap_servers=kafka.bootstrap) as admin:
            admin.alter_configs([ConfigResource("TOPIC", name, configs={"max.message.bytes": str(size)})])

    worker = made.worker()
    assert worker.address  # it has asked for the limit, and judges nothing yet
    worker.process.send_signal(signal.SIGSTOP)
    limit(300_000)
    worker.process.send_signal(signal.SIGCONT)
    assert worker.wait() == 1
    assert made.committed() == 0
    limit(2 * 1024 * 1024)
    made.worker()
    wait_for("everything committed", lambda: made.committed() == 24)
    first = list(dict.fromkeys(int(headers(each)["offset"]) for each in made.read(name)))
    assert first == list(range(24))
