"""A folder for the files of a run, and a model's endpoint."""

from pathlib import Path

import pytest

from llm.asking import endpoint as endpoint
from oracle_spec.desk import Files


@pytest.fixture
def files(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Files:
    """An empty folder."""
    return Files(tmp_path, capfdbinary)
