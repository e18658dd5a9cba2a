"""An endpoint and a world for each test."""

from collections.abc import Iterator

import pytest

from brokers import KafkaBroker
from llm.asking import endpoint as endpoint
from stream.worlds import Make, worlds


@pytest.fixture
def make_world(kafka: KafkaBroker) -> Iterator[Make]:
    """Make worlds on the session's Kafka, with their topics; they end with the test."""
    with worlds(kafka.bootstrap, 2) as make:
        yield make
