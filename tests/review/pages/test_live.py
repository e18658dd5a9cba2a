"""`turnjudge page --live` on a real Kafka: killed and started again in the middle, no verdict is missing or doubled."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import orjson
import pytest
from sqlalchemy import Engine, func, select

from brokers import KafkaBroker
from deciding import turn
from review.loading.test_live import publish
from review.store.desk import spike, tallies_hold
from service.cli import run
from service.review.store.opening import opened, reading
from service.review.store.tables import POSITIONS, TURN_ROWS
from services import ROOT
from stream.world import World, wait_for, world

pytestmark = pytest.mark.needs("kafka")
MAIN = "from service.cli import main; main()"


class Served:
    """A page as a process of its own."""

    def __init__(self, one: World, url: str, *more: str) -> None:
        command = [sys.executable, "-c", MAIN, "page", "--live", "--port", "0", "--db", url, *more]
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | one.environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        said = self.process.stderr.readline()
        found = re.fullmatch(r"the page is at (http://\S+)\n", said)
        assert found is not None, said
        self.base = found[1]

    def list(self) -> str:
        return httpx.get(self.base, timeout=30).text

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return self.process.wait(30)


@contextmanager
def serving(one: World, url: str, *more: str) -> Iterator[Served]:
    page = Served(one, url, *more)
    try:
        yield page
    finally:
        page.process.kill()
        page.process.wait()


def rows(engine: Engine) -> int:
    with reading(engine) as connection:
        return connection.scalar(select(func.count()).select_from(TURN_ROWS).where(TURN_ROWS.c.load_id.is_(None))) or 0


def await_more(engine: Engine, than: int) -> None:
    wait_for("some rows", lambda: rows(engine) > than)


@pytest.mark.timeout(240)
def test_a_page_killed_in_the_middle_misses_and_doubles_nothing(kafka: KafkaBroker, url: str) -> None:
    with world(kafka.bootstrap) as one, opened(url) as engine:
        one.create()
        sent = publish(one, [turn(turn_id=f"T-{number}", reply_text=f"{number}번째다.") for number in range(6_000)])
        interrupted = 0
        for _ in range(3):
            before = rows(engine)
            with serving(one, url) as page:
                await_more(engine, min(before, len(sent) - 1))
                page.end(signal.SIGKILL)
            interrupted += before < rows(engine) < len(sent)
        assert interrupted >= 2, "it was to be killed in the middle"
        with serving(one, url) as page:
            wait_for("all rows", lambda: rows(engine) >= len(sent))
            assert "6,000 회차" in page.list()
            # What comes while it runs is told, and shown when it is asked for.
            sent += publish(one, [turn(turn_id="T-6000")])
            one.send(one.settings.topics.topic_spikes, orjson.dumps(spike()), b"k")
            one.flush()
            wait_for("the spike", lambda: "금지 소재 급증" in page.list())
            wait_for("the last", lambda: "6,001 회차" in page.list())
            assert 'data-state="on"' in page.list()
            assert page.end(signal.SIGTERM) == 0
        with reading(engine) as connection:
            found = list(connection.execute(select(TURN_ROWS.c.verdict_id).where(TURN_ROWS.c.load_id.is_(None))))
            read = {(each.topic, each.partition): each.next_offset for each in connection.execute(select(POSITIONS))}
        assert sorted(each.verdict_id for each in found) == sorted(sent)
        assert read[one.settings.topics.turn_verdicts, 0] == len(sent)
        tallies_hold(engine)


@pytest.mark.timeout(120)
def test_from_now_passes_over_what_is_there(kafka: KafkaBroker, url: str) -> None:
    with world(kafka.bootstrap) as one, opened(url) as engine:
        one.create()
        publish(one, [turn(turn_id="T-1")])
        with serving(one, url, "--from-now") as page:
            wait_for("it follows", lambda: 'data-state="on"' in page.list())
            publish(one, [turn(turn_id="T-2")])
            wait_for("the new", lambda: rows(engine) == 1)
            with httpx.stream("GET", page.base + "events", timeout=30) as listening:
                lines = listening.iter_lines()
                assert next(line for line in lines if line.startswith("event: "))
                begun_s = time.monotonic()
                assert page.end(signal.SIGINT) == 0
                # Who listens does not keep the page from ending.
                assert time.monotonic() - begun_s < 20


def test_from_now_needs_live(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["page", "--from-now"]) == 2
    assert capsys.readouterr().err == "turnjudge: --from-now: expected --live with it\n"
