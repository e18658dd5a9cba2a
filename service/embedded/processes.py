"""Programs of ours that run beside this process: their end, and what they said last."""

import os
import subprocess
from typing import IO

_TAIL_BYTES = 2_000


def end(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """End a process in good order, by force where that takes longer than `seconds`."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def tail(output: IO[bytes]) -> str:
    """Return the last 2,000 bytes of what a process wrote."""
    output.seek(max(0, output.seek(0, os.SEEK_END) - _TAIL_BYTES))
    return output.read().decode("utf-8", "replace").strip() or "it wrote nothing"
