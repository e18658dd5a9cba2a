"""The step's cost against terms, open sessions and reply size: CPU time, the sizes in turn, the best round of each."""

import gc
import random
from collections.abc import Iterator
from typing import NamedTuple

import orjson

from bench import core
from schemas.element import Element, Namings, Position
from schemas.turn import Turn
from service.decode import decode_turn
from service.step import step, store

TERMS = (100, 10_000, 100_000)
SESSIONS = (10, 1_000, 100_000)
REPLY_BYTES = (100, 1_000, 10_000)
TURNS = 6_000
ROUNDS = 5
_NAMES = 3


class Cost(NamedTuple):
    """CPU µs a turn at one size of one kind."""

    kind: str
    size: int
    us: float


class Case(NamedTuple):
    """Turns, what they are judged against, and the sessions that are open before them."""

    kind: str
    size: int
    load: core.Workload
    sessions: dict[str, Namings]

    def judge(self) -> None:
        """Judge the turns in arrival order; what they add stays for the next round, as in a worker that goes on."""
        for offset, value in enumerate(self.load.turns, start=1):
            outcome = step(value, Position(offset, 0, None), self.sessions, self.load.snapshot, core.CAPS)
            if outcome.elements:
                store(self.sessions, outcome.elements)


def measure(seed: int) -> list[Cost]:
    """Measure every size of every kind."""
    gc.set_threshold(50_000, 20, 50)  # as the worker sets it
    costs = []
    for cases in (_by_terms(seed), _by_sessions(seed), _by_reply(seed)):
        kept = list(cases)
        best = [float("inf")] * len(kept)
        for _ in range(ROUNDS):
            for place, case in enumerate(kept):
                best[place] = min(best[place], core.cpu_us(case.judge, TURNS, passes=1))
        costs += [Cost(case.kind, case.size, us) for case, us in zip(kept, best, strict=True)]
    return costs


def _by_terms(seed: int) -> Iterator[Case]:
    for terms in TERMS:
        yield Case("lexicon terms", terms, core.workload(TURNS, terms, seed), {})


def _by_sessions(seed: int) -> Iterator[Case]:
    load, rng = core.workload(TURNS, 1_000, seed), random.Random(seed)
    for count in SESSIONS:
        names = [f"S-{number:07d}" for number in range(count)]
        rows = [orjson.loads(value) | {"session_id": rng.choice(names)} for value in load.turns]
        sessions: dict[str, Namings] = {}
        for session_id in names:
            opened = [Element(session_id, f"이름{n}", 0, "T-0", "어서 와. " * 20, 0) for n in range(_NAMES)]
            store(sessions, tuple(opened))
        yield Case("open sessions", count, load._replace(turns=[core.encode(row) for row in rows]), sessions)


def _by_reply(seed: int) -> Iterator[Case]:
    load = core.workload(TURNS, 1_000, seed)
    for size in REPLY_BYTES:
        rows = []
        for value in load.turns:
            row = orjson.loads(value)
            reply = row["reply_text"].encode() + b" "
            whole = (reply * (size // len(reply) + 1))[:size].decode(errors="ignore")
            rows.append(core.encode(row | {"reply_text": whole}))
        assert all(isinstance(decode_turn(row, core.CAPS), Turn) for row in rows[:10])
        yield Case("reply bytes", size, load._replace(turns=rows), {})
