"""Command lines on the session's brokers."""

import pytest

from brokers import KafkaBroker
from kafka_cli.line import Line, line_on


@pytest.fixture
def line(kafka: KafkaBroker, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Line:
    return line_on(kafka.bootstrap, monkeypatch, capsysbinary)


@pytest.fixture
def embedded_line(embedded: str, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Line:
    return line_on(embedded, monkeypatch, capsysbinary, idempotent="false")
