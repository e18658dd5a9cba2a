"""Logs of what runs on and on: one line a record, the libraries' repetitions held back, and no record's content."""

import logging
import sys
import threading
import time
from typing import Final

from service.errors import OperatorError

# For the classes that stand in for Faust's: what it says through them is its own talk.
ENGINE: Final = logging.getLogger("faust.worker")
_EVERY_S: Final = 30.0
_MAX_KNOWN: Final = 1_000
# At DEBUG the clients print requests with the records inside, at INFO Faust prints tables of partitions.
QUIET: Final = ("faust", "mode", "aiokafka", "kafka", "asyncio", "aiohttp")


class OneLine(logging.Formatter):
    """Puts a record on one line; of an exception it keeps the kind and the place, not the message."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = f"{self.formatTime(record)} {record.levelname} {record.name}: {record.getMessage()}"
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            place = f" at {trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}" if trace else ""
            line += f" [{type(error).__name__}{place}]"
        return " ".join(line.split())


class Seldom(logging.Filter):
    """Lets the same message of a logger through once in 30 s, with how many were held back since."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether a record is to be written; an operator's error is not, for the command line says it."""
        if record.exc_info and isinstance(record.exc_info[1], OperatorError):
            return False
        if record.name.startswith("service"):
            return True
        key, now = (record.name, str(record.msg)), time.monotonic()
        last, held = self._seen.get(key, (0.0, 0))
        if last and now - last < _EVERY_S:
            self._seen[key] = last, held + 1
            return False
        if len(self._seen) > _MAX_KNOWN:
            self._seen.clear()
        self._seen[key] = now, 0
        if held:
            record.msg, record.args = f"{record.getMessage()} ({held} more held back)", None
        return True


def _on_thread_end(ended: threading.ExceptHookArgs) -> None:
    name = ended.thread.name if ended.thread else "?"
    logging.getLogger(__name__).error("thread %s ended", name, exc_info=ended.exc_value or ended.exc_type())


def set_up_logs(level: str) -> None:
    """Send our logs from `level` on, and warnings of the libraries, to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine())
    handler.addFilter(Seldom())
    threading.excepthook = _on_thread_end
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("service").setLevel(level)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
