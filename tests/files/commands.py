"""Run the command line as a user does, and write the files it reads."""

import json
import subprocess
import sys
from collections.abc import Iterable
from contextlib import ExitStack, chdir
from io import TextIOWrapper
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from service.cli import run
from services import ROOT

Row = dict[str, Any]
MAIN = "from service.cli import main; main()"


class Done(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: bytes
    err: str


def turnjudge(*arguments: str | Path, stdin: bytes = b"") -> Done:
    """Run `turnjudge` in a process of its own."""
    command = [sys.executable, "-P", "-c", MAIN, *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, cwd=ROOT, timeout=100, check=False)
    return Done(done.returncode, done.stdout, done.stderr.decode())


def typed(*arguments: str | Path) -> Done:
    """Run `turnjudge` in this process, which is quicker, with nothing to read from stdin."""
    before = sys.stdin, sys.stdout, sys.stderr
    with ExitStack() as stack:
        stack.enter_context(chdir(ROOT))
        files = [stack.enter_context(TemporaryFile()) for _ in before]
        streams = [TextIOWrapper(file, encoding="utf-8") for file in files]
        sys.stdin, sys.stdout, sys.stderr = streams
        try:
            code = run([str(argument) for argument in arguments])
        finally:
            sys.stdin, sys.stdout, sys.stderr = before
        for stream, file in zip(streams, files, strict=True):
            stream.flush()
            file.seek(0)
        return Done(code, files[1].read(), files[2].read().decode())


def write_rows(path: Path, rows: Iterable[Row]) -> Path:
    """Write rows as JSONL."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def read_rows(path: Path) -> list[Row]:
    """Read rows of JSONL."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
