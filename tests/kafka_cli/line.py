"""A command line with topics of its own, and what its tests load and send."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from service.cli import run
from service.settings import KafkaSettings, load_settings
from service.stream.topics import create_topics

PARTITIONS = 3
TEXT = "비밀 이야기"
CARD: dict[str, Any] = {
    "character_id": "c-1",
    "honorific_rule": "반말",
    "first_person": "나",
    "canon_entities": ["하늘"],
    "forbidden_topics": ["음주"],
    "entity_roles": [{"role": "동생", "entity": "하늘"}],
}
Headers = list[tuple[str, bytes]]
_numbers = count()


class Ran(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: bytes
    err: str


class Line:
    """A command line of its own topics: runs in this process, or in one of its own."""

    def __init__(self, settings: KafkaSettings, capture: pytest.CaptureFixture[bytes]) -> None:
        self.settings = settings
        self.topics = settings.topics
        self._capture = capture

    def run(self, *arguments: str) -> Ran:
        self._capture.readouterr()
        code = run(arguments)
        out, err = self._capture.readouterr()
        return Ran(code, out, err.decode())

    def apart(self, *arguments: str, **streams: Any) -> "subprocess.Popen[bytes]":
        command = "import sys; from service.cli import main; main()"
        return subprocess.Popen([sys.executable, "-P", "-c", command, *arguments], stdout=subprocess.PIPE, **streams)

    def send(self, topic: str, *records: tuple[bytes | None, bytes | None, Headers, int]) -> None:
        with closing(KafkaProducer(bootstrap_servers=self.settings.brokers)) as producer:
            began_ms = int(time.time() * 1000)
            # A millisecond apart, since records of one millisecond have no order between partitions.
            for place, (key, value, headers, partition) in enumerate(records):
                producer.send(topic, value, key, headers, partition, began_ms + place).get(10)

    def read(self, topic: str) -> list[Any]:
        partitions = [TopicPartition(topic, n) for n in range(PARTITIONS)]
        with closing(KafkaConsumer(bootstrap_servers=self.settings.brokers, auto_offset_reset="earliest")) as consumer:
            present = [p for p in partitions if p.partition in consumer.partitions_for_topic(topic)]
            consumer.assign(present)
            ends, found = consumer.end_offsets(present), []
            while any(consumer.position(p) < ends[p] for p in present):
                found += [record for records in consumer.poll(1_000).values() for record in records]
        return sorted(found, key=lambda record: (record.partition, record.offset))

    def held(self, topic: str) -> dict[bytes, bytes]:
        rows = {record.key: record.value for record in self.read(topic)}
        return {key: value for key, value in rows.items() if value is not None}


def line_on(
    brokers: str, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes], **others: str
) -> Line:
    prefix = f"cli-{next(_numbers)}"
    renamed = {f"topic_{field}": f"{prefix}-{field}" for field in KafkaSettings().topics._fields[:-1]}
    for name, value in ({"brokers": brokers, "group": prefix} | renamed | others).items():
        monkeypatch.setenv(f"TURNJUDGE_{name.upper()}", value)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    settings = load_settings(KafkaSettings)
    create_topics(settings, PARTITIONS)
    return Line(settings, capsysbinary)


def jsonl(path: Path, rows: Iterable[object]) -> str:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return str(path)


def turn(number: int, session: str = "s-1") -> dict[str, str]:
    identity = {"turn_id": f"t-{number}", "session_id": session, "character_id": "c-1", "model_id": "m"}
    return identity | {"reply_text": TEXT}


def entry(term: str, topic: str, position: int) -> dict[str, object]:
    return {"term": term, "topic": topic, "position": position}


def letter(reason: str, offset: int, **others: str) -> Headers:
    place = {"topic": "chat-turns", "partition": "0", "offset": str(offset), "timestamp": "1700000000000"}
    headers = {"reason": reason, "detail": "row: expected more"} | place | {"sha256": "00", "version": "1"} | others
    return [(name, value.encode()) for name, value in headers.items()]
