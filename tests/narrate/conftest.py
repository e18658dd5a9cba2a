"""An endpoint and a world for each test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from brokers import KafkaBroker
from llm.endpoint import Endpoint, listening
from stream.world import World, world

Make = Callable[..., World]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A chat endpoint on loopback that ends with the test."""
    with listening() as opened:
        yield opened


@pytest.fixture
def make_world(kafka: KafkaBroker) -> Iterator[Make]:
    """Make worlds on the session's Kafka, with their topics; they end with the test."""
    with ExitStack() as stack:

        def make(partitions: int = 2) -> World:
            made = stack.enter_context(world(kafka.bootstrap))
            made.create(partitions)
            return made

        yield make
