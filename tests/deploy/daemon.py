"""A daemon of Debian's for tests, as long as a block lasts."""

import shutil
import subprocess
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from stream.world import wait_for


@contextmanager
def daemon(command: Sequence[str], folder: Path, address: str) -> Iterator[None]:
    """Run a command in a folder of its own until it says at `address` that it is ready; in the end both are gone."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def is_ready() -> bool:
        assert process.poll() is None, (folder / "log").read_text()
        try:
            with urllib.request.urlopen(f"{address}/-/ready", timeout=2) as answer:  # noqa: S310 - our own
                return bool(answer.status == 200)
        except OSError:
            return False

    try:
        wait_for(f"{command[0]} answers", is_ready)
        yield
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)
