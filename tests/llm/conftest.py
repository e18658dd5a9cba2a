"""An endpoint for each test."""

from collections.abc import Iterator

import pytest

from llm.endpoint import Endpoint, listening


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A chat endpoint on loopback that ends with the test."""
    with listening() as opened:
        yield opened
