"""`turnjudge page`: it serves, says where, ends when it is told to, and says in one line why it cannot begin."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from review.pages.desk import tokens
from service.cli import run
from service.review.pages.settings import PageSettings
from service.settings import variables


@contextmanager
def started(folder: Path, named: dict[str, str], *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start a page as a process of its own, with no brokers but those named."""
    command = [sys.executable, "-c", "from service.cli import main; main()", "page", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--db", f"sqlite:///{folder / 'page.db'}", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "TURNJUDGE_BROKERS"} | named,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_end(tmp_path: Path, number: int) -> None:
    with started(tmp_path, {"TURNJUDGE_PAGE_PORT": "1"}) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        where = re.fullmatch(r"the page is at (http://127\.0\.0\.1:\d+/)\n", said)
        assert where is not None, said
        answer = httpx.get(where[1] + "?search=선거", timeout=30)
        assert answer.status_code == 200
        assert "공개 캐릭터 견본" in answer.text
        assert "server" not in answer.headers
        process.send_signal(number)
        rest = process.stderr.read()
        assert process.wait(30) == 0
        assert "선거" not in rest
        assert "search" not in rest


@pytest.mark.parametrize(
    ("arguments", "brokers", "knows"),
    [([], None, False), ([], "", False), ([], "127.0.0.1:1", True), (["--brokers", "127.0.0.1:1"], None, True)],
)
def test_brokers_are_known_where_somebody_named_them(
    tmp_path: Path, arguments: list[str], brokers: str | None, knows: bool
) -> None:
    """The address that other commands fall back to counts as named by nobody."""
    named = {} if brokers is None else {"TURNJUDGE_BROKERS": brokers}
    with started(tmp_path, named, *arguments) as process:
        assert process.stderr is not None
        where = process.stderr.readline().split()[-1]
        assert ("이 화면은 브로커를 모릅니다" not in httpx.get(where + "forget", timeout=30).text) == knows


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--host", "0.0.0.0"], "TURNJUDGE_PAGE_HOST: expected a loopback address, or a login by"),  # noqa: S104
        (["--port", "x"], "TURNJUDGE_PAGE_PORT: expected a port from 0 to 65535"),
        (["--db", "mysql://a:hidden@b/c"], "database URL: expected sqlite:///FILE or postgresql"),
        (["--db", "sqlite:////no/such/folder/page.db"], "the database cannot be opened"),
    ],
)
def test_what_keeps_it_from_beginning_is_one_line(
    tmp_path: Path, arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "--db" not in arguments:
        arguments = [*arguments, "--db", f"sqlite:///{tmp_path / 'page.db'}"]
    assert run(["page", *arguments]) == 2
    said = capsys.readouterr().err
    assert line in said
    assert "hidden" not in said
    assert said.count("\n") == 1


def test_a_port_that_is_taken_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert run(["page", "--port", str(port), "--db", f"sqlite:///{tmp_path / 'page.db'}"]) == 2
    said = capsys.readouterr().err
    assert f"TURNJUDGE_PAGE_HOST, TURNJUDGE_PAGE_PORT: expected a free address, got 127.0.0.1:{port} (" in said
    assert said.count("\n") == 1


def test_a_host_that_is_no_name_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TURNJUDGE_PAGE_TOKEN_FILE", str(tokens(tmp_path, sora="admin")))
    assert run(["page", "--host", "x" * 64, "--db", f"sqlite:///{tmp_path / 'page.db'}"]) == 2
    said = capsys.readouterr().err
    assert "TURNJUDGE_PAGE_HOST: expected a host name or an address" in said
    assert said.count("\n") == 1


def test_help_names_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["page", "--help"]) == 0
    said = capsys.readouterr().out
    for variable in variables(PageSettings):
        assert variable.name in said
