"""The worker: Faust's app with our transport, its settings, and how the process begins and ends."""

import asyncio
import gc
import logging
import os
import signal
import threading
from contextlib import suppress
from typing import Any, Final, cast

import faust
from faust.transport.drivers import aiokafka as driver
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource

from service.connection import client_options, faust_broker, faust_credentials, reaching
from service.errors import OperatorError
from service.logs import ENGINE, set_up_logs
from service.profiles import read_profiles
from service.stream.batch import Judging
from service.stream.consumer import Consumer
from service.stream.guard import TooManyFaults
from service.stream.health import Health
from service.stream.metrics import Metrics
from service.stream.outgoing import Limits
from service.stream.producer import BATCH_BYTES, MAX_REQUEST_BYTES, Producer
from service.stream.reference import Reference
from service.stream.settings import WorkerSettings
from service.stream.table import TABLE_NAME, EntityStore, EntityTable
from service.stream.topics import check_topics
from service.stream.watchdog import Sign, Stalled, Watchdog, lag_by

logger = logging.getLogger(__name__)

FAILED: Final = 1
FAULTS: Final = 3
DEADLINE: Final = 70
STALLED: Final = 75
DEFAULT_LIMIT_BYTES: Final = 1_048_588
_REQUEST_TIMEOUT_S: Final = 30.0
_TICK_S: Final = 1.0
_GC_ALLOCATIONS: Final = 50_000


class Transport(driver.Transport):
    """The driver with our consumer and producer."""

    Consumer = Consumer
    Producer = Producer


class App(faust.App):
    """Faust's app; `judging` is what its consumer and producer work with."""

    logger = ENGINE

    def __init__(self, judging: Judging) -> None:
        self.judging = judging
        settings = judging.settings
        super().__init__(
            settings.group,
            broker=faust_broker(settings),
            broker_credentials=faust_credentials(settings),
            broker_client_id="turnjudge",
            broker_commit_interval=1.0,
            broker_request_timeout=max(_REQUEST_TIMEOUT_S, settings.session_timeout_s),
            broker_session_timeout=settings.session_timeout_s,
            broker_heartbeat_interval=settings.heartbeat_interval_s,
            broker_rebalance_timeout=settings.rebalance_timeout_s,
            consumer_group_instance_id=settings.group_instance_id,
            producer_acks=-1,
            producer_linger=0.0,
            producer_max_batch_size=min(BATCH_BYTES, *judging.limits),
            producer_max_request_size=MAX_REQUEST_BYTES,
            producer_request_timeout=_REQUEST_TIMEOUT_S,
            store="memory://",
            topic_allow_declare=False,
            topic_disable_leader=True,
            table_standby_replicas=0,
            # The demo's broker, the one without idempotent producers, tells ends that this check would stumble on.
            recovery_consistency_check=settings.idempotent,
            stream_wait_empty=True,
            web_enabled=False,
            autodiscover=False,
        )
        table = EntityTable(self, name=TABLE_NAME, key_type=bytes, value_type=bytes, beacon=self.tables.beacon)
        self.tables.add(table)
        self.entities = cast(EntityStore, table.data)
        self.topics.add(self.topic(judging.topics.chat_turns, value_type=bytes, value_serializer="raw"))

    def _new_transport(self) -> Transport:
        return Transport(self.conf.broker_consumer, self)

    def _create_directories(self) -> None:
        """Make none: nothing is kept on disk."""


def run_worker(settings: WorkerSettings) -> int:
    """Judge until SIGTERM or SIGINT; return the exit code.

    0: drained. 1: something was not delivered, or broke. 3: faults of our own were above their limit. 70: the stop
    took longer than its deadline. 75: nothing moved any more. Nothing undelivered is committed in any case.

    Raises:
        OperatorError: wrong topics or settings, or a state that does not fit the input.
    """
    check_topics(settings)
    limits = output_limits(settings)
    set_up_logs(settings.log_level)
    profiles = read_profiles(settings.profile, settings.profile_file)
    metrics = Metrics(
        source_topic=settings.topics.chat_turns, max_models=settings.max_models, max_topics=settings.max_topics
    )
    reference = Reference(settings, profiles, metrics)
    deadline = Deadline(settings.stop_deadline_s)
    # Elements live long and make no cycles: the collector would walk all of them again and again.
    gc.freeze()
    gc.set_threshold(_GC_ALLOCATIONS, 20, 50)
    try:
        return asyncio.run(_serve(Judging(settings, limits, metrics, reference), deadline))
    finally:
        deadline.cancel()


def output_limits(settings: WorkerSettings) -> Limits:
    """Ask the brokers how large a record batch each output topic takes; where they do not tell, Kafka's default.

    Raises:
        OperatorError: no broker answered.
    """
    names = settings.topics
    outputs = (names.turn_verdicts, names.turn_dead_letters, names.changelog)
    asked = [ConfigResource("TOPIC", name) for name in outputs]
    with reaching(settings), KafkaAdminClient(**client_options(settings)) as admin:
        configs = admin.describe_configs(asked, config_filter="all")["topic"]
    told = [configs.get(name, {}).get("max.message.bytes") for name in outputs]
    return Limits(*(int(each["value"]) if each else DEFAULT_LIMIT_BYTES for each in told))


