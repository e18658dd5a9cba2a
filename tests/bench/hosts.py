"""Worker speed on a real Kafka, beside the same step in a plain Faust agent and in Quix Streams with state.

Each host starts with a new group on the same turns and writes to a topic of its own, stamped by the broker on append;
its speed is that of the append times between the first and the last verdict. One host runs at a time.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from rich.console import Console

import generate
from brokers import KafkaBroker

HERE = Path(__file__).parent
PARTITIONS = 4
FIRST_S, STALL_S = 90.0, 30.0


class Speed(NamedTuple):
    """How fast a host answered: verdicts, turns a second and wall µs a turn."""

    host: str
    verdicts: int
    per_s: float
    us: float


def measure(turns: int, terms: int, seed: int, console: Console) -> list[Speed]:
    """Run the three hosts in turn; the slower ones get fewer turns, so that each runs some ten seconds."""
    speeds = []
    with tempfile.TemporaryDirectory(prefix="turnjudge-bench-") as name, KafkaBroker() as broker:
        folder = Path(name)
        rows = _write(folder, turns, terms, seed)
        for host, share in (("worker", 1.0), ("quix", 0.5), ("faust agent", 0.125)):
            count = int(turns * share)
            console.print(f"{host}: {count:,} turns")
            speeds.append(_run(host, broker.bootstrap, folder, rows[:count]))
    return speeds


def _write(folder: Path, turns: int, terms: int, seed: int) -> list[tuple[bytes, bytes]]:
    rng = random.Random(seed)
    cards, lexicon = generate.make_cards(rng, 20, plain=True), generate.make_lexicon(rng, terms)
    numbered = [{"position": number, **row} for number, row in enumerate(lexicon, start=1)]
    for file, rows in (("cards.jsonl", cards), ("lexicon.jsonl", numbered)):
        (folder / file).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return [
        (row["session_id"].encode(), json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode())
        for row in generate.make_bench_turns(rng, turns, cards, lexicon)
    ]


def _run(host: str, bootstrap: str, folder: Path, rows: list[tuple[bytes, bytes]]) -> Speed:
    group = f"bench-{host.replace(' ', '-')}"
    topics = {kind: f"{group}-{kind}" for kind in ("turns", "verdicts", "dead")}
    stamped = {"message.timestamp.type": "LogAppendTime", "max.message.bytes": str(4 * 1024 * 1024)}
    _create(bootstrap, {topics["turns"]: {}, topics["verdicts"]: stamped, topics["dead"]: stamped})
    _produce(bootstrap, topics["turns"], rows)
    start = _start_worker if host == "worker" else _start_script
    with start(host, bootstrap, group, topics, folder) as process:
        _await_count(bootstrap, topics["verdicts"], len(rows), process)
    first_ms, last_ms, count = _stamps(bootstrap, topics["verdicts"])
    seconds = (last_ms - first_ms) / 1000
    return Speed(host, count, count / seconds, seconds / count * 1e6)


@contextmanager
def _start_script(
    host: str, bootstrap: str, group: str, topics: dict[str, str], folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    script = HERE / ("quix_host.py" if host == "quix" else "faust_host.py")
    arguments = [bootstrap, group, topics["turns"], topics["verdicts"], str(PARTITIONS), str(folder)]
    with _process([sys.executable, str(script), *arguments], folder / f"{group}.log", {}) as process:
        yield process


@contextmanager
def _start_worker(
    host: str, bootstrap: str, group: str, topics: dict[str, str], folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    environment = {
        "TURNJUDGE_BROKERS": bootstrap,
        "TURNJUDGE_GROUP": group,
        "TURNJUDGE_HTTP_PORT": "0",
        "TURNJUDGE_TOPIC_CHAT_TURNS": topics["turns"],
        "TURNJUDGE_TOPIC_TURN_VERDICTS": topics["verdicts"],
        "TURNJUDGE_TOPIC_TURN_DEAD_LETTERS": topics["dead"],
    }
    turnjudge = [sys.executable, "-c", "from service.cli import main; main()"]
    for arguments in (
        ["topics", "create", "--partitions", str(PARTITIONS)],
        ["load", "cards", str(folder / "cards.jsonl"), "--yes"],
        ["load", "lexicon", str(folder / "lexicon.jsonl"), "--yes"],
    ):
        subprocess.run([*turnjudge, *arguments], env=os.environ | environment, check=True, stdout=subprocess.DEVNULL)
    with _process([*turnjudge, "worker"], folder / f"{group}.log", environment) as process:
        yield process


@contextmanager
def _process(command: list[str], log: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    path = os.pathsep.join(map(str, (HERE.parent.parent, HERE.parent)))
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=os.environ | {"PYTHONPATH": path} | environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=log.parent,
        )
        try:
            yield process
        except TimeoutError as error:
            raise TimeoutError(f"{error}; its last words: {log.read_text(errors='replace')[-2000:]}") from error
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _create(bootstrap: str, topics: dict[str, dict[str, str]]) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    wanted = [NewTopic(name, PARTITIONS, 1, config=config) for name, config in topics.items()]
    for future in admin.create_topics(wanted).values():
        future.result()


def _produce(bootstrap: str, topic: str, rows: list[tuple[bytes, bytes]]) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000})
    for key, value in rows:
        producer.produce(topic, key=key, value=value)
        producer.poll(0)
    assert producer.flush(60) == 0, "not every turn was delivered"


def _await_count(bootstrap: str, topic: str, count: int, process: subprocess.Popen[bytes]) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "count"})
    seen, deadline = 0, time.monotonic() + FIRST_S
    while seen < count:
        time.sleep(0.2)  # the watermarks have no event to await
        now = sum(consumer.get_watermark_offsets(TopicPartition(topic, number))[1] for number in range(PARTITIONS))
        if now > seen:
            seen, deadline = now, time.monotonic() + STALL_S
        if time.monotonic() > deadline or process.poll() is not None:
            raise TimeoutError(f"{topic}: {seen} of {count} verdicts, and no more")
    consumer.close()


def _stamps(bootstrap: str, topic: str) -> tuple[int, int, int]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "stamps", "enable.auto.commit": False})
    partitions = [TopicPartition(topic, number, 0) for number in range(PARTITIONS)]
    wanted = sum(consumer.get_watermark_offsets(each)[1] for each in partitions)
    consumer.assign(partitions)
    stamps: list[int] = []
    while len(stamps) < wanted:
        stamps += [message.timestamp()[1] for message in consumer.consume(10_000, 5.0) if message.error() is None]
    consumer.close()
    return min(stamps), max(stamps), len(stamps)


def as_rows(speeds: list[Speed]) -> list[dict[str, Any]]:
    """Return the figures as JSON can hold them."""
    return [speed._asdict() for speed in speeds]
