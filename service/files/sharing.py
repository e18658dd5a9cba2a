"""Judge a file on several processes: each takes whole sessions, so each keeps the names of its own and no others.

Rows travel in chunks, a share of each chunk to every process by the hash of the session; the answers are put back into
the order of the rows. Sharing by sessions serves both orders, splits the first pass too, and keeps one copy of the
state in all; sharing by lines would need all names in every process. Memory is bounded: at most `_WINDOW` chunks are on
their way, and a chunk ends at `_CHUNK_ROWS` rows or `_CHUNK_BYTES`.
"""

import gc
import re
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue
from typing import Final, NamedTuple
from zlib import crc32

from schemas.refusal import Refusal
from service.decode import Caps, mapping
from service.errors import OperatorError
from service.files.judging import Answer, Judge, Order
from service.files.readers import RawRow
from service.files.reference import Sources

_CHUNK_ROWS: Final = 400
_CHUNK_BYTES: Final = 1024 * 1024
_WINDOW: Final = 16
_STOP_S: Final = 5.0
_SWITCH_S: Final = 0.0002
_SESSION: Final = re.compile(rb'"session_id"[ \t\r\n]*:[ \t\r\n]*"([^"]*)"')

# Rows, and whether they are to be judged (or else learnt from).
_Share = tuple[bool, list[RawRow]]


class _Lane(NamedTuple):
    """A process and our end of its pipe."""

    process: SpawnProcess
    pipe: Connection

    def send(self, share: _Share) -> None:
        with self._watched():
            self.pipe.send(share)

    def receive(self) -> list[Answer]:
        with self._watched():
            answers: list[Answer] = self.pipe.recv()
        return answers

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Turn the end of the process into the operator's line: the system ends it when memory runs out."""
        try:
            yield
        except (EOFError, ConnectionError):
            self.process.join(_STOP_S)
            code = self.process.exitcode
            raise OperatorError(f"--jobs: a judging process ended with exit code {code}") from None


class Shares:
    """Judges rows on the processes behind its lanes, as `service.files.judging.Judge` does in one."""

    def __init__(self, lanes: list[_Lane]) -> None:
        self._lanes = lanes

    def learn(self, rows: Iterable[RawRow]) -> None:
        """Let each process keep the earliest namings of its sessions."""
        for _ in self._rounds(False, rows):
            pass

    def judge(self, rows: Iterable[RawRow]) -> Iterator[tuple[int, Answer]]:
        """Yield the line of every row with its verdict, or why it has none."""
        for chunk, owners, answers in self._rounds(True, rows):
            for (line, _), owner in zip(chunk, owners, strict=True):
                yield line, next(answers[owner])

    def _rounds(
        self, judged: bool, rows: Iterable[RawRow]
    ) -> Iterator[tuple[list[RawRow], list[int], list[Iterator[Answer]]]]:
        """Yield each chunk with the lane of every row and the answers of every lane."""
        under_way: deque[tuple[list[RawRow], list[int]]] = deque()
        for chunk in _chunks(rows):
            owners = [_owner(value, len(self._lanes)) for _, value in chunk]
            shares: list[list[RawRow]] = [[] for _ in self._lanes]
            for row, owner in zip(chunk, owners, strict=True):
                shares[owner].append(row)
            for lane, share in zip(self._lanes, shares, strict=True):
                lane.send((judged, share))
            under_way.append((chunk, owners))
            if len(under_way) == _WINDOW:
                yield *under_way.popleft(), self._answers()
        while under_way:
            yield *under_way.popleft(), self._answers()

    def _answers(self) -> list[Iterator[Answer]]:
        return [iter(lane.receive()) for lane in self._lanes]


@contextmanager
def shared(sources: Sources, caps: Caps, order: Order, jobs: int) -> Iterator[Shares]:
    """Start `jobs` processes, and end them."""
    # Spawned, not forked: a fork would copy the threads' locks of whatever this process has begun.
    context = get_context("spawn")
    lanes: list[_Lane] = []
    try:
        with _no_interrupts():
            for _ in range(jobs):
                ours, theirs = context.Pipe()
                process = context.Process(target=serve, args=(theirs, sources, caps, order), daemon=True)
                process.start()
                theirs.close()
                lanes.append(_Lane(process, ours))
        yield Shares(lanes)
    finally:
        for lane in lanes:
            lane.pipe.close()
        for lane in lanes:
            lane.process.join(_STOP_S)
            if lane.process.is_alive():
                lane.process.kill()


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Start processes that an interrupt at the terminal does not reach: their parent ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def serve(pipe: Connection, sources: Sources, caps: Caps, order: Order) -> None:
    """Answer shares until the other end of the pipe is closed."""
    # The default of 5 ms would hold the receiving thread up at every piece of a share.
    sys.setswitchinterval(_SWITCH_S)
    inbox: SimpleQueue[_Share | None] = SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, inbox), daemon=True).start()
    judge = Judge(sources.snapshot(), caps, order)
    gc.freeze()
    with suppress(BrokenPipeError, ConnectionResetError):
        while (share := inbox.get()) is not None:
            judged, rows = share
            if judged:
                pipe.send([answer for _, answer in judge.judge(rows)])
            else:
                judge.learn(rows)
                pipe.send([])


def _receive(pipe: Connection, inbox: SimpleQueue[_Share | None]) -> None:
    """Take shares off the pipe as they come, so that the sender never waits for one that waits for the sender."""
    with suppress(EOFError, OSError):
        while True:
            inbox.put(pipe.recv())
    inbox.put(None)


def _chunks(rows: Iterable[RawRow]) -> Iterator[list[RawRow]]:
    chunk: list[RawRow] = []
    size = 0
    for row in rows:
        chunk.append(row)
        size += len(row[1])
        if len(chunk) == _CHUNK_ROWS or size >= _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _owner(value: bytes | Refusal, lanes: int) -> int:
    """Return the lane of a row's session; a row that has none adds no names, so any lane will do."""
    if isinstance(value, Refusal):
        return 0
    # Where nothing is escaped, what stands between the quotes is the key or value itself, and one such key is the one.
    if b"\\" not in value and value.count(b'"session_id"') == 1 and (found := _SESSION.search(value)):
        return crc32(found[1]) % lanes
    session_id = (mapping(value) or {}).get("session_id")
    return crc32(session_id.encode()) % lanes if isinstance(session_id, str) else 0
