"""A worker's clock that steps: on the PYTHONPATH of a worker, its `time.time` is off by what a file says, in seconds.

The machine's own clock belongs to everybody on it, so it is left alone.
"""

import os
import time
from pathlib import Path

_FILE = os.environ.get("LEDGER_CLOCK")
_true_time = time.time


def _stepped() -> float:
    try:
        return _true_time() + float(Path(_FILE or "").read_text("ascii"))
    except (OSError, ValueError):
        return _true_time()


if _FILE:
    time.time = _stepped
