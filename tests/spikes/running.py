"""The detector as a process on a real Kafka, and the verdicts it is given there."""

import json
import time
from collections.abc import Iterable, Sequence

import orjson

from schemas.spike import SpikeRecord
from schemas.validate import SPIKE
from service.spikes.detector import Detector
from service.spikes.reading import PassedOver, Seen, read
from service.spikes.rule import MINUTE_MS
from spikes.stream import DAY, START, burst, in_order, trickle
from stream.world import Worker, World, encode, series_of, wait_for

DAY_LONG = DAY + 200
QUIET = in_order(trickle(DAY_LONG, sessions=5, touched=250))
# Twenty minutes of a spike and an hour and a half after it, in six parts.
RISE = in_order(
    [
        *trickle(90, sessions=5, touched=250, begin=DAY_LONG),
        *(each for minute in range(DAY_LONG, DAY_LONG + 20) for each in burst(minute, 4)),
    ]
)
PARTS = [RISE[len(RISE) * part // 6 : len(RISE) * (part + 1) // 6] for part in range(6)]
# The stream's time, moved so that it ends a little before now.
SHIFT_MS = (int(time.time()) // 60 - START - DAY_LONG - 100) * MINUTE_MS


def send(world: World, verdicts: Iterable[Seen]) -> None:
    """Send verdicts as the worker does, as far as they are read here."""
    topic = world.settings.topics.turn_verdicts
    for each in verdicts:
        time_ms = each.time_ms + SHIFT_MS
        row = {"turn_id": each.turn_id, "session_id": each.session_id, "character_id": each.character_id}
        headers = [
            ("timestamp", b"%d" % time_ms),
            ("lexicon", each.lexicon),
            ("card", each.card),
            ("judged_at", b"%d" % (time_ms + 400)),
        ]
        value = encode({**row, "touched_topic": each.topic})
        world.send(topic, value, each.session_id.encode(), headers=headers, time_ms=time_ms + 400)
    world.flush()


def start(world: World, *arguments: str) -> Worker:
    """Start the detector."""
    return world.beside("spikes", *arguments, spikes_http_port=0)


def series(worker: Worker) -> dict[str, float]:
    """Return its metrics, each series as it is written."""
    return series_of(worker.get("/metrics").body)


def await_look(worker: Worker, last: Seen) -> None:
    """Wait until it looked at all that came before the last verdict."""
    minute = ((last.time_ms + SHIFT_MS) // MINUTE_MS - 1) * 60

    def looked() -> bool:
        assert worker.process.poll() is None, worker.output
        return series(worker)["spikes_look_timestamp_seconds"] >= minute

    wait_for(f"looked at all before {minute}", looked, 60)


def published(world: World) -> list[bytes]:
    """Return the records of the spikes' topic."""
    return [record.value for record in world.read(world.settings.topics.topic_spikes)]


def expected(world: World) -> list[bytes]:
    """Return what the detector says of the topic's verdicts, read a partition after the other."""
    records = world.read(world.settings.topics.turn_verdicts)
    detector = Detector(sorted({record.partition for record in records}))
    detector.begin_after = 0
    for record in records:
        seen = read(record.value, record.headers)
        if not isinstance(seen, PassedOver):
            detector.take(record.partition, seen)
    return [orjson.dumps(record) for look in detector.looks() for record in look.records]


def states(values: Sequence[bytes]) -> list[tuple[str, bool]]:
    """Return of each record its state, and whether it is of a topic over all characters."""
    rows: list[SpikeRecord] = [json.loads(value) for value in values]
    assert all(SPIKE.is_valid(row) for row in rows)
    return [(row["state"], row["character_id"] is None) for row in rows]