class Deadline:
    """Ends the process by force when its stop takes too long: an engine that waits for a lost broker never would."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timer: threading.Timer | None = None

    def begin(self, code: int) -> None:
        """Start the clock, once."""
        if self._timer is None:
            self._timer = threading.Timer(self._seconds, self._end, (code,))
            self._timer.daemon = True
            self._timer.start()

    def cancel(self) -> None:
        """Stop the clock: the stop is done."""
        if self._timer is not None:
            self._timer.cancel()

    def _end(self, code: int) -> None:
        logger.error("not stopped after %g s: ending by force, nothing undelivered is committed", self._seconds)
        os._exit(code)


async def _serve(judging: Judging, deadline: Deadline) -> int:
    """Run the worker's parts until a signal, a crash or the end of the reference thread."""
    settings, reference = judging.settings, judging.reference
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    failures: list[BaseException] = []
    app = App(judging)
    health = Health(settings.http_host, settings.http_port, judging.metrics, lambda: _why_not_ready(app, stop))
    address = await health.start()
    logger.info("metrics at %s/metrics, health at %s/healthz and %s/readyz", address, address, address)

    def fail(error: BaseException) -> None:
        failures.append(error)
        stop.set()

    def stalled(error: Stalled) -> None:
        """Called by the watchdog's thread: if the event loop does not listen, the deadline ends it."""
        logger.error("stopping, for %s", error)
        deadline.begin(STALLED)
        loop.call_soon_threadsafe(fail, error)

    watchdog = Watchdog(settings.stall_timeout_s, lag_by(settings), stalled)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    reference.start(fail)
    watchdog.start()
    running = asyncio.ensure_future(_run(app, watchdog))
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stop.set()
    watchdog.stop()
    if running.done() and (error := running.exception()):
        failures.append(error)
    failures.extend([app.crash_reason] if app.crash_reason else [])
    deadline.begin(_code(failures) or DEADLINE)
    await app.stop()
    running.cancel()
    await reference.stop()
    await health.stop()
    _say_end(judging)
    return _exit_code(failures if failures or not app.crash_reason else [app.crash_reason])


def _say_end(judging: Judging) -> None:
    """Say what was counted, for whoever reads the metrics of a process that is gone."""

    def counted(name: str, **labels: str) -> int:
        return int(judging.metrics.registry.get_sample_value(name, labels) or 0)

    consumed = counted("judge_records_consumed_total", topic=judging.topics.chat_turns)
    outcomes = ("judged", "dead_letter", "tombstone", "abandoned")
    completed = [counted("judge_records_completed_total", outcome=outcome) for outcome in outcomes]
    logger.info("ended: %d consumed, %d judged, %d dead letters, %d tombstones, %d abandoned", consumed, *completed)


async def _run(app: App, watchdog: Watchdog) -> None:
    """Start the app once cards and lexicon are read, and stay until it ends; show the watchdog what moves."""
    reference = app.judging.reference
    while not reference.loaded.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(reference.loaded.wait(), _TICK_S)
        watchdog.sign = Sign((reference.taken,), judging=False, next={})
    app.judging.show_build()
    started = asyncio.ensure_future(app.start())
    ended = asyncio.ensure_future(app.wait_until_stopped())
    try:
        while not ended.done():
            await asyncio.wait(
                {ended} if started.done() else {started, ended}, timeout=_TICK_S, return_when=asyncio.FIRST_COMPLETED
            )
            if started.done():
                started.result()
                _consumer(app).show_lag()
                watchdog.sign = _consumer(app).sign()
    finally:
        started.cancel()
        ended.cancel()


def _why_not_ready(app: App, stop: asyncio.Event) -> str | None:
    if stop.is_set():
        return "stopping"
    if app.judging.reference.snapshot is None:
        return "cards and lexicon are not read yet"
    return _consumer(app).why_not_ready() if app.started else "the worker is starting"


def _consumer(app: App) -> Consumer:
    consumer: Any = app.consumer
    return cast(Consumer, consumer)


def _code(failures: list[BaseException]) -> int:
    """Return the exit code that some failures come to, 0 if there are none."""
    for kind, code in ((TooManyFaults, FAULTS), (Stalled, STALLED)):
        if any(isinstance(error, kind) for error in failures):
            return code
    return FAILED if failures else 0


def _exit_code(failures: list[BaseException]) -> int:
    for error in failures:
        if isinstance(error, OperatorError):
            raise error
    for error in failures:
        if isinstance(error, TooManyFaults):
            logger.error("stopped, for %s; what failed is not committed, and a release that can judge it will", error)
        elif not isinstance(error, Stalled):
            logger.error("ended by %s", type(error).__name__, exc_info=error)
    return _code(failures)
