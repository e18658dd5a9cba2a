"""Verdicts of a made-up chat as the detector sees them: a steady trickle of sessions, and what the test adds."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from schemas.spike import SpikeRecord
from service.spikes.detector import Detector
from service.spikes.reading import Seen
from service.spikes.rule import MINUTE_MS

START: Final = 29_000_000  # the minute at which every stream begins; an hour of no day in particular
DAY: Final = 1_440
Log = dict[int, list[Seen]]


def seen(
    session_id: str,
    minute: float,
    topic: str | None = None,
    *,
    turn_id: str | None = None,
    character_id: str = "c-1",
    lexicon: bytes = b"l-1",
    card: bytes = b"k-1",
) -> Seen:
    """Return a verdict of a session, `minute` counted from the start of streams."""
    time_ms = int((START + minute) * MINUTE_MS)
    return Seen(session_id, turn_id or f"T-{minute:g}", character_id, topic, time_ms, lexicon, card)


def trickle(
    minutes: int, sessions: int = 20, touched: int = 200, topic: str = "정치", begin: int = 0, name: str = "s"
) -> Iterator[Seen]:
    """Yield so many new sessions a minute, of one turn each; each `touched`-th touches the topic."""
    for minute in range(begin, begin + minutes):
        for number in range(sessions):
            count = minute * sessions + number
            where = minute + (number + 0.5) / sessions
            yield seen(f"{name}-{count}", where, topic if count % touched == 0 else None)


def burst(minute: float, count: int, topic: str = "정치", name: str = "b", **more: str) -> list[Seen]:
    """Return sessions that all touch a topic, ten a second from a minute on."""
    return [seen(f"{name}-{minute:g}-{n}", minute + n / 600, topic, **more) for n in range(count)]  # type: ignore[arg-type]


def in_order(verdicts: Iterable[Seen]) -> list[Seen]:
    """Sort by the time of the turns."""
    return sorted(verdicts, key=lambda each: each.time_ms)


def logs(verdicts: Sequence[Seen], partitions: int = 3) -> Log:
    """Spread verdicts over partitions by session, in the order given."""
    spread: Log = {number: [] for number in range(partitions)}
    for each in verdicts:
        spread[sum(map(ord, each.session_id)) % partitions].append(each)
    return spread


def run(verdicts: Iterable[Seen], begin_after: int | None = 0) -> list[SpikeRecord]:
    """Return what a detector says of verdicts read in their order; it decides from the beginning."""
    detector = Detector([0])
    detector.begin_after = begin_after
    said: list[SpikeRecord] = []
    for each in verdicts:
        detector.take(0, each)
        said += [record for look in detector.looks() for record in look.records]
    return said + [record for look in detector.looks([0]) for record in look.records]


def read_by(detector: Detector, log: Log, schedule: list[tuple[int, int, bool]]) -> list[SpikeRecord]:
    """Read partitions as a schedule says (which, how many, look after it), then all that is left."""
    places = dict.fromkeys(log, 0)
    said: list[SpikeRecord] = []
    for partition, count, looks in [*schedule, *((number, 10**9, True) for number in log)]:
        for each in log[partition][places[partition] : places[partition] + count]:
            detector.take(partition, each)
        places[partition] += count
        if looks:
            quiet = [number for number in log if not log[number]]
            said += [record for look in detector.looks(quiet) for record in look.records]
    return said


def decided(log: Log, schedule: list[tuple[int, int, bool]]) -> list[SpikeRecord]:
    """Return what a detector says of partitions read as a schedule says; it decides from the beginning."""
    detector = Detector([*log])
    detector.begin_after = 0
    return read_by(detector, log, schedule)


def minute_of(record: SpikeRecord) -> int:
    """Return when a record was decided, in minutes from the start."""
    return record["at"] // MINUTE_MS - START
