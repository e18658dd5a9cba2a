"""A real Kafka for measuring: topics, turns, hosts as processes, and what the broker's append times say of them."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

import generate
from files.commands import MAIN
from service.embedded.processes import end

HERE = Path(__file__).parent
PARTITIONS = 4
FIRST_S, STALL_S = 90.0, 30.0
TURNJUDGE = (sys.executable, "-c", MAIN)
_POLL_S = 0.1
_TICKS_A_S = os.sysconf("SC_CLK_TCK")

Rows = Iterable[tuple[bytes, bytes]]


class Run(NamedTuple):
    """One host's topics and group on a broker, and the folder with its cards, lexicon and logs."""

    bootstrap: str
    group: str
    folder: Path

    @property
    def turns(self) -> str:
        """The topic of turns."""
        return f"{self.group}-turns"

    @property
    def verdicts(self) -> str:
        """The topic of verdicts, stamped by the broker on append."""
        return f"{self.group}-verdicts"

    @property
    def environment(self) -> dict[str, str]:
        """What a worker of this run is told."""
        return {
            "TURNJUDGE_BROKERS": self.bootstrap,
            "TURNJUDGE_GROUP": self.group,
            "TURNJUDGE_HTTP_PORT": "0",
            "TURNJUDGE_TOPIC_CHAT_TURNS": self.turns,
            "TURNJUDGE_TOPIC_TURN_VERDICTS": self.verdicts,
            "TURNJUDGE_TOPIC_TURN_DEAD_LETTERS": f"{self.group}-dead",
        }


def write_material(folder: Path, turns: int, terms: int, seed: int) -> list[tuple[bytes, bytes]]:
    """Write cards and lexicon; return turns with their keys."""
    rng = random.Random(seed)
    cards, lexicon = generate.make_cards(rng, 20, plain=True), generate.make_lexicon(rng, terms)
    for file, rows in (("cards.jsonl", cards), ("lexicon.jsonl", lexicon)):
        (folder / file).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return [
        (row["session_id"].encode(), json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode())
        for row in generate.make_bench_turns(rng, turns, cards, lexicon)
    ]


def create(run: Run) -> None:
    """Create the topics of a run, the worker's included."""
    stamped = {"message.timestamp.type": "LogAppendTime", "max.message.bytes": str(4 * 1024 * 1024)}
    wanted = [NewTopic(name, PARTITIONS, 1, config=stamped) for name in (run.turns, run.verdicts, f"{run.group}-dead")]
    admin = AdminClient({"bootstrap.servers": run.bootstrap})
    for future in admin.create_topics(wanted).values():
        future.result()
    for arguments in (
        ("topics", "create", "--partitions", str(PARTITIONS)),
        ("load", "cards", str(run.folder / "cards.jsonl"), "--yes"),
        ("load", "lexicon", str(run.folder / "lexicon.jsonl"), "--yes"),
    ):
        environment = os.environ | run.environment
        subprocess.run([*TURNJUDGE, *arguments], env=environment, check=True, capture_output=True)


def produce(run: Run, topic: str, rows: Rows) -> None:
    """Send rows as fast as they go."""
    limits = {"queue.buffering.max.messages": 200_000, "queue.buffering.max.kbytes": 262_144}
    producer = Producer({"bootstrap.servers": run.bootstrap, "linger.ms": 50, **limits})
    for key, value in rows:
        while True:
            try:
                producer.produce(topic, key=key, value=value)
                break
            except BufferError:
                producer.poll(0.1)
    assert producer.flush(120) == 0, "not everything was delivered"


@contextmanager
def worker(run: Run, count: int = 1) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start workers of a run; end them."""
    with ExitStack() as stack:
        commands = [[*TURNJUDGE, "worker"]] * count
        yield [stack.enter_context(_process(run, command, number)) for number, command in enumerate(commands)]


@contextmanager
def script(run: Run, name: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start a host of another kind; end it."""
    arguments = [run.bootstrap, run.group, run.turns, run.verdicts, str(PARTITIONS), str(run.folder)]
    with _process(run, [sys.executable, "-P", str(HERE / name), *arguments], 0) as process:
        yield [process]


@contextmanager
def _process(run: Run, command: list[str], number: int) -> Iterator[subprocess.Popen[bytes]]:
    environment = os.environ | run.environment  # PYTHONPATH says whether the compiled build is run
    log = run.folder / f"{run.group}-{number}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT, cwd=run.folder)
        try:
            yield process
        except TimeoutError as error:
            raise TimeoutError(f"{error}; its last words: {log.read_text(errors='replace')[-2000:]}") from error
        finally:
            end(process, 20)


def cpu_s(processes: Sequence[subprocess.Popen[bytes]]) -> float:
    """Return the CPU time that processes have taken, in all their threads."""
    ticks = 0
    for process in processes:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICKS_A_S


def waited_s(process: subprocess.Popen[bytes]) -> float:
    """Return how long the main thread of a process was ready to run and had no core."""
    return int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[1]) / 1e9


def await_verdicts(run: Run, count: int, processes: Sequence[subprocess.Popen[bytes]]) -> float:
    """Wait for so many verdicts; return the CPU time of a turn in µs, from the first verdicts seen to the last."""
    consumer = Consumer({"bootstrap.servers": run.bootstrap, "group.id": "count"})
    parts = [TopicPartition(run.verdicts, number) for number in range(PARTITIONS)]
    seen, deadline, began = 0, time.monotonic() + FIRST_S, (0, 0.0)
    try:
        while seen < count:
            time.sleep(_POLL_S)  # the watermarks have no event to await
            now = sum(consumer.get_watermark_offsets(part)[1] for part in parts)
            if now > seen:
                began = began if began[0] else (now, cpu_s(processes))
                seen, deadline = now, time.monotonic() + STALL_S
            if time.monotonic() > deadline or any(process.poll() is not None for process in processes):
                raise TimeoutError(f"{run.verdicts}: {seen} of {count} verdicts, and no more")
    finally:
        consumer.close()
    return (cpu_s(processes) - began[1]) / max(1, count - began[0]) * 1e6


class Stamps(NamedTuple):
    """Append times of verdicts, in ms, and of the turns they answer where their headers tell."""

    verdicts: list[int]
    turns: list[int]


def appended(run: Run) -> tuple[int, float]:
    """Return how many verdicts of a run there are, and the seconds from the first one's append to the last one's."""
    times_ms = stamps(run).verdicts
    return len(times_ms), max(0.001, (max(times_ms) - min(times_ms)) / 1000)


def stamps(run: Run) -> Stamps:
    """Read the verdicts of a run."""
    consumer = Consumer({"bootstrap.servers": run.bootstrap, "group.id": "stamps", "enable.auto.commit": False})
    parts = [TopicPartition(run.verdicts, number, 0) for number in range(PARTITIONS)]
    wanted = sum(consumer.get_watermark_offsets(part)[1] for part in parts)
    consumer.assign(parts)
    found = Stamps([], [])
    while len(found.verdicts) < wanted:
        for message in consumer.consume(10_000, 5.0):
            if message.error() is None:
                found.verdicts.append(message.timestamp()[1])
                found.turns.append(int(dict(message.headers() or ()).get("timestamp", b"0")))
    consumer.close()
    return found
