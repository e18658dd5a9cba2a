"""Answers that were paid for once: in memory, or in a SQLite file that outlives the run.

Kept is the text of a good answer under a hash of all that was sent; prompts are not kept. An answer may quote the chat,
so the file is readable by its owner alone, and `turnjudge forget` names it among the copies that it does not reach.
"""

import logging
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from service.errors import OperatorError
from service.settings import line_of

logger = logging.getLogger(__name__)

_APPLICATION: Final = 0x746A6C6D  # in the file's header, so that no other program's database is taken for a cache
_LOCKED_S: Final = 5.0
_EXPECTED: Final = line_of("llm_cache_file", "a cache that turnjudge made, or a place for a new file")


class Cache(Protocol):
    """Texts by key; thread-safe; a cache that fails has no answer and keeps none."""

    def get(self, key: bytes) -> str | None:
        """Return the text of a key, None if it is not kept."""

    def put(self, key: bytes, text: str) -> None:
        """Keep a text; the oldest make room."""


class MemoryCache:
    """Keeps the last used answers of this run."""

    def __init__(self, entries: int) -> None:
        """Take how many are kept."""
        self._entries = entries
        self._texts: OrderedDict[bytes, str] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: bytes) -> str | None:
        """Return the text of a key, None if it is not kept."""
        with self._lock:
            text = self._texts.get(key)
            if text is not None:
                self._texts.move_to_end(key)
            return text

    def put(self, key: bytes, text: str) -> None:
        """Keep a text; the one that was not used for longest makes room."""
        with self._lock:
            self._texts[key] = text
            self._texts.move_to_end(key)
            if len(self._texts) > self._entries:
                self._texts.popitem(last=False)


class FileCache:
    """Keeps answers in a SQLite file, which several runs may share."""

    def __init__(self, connection: sqlite3.Connection, entries: int) -> None:
        """Take an open file and how many answers it may hold."""
        self._connection = connection
        self._entries = entries
        self._lock = threading.Lock()
        self._failing = False

    def get(self, key: bytes) -> str | None:
        """Return the text of a key, None if it is not kept or the file fails."""
        with self._lock, self._failures_told():
            row = self._connection.execute("SELECT text FROM answers WHERE key = ?", (key,)).fetchone()
            return row[0] if row and isinstance(row[0], str) else None
        return None

    def put(self, key: bytes, text: str) -> None:
        """Keep a text; the oldest make room."""
        with self._lock, self._failures_told(), self._connection as change:
            change.execute("INSERT OR REPLACE INTO answers (key, text) VALUES (?, ?)", (key, text))
            change.execute(
                "DELETE FROM answers WHERE number <= (SELECT max(number) FROM answers) - ?", (self._entries,)
            )

    @contextmanager
    def _failures_told(self) -> Iterator[None]:
        """Take a failure of the file for no answer; the first of a row is logged."""
        try:
            yield
            self._failing = False
        except sqlite3.Error as error:
            if not self._failing:
                logger.warning("the cache of answers fails: %s", _name(error))
            self._failing = True


@contextmanager
def cache(file: Path | None, entries: int) -> Iterator[Cache]:
    """Open the cache of a file, or one in memory.

    Raises:
        OperatorError: the file cannot be opened or made, or is something else.
    """
    if file is None:
        yield MemoryCache(entries)
        return
    with closing(_opened(file)) as connection:
        yield FileCache(connection, entries)


def _opened(file: Path) -> sqlite3.Connection:
    try:
        with suppress(FileExistsError):
            file.touch(mode=0o600, exist_ok=False)
        connection = sqlite3.connect(file, timeout=_LOCKED_S, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) else "it cannot be opened"
        raise OperatorError(f"{_EXPECTED} ({why})") from None
    try:
        _prepare(connection)
    except sqlite3.Error as error:
        connection.close()
        raise OperatorError(f"{_EXPECTED} ({_name(error)})") from None
    except OperatorError:
        connection.close()
        raise
    return connection


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", type(error).__name__)


def _prepare(connection: sqlite3.Connection) -> None:
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        made_by = connection.execute("PRAGMA application_id").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if made_by != _APPLICATION and (made_by or tables):
            raise OperatorError(f"{_EXPECTED} (it is another program's)")
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS answers"
            " (number INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE, text TEXT NOT NULL)"
        )
