"""Worlds for stream tests."""

import json
from collections.abc import Iterator

import pytest

from brokers import KafkaBroker
from services import ROOT
from stream.world import Row
from stream.worlds import Make, worlds


@pytest.fixture
def make_world(kafka: KafkaBroker) -> Iterator[Make]:
    """Make worlds on the session's Kafka, with their topics; they end with the test."""
    with worlds(kafka.bootstrap, 2) as make:
        yield make


@pytest.fixture(scope="session")
def sample() -> dict[str, list[Row]]:
    """The sample chat's rows: cards, lexicon, turns and expected."""
    folder = ROOT / "service/embedded/sample"
    names = {"cards": "cards", "lexicon": "lexicon", "turns": "turns", "expected": "sample.expected"}
    return {
        name: [json.loads(line) for line in (folder / f"{file}.jsonl").read_text("utf-8").splitlines()]
        for name, file in names.items()
    }
