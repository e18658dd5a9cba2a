"""`turnjudge worker`: the judge, live; with the broker in memory that the demo has, too."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import click

from service.cli.environment import BROKERS, naming
from service.errors import OperatorError
from service.settings import load_settings
from service.stream.settings import WorkerSettings

_Command: Final = naming(WorkerSettings)
_PARTITIONS: Final = 4
# The demo's broker takes long to begin a group; short times keep it to seconds. It has no idempotent producers.
EMBEDDED: Final = {
    "idempotent": False,
    "session_timeout_s": 6.0,
    "heartbeat_interval_s": 1.5,
    "rebalance_timeout_s": 6.0,
    "settle_timeout_s": 2.0,
}


@click.command(cls=_Command)
@BROKERS
@click.option("--group", metavar="NAME", help="Consumer group; also the changelog's prefix.")
@click.option("--profile", metavar="NAME", help="Judging profile, where the card does not name one.")
@click.option("--profile-file", metavar="FILE", help="Words of your own for the extended profile, TOML.")
@click.option("--http-host", metavar="ADDRESS", help="Address of /metrics, /healthz and /readyz.")
@click.option("--http-port", metavar="PORT", help="Their port; 0 takes a free one.")
@click.option("--log-level", metavar="LEVEL", help="DEBUG, INFO, WARNING or ERROR.")
@click.option("--embedded", is_flag=True, help="Start the demo's broker, create the topics, and judge from there.")
def worker(embedded: bool, **options: Any) -> None:
    """Judge chat turns from Kafka until SIGTERM or Ctrl-C.

    Exit codes: 0 drained; 1 something was not delivered, or broke; 2 wrong settings, topics or state; 3 too many faults
    of our own; 70 not stopped within TURNJUDGE_STOP_DEADLINE_S; 75 nothing moved any more. Nothing undelivered is ever
    committed.
    """
    from service.stream.app import run_worker

    if not embedded:
        _end(run_worker(load_settings(WorkerSettings, **options)))
        return
    with embedded_settings(**options) as settings:
        say(f"embedded broker at {settings.brokers}: in memory, and without idempotent producers")
        _end(run_worker(settings))


@contextmanager
def embedded_settings(**options: Any) -> Iterator[WorkerSettings]:
    """Start the embedded broker with all topics; yield the settings that fit it."""
    from service.embedded.broker import EmbeddedBrokerFailed, EmbeddedBrokerMissing, embedded_broker
    from service.stream.topics import create_topics

    try:
        with embedded_broker() as address:
            settings = load_settings(WorkerSettings, **{**options, **EMBEDDED, "brokers": address})
            create_topics(settings, _PARTITIONS, 1)
            yield settings
    except (EmbeddedBrokerMissing, EmbeddedBrokerFailed) as error:
        raise OperatorError(str(error)) from None


def say(line: str) -> None:
    """Say a line on stderr."""
    click.echo(line, err=True)


def _end(code: int) -> None:
    if code:
        raise click.exceptions.Exit(code)
