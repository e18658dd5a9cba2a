"""An endpoint and a world for each test."""

from collections.abc import Iterator

import pytest

from brokers import KafkaBroker
from llm.endpoint import Endpoint, listening
from stream.worlds import Make, worlds


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A chat endpoint on loopback that ends with the test."""
    with listening() as opened:
        yield opened


@pytest.fixture
def make_world(kafka: KafkaBroker) -> Iterator[Make]:
    """Make worlds on the session's Kafka, with their topics; they end with the test."""
    with worlds(kafka.bootstrap, 2) as make:
        yield make
