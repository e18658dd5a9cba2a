"""Fixtures for the services, and the rule that nothing is left out in silence.

A test that uses a service's fixture, or is marked `needs(NAME)`, is skipped where the service is missing; the run ends
with the list of what was left out and how to get it. With TURNJUDGE_TEST_REQUIRE=all nothing may be left out: a missing
service ends the run before the first test, and a test skipped for any other reason fails it. With
TURNJUDGE_TEST_COMPILED=1 the compiled build must be what is tested.
"""

import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import hypothesis
import pytest

from brokers import KafkaBroker
from service.embedded.broker import embedded_broker
from service.logs import QUIET
from service.step import step
from services import SERVICES, SHARED

# How long an example takes says more of the machine than of the code.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

_REQUIRE = "TURNJUDGE_TEST_REQUIRE"
_COMPILED = "TURNJUDGE_TEST_COMPILED"
_NAMES = tuple(service.name for service in SERVICES)


@pytest.fixture(autouse=True)
def logs_as_before() -> Iterator[None]:
    """Take back what a command that was called in this process made of its logs."""
    named = [logging.getLogger(name) for name in ("service", *QUIET)]
    root, hook = logging.getLogger(), threading.excepthook
    handlers, levels = root.handlers[:], [logger.level for logger in (root, *named)]
    yield
    root.handlers[:] = handlers
    for logger, level in zip((root, *named), levels, strict=True):
        logger.setLevel(level)
    threading.excepthook = hook


@pytest.fixture(scope="session")
def kafka() -> Iterator[KafkaBroker]:
    """A real Apache Kafka, shared by the session: give topics and groups names of your own, and do not stop it."""
    _skip_without("kafka")
    with KafkaBroker() as broker:
        yield broker


@pytest.fixture(scope="session")
def embedded() -> Iterator[str]:
    """The demo's broker as "host:port", shared by the session."""
    _skip_without("embedded")
    with embedded_broker() as address:
        yield address


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder ../shared: published fixtures and cases, read only."""
    _skip_without("shared")
    return SHARED


def pytest_configure() -> None:
    """Refuse to start when everything is required and a service is missing, or the wrong build is there."""
    required = os.environ.get(_REQUIRE, "")
    if required not in ("", "all"):
        raise pytest.UsageError(f"{_REQUIRE}: expected all or nothing")
    if bool(os.environ.get(_COMPILED)) == isinstance(step, FunctionType):
        raise pytest.UsageError(
            f"{_COMPILED}=1 and the compiled build on PYTHONPATH belong together: make test-compiled"
        )
    missing = _missing() if required else {}
    if missing:
        raise pytest.UsageError("\n".join((f"{_REQUIRE}=all, and missing here:", *missing.values())))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests marked with a service that is missing."""
    missing = _missing()
    for item in items:
        for name in (name for mark in item.iter_markers("needs") for name in mark.args):
            if name not in _NAMES:
                raise pytest.UsageError(f"{item.nodeid}: needs {name}, which is not one of {', '.join(_NAMES)}")
            if name in missing:
                item.add_marker(pytest.mark.skip(reason=missing[name]))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a run that left something out though everything was required."""
    if os.environ.get(_REQUIRE) and _left_out(session.config) and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """List what was left out and how to get it."""
    terminalreporter.section("left out")
    for reason, tests in _left_out(config).items():
        terminalreporter.line(f"{len(tests)} left out, first {tests[0]}: {reason}")
    if not _left_out(config):
        terminalreporter.line("nothing was left out")


def _left_out(config: pytest.Config) -> dict[str, list[str]]:
    """By reason: the tests, or modules of tests, that were skipped. An expected failure is not among them."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    by_reason: dict[str, list[str]] = {}
    for report in reporter.stats.get("skipped", ()) if reporter else ():
        by_reason.setdefault(report.longrepr[2].removeprefix("Skipped: "), []).append(report.nodeid)
    return by_reason


def _missing() -> dict[str, str]:
    """By name of a missing service: what lacks and how to get it, in one line."""
    states = ((service, service.missing()) for service in SERVICES)
    return {service.name: f"{service.name}: {lacks}; get it by: {service.how}" for service, lacks in states if lacks}


def _skip_without(name: str) -> None:
    lacks = _missing().get(name)
    if lacks:
        pytest.skip(lacks)
