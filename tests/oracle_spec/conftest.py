"""A folder for the files of a run, and a model's endpoint."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from llm.endpoint import Endpoint, listening
from oracle_spec.desk import Files


@pytest.fixture
def files(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Files:
    """An empty folder."""
    return Files(tmp_path, capfdbinary)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A chat endpoint on loopback that ends with the test."""
    with listening() as opened:
        yield opened
