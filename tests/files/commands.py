"""Run the command line as a user does, and write the files it reads."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

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


def write_rows(path: Path, rows: Iterable[Row]) -> Path:
    """Write rows as JSONL."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def read_rows(path: Path) -> list[Row]:
    """Read rows of JSONL."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
