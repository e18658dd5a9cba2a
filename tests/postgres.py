"""A PostgreSQL for tests: a cluster in a folder of its own, on a free port of loopback, not run by root."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final, Self

import pg8000.native

from service.embedded.broker import free_port
from services import postgres_folder

_START_S: Final = 30
_SERVER_USER: Final = "postgres"


class Postgres:
    """A running server; `database()` gives a new, empty database as a URL."""

    def __init__(self) -> None:
        self._bin = postgres_folder()
        assert self._bin is not None, "PostgreSQL is missing"
        self._folder = Path(tempfile.mkdtemp(prefix="turnjudge-postgres-"))
        self._as_user: list[str] = []
        if os.geteuid() == 0:
            shutil.chown(self._folder, _SERVER_USER)
            self._as_user = ["runuser", "-u", _SERVER_USER, "--"]
        self.port = free_port()
        self.password = "only for tests"  # noqa: S105 - of a server that ends with them
        self._count = 0

    def __enter__(self) -> Self:
        secret = self._folder / "secret"
        secret.write_text(self.password)
        secret.chmod(0o644)
        data = self._folder / "data"
        login = ["--auth", "scram-sha-256", "--username", "turnjudge", "--pwfile", str(secret)]
        self._run("initdb", "--pgdata", str(data), "--encoding", "UTF8", "--no-locale", "--no-sync", *login)
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
            " -c max_connections=40 -c shared_buffers=64MB"
        )
        start = ["--wait", "--timeout", str(_START_S), "--log", str(self._folder / "log"), "--options", options]
        self._run("pg_ctl", "start", "--pgdata", str(data), *start)
        return self

    def __exit__(self, *failure: object) -> None:
        try:
            self._run("pg_ctl", "stop", "--pgdata", str(self._folder / "data"), "--mode", "immediate", "--wait")
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def database(self) -> str:
        """Make a database and return its URL."""
        self._count += 1
        name = f"page_{self._count}"
        connection = pg8000.native.Connection(
            "turnjudge", host="127.0.0.1", port=self.port, password=self.password, database="postgres"
        )
        try:
            connection.run(f"CREATE DATABASE {name}")
        finally:
            connection.close()
        return f"postgresql+pg8000://turnjudge:{self.password.replace(' ', '%20')}@127.0.0.1:{self.port}/{name}"

    def _run(self, program: str, *arguments: str) -> None:
        assert self._bin is not None
        done = subprocess.run(
            [*self._as_user, str(self._bin / program), *arguments],
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=(self._folder / "out").open("ab"),
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {(self._folder / 'out').read_text()[-2000:]}")
