"""A narrator of a world's topics: verdicts sent to it, a model that answers rightly, and the summaries that come."""

import json
from collections.abc import Iterable
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from deciding import Row
from llm.endpoint import Endpoint, Reply, right
from narrate.records import HONEST, WORDS, record_of
from schemas.validate import TURN_SUMMARY
from stream.world import Worker, World, encode

_KINDS = {word: kind for kind, word in WORDS.items()}


def start(world: World, endpoint: Endpoint, *arguments: str, **settings: Any) -> Worker:
    """Start a narrator of a world's topics; it ends with the world."""
    given = {"url": endpoint.url, "model": "m-1", "attempts": 1, "timeout_s": 20, "breaker_pause_s": 0.5}
    llm = {f"llm_{name}": value for name, value in (given | settings).items()}
    return world.beside("narrate", "--http-port", "0", *arguments, **llm)


def shown(narrating: Worker) -> dict[tuple[str, ...], float]:
    """Return its metrics by name and the values of their labels."""
    families = text_string_to_metric_families(narrating.get("/metrics").body)
    samples = (sample for family in families for sample in family.samples)
    return {(sample.name, *sample.labels.values()): sample.value for sample in samples}


def verdicts(count: int, begin: int = 0) -> list[Row]:
    """Verdicts of all kinds in five sessions."""
    kinds = [*WORDS]
    made = [record_of(kind) for kind in kinds]
    return [
        made[n % len(kinds)] | {"turn_id": f"T-{n}", "session_id": f"S-{n % 5 + n // 50 % 3}"}
        for n in range(begin, begin + count)
    ]


def send(world: World, rows: Iterable[Row]) -> None:
    topic = world.settings.topics.turn_verdicts
    for row in rows:
        about = [("verdict_id", f"v-{row['turn_id']}".encode()), ("checks", b"1" * 10)]
        world.send(topic, encode(row), row["session_id"].encode(), headers=about)
    world.flush()


def answered(body: Row, number: int = 0) -> Reply:
    data = json.loads(body["messages"][1]["content"])
    summary = HONEST[_KINDS[data["verdict"]]]
    return right({"verdict": data["verdict"], "evidence": data["evidence"][-1:], "summary": summary})


def summaries(world: World, count: int) -> list[Row]:
    """Wait for so many summaries and return them all, each valid and under its session's key."""
    records = world.await_records(world.settings.topics.turn_summaries, count, 60)
    rows = [json.loads(record.value) for record in records]
    for record, row in zip(records, rows, strict=True):
        assert TURN_SUMMARY.is_valid(row)
        assert record.key == row["session_id"].encode()
        assert row["verdict_id"] == f"v-{row['turn_id']}"
    return rows


def order(world: World, topic: str) -> dict[int, list[str]]:
    """Return by partition the turn ids as they stand."""
    found: dict[int, list[str]] = {}
    for record in world.read(topic):
        found.setdefault(record.partition, []).append(json.loads(record.value)["turn_id"])
    return found


def read(world: World) -> list[Row]:
    return [json.loads(record.value) for record in world.read(world.settings.topics.turn_summaries)]


def first_times(found: dict[int, list[str]]) -> dict[int, list[str]]:
    """Return the turn ids of each partition in the order they came first; a repeat may follow a crash."""
    return {partition: list(dict.fromkeys(turns)) for partition, turns in found.items()}
