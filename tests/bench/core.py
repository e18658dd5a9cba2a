"""Core speed: turn bytes in, verified verdict bytes out, on one core; and the share of each stage.

Figures are CPU time of this process, the best of several passes over the same turns, in arrival order with state.
"""

import gc
import json
import random
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import orjson

import generate
from rules import verify
from rules.earlier import additions
from rules.judge import judge
from rules.profile import SEED
from schemas.element import Namings, Position
from schemas.turn import Turn
from schemas.validate import VERDICT
from service.decode import Caps, decode_turn
from service.profiles import read_profiles
from service.snapshot import Snapshot, snapshot
from service.step import step, store
from stream.offline import card_of, entry_of

T = TypeVar("T")
CAPS = Caps()
PASSES = 5


class Workload(NamedTuple):
    """Generated turns as bytes, and the snapshot they are judged against."""

    turns: list[bytes]
    snapshot: Snapshot


def workload(turns: int, terms: int, seed: int = 1, profile: str = SEED.name) -> Workload:
    """Generate turns of about 100-character replies over 20 cards and a lexicon of `terms` terms, for a profile."""
    rng = random.Random(seed)
    cards, lexicon = generate.make_cards(rng, 20, plain=True), generate.make_lexicon(rng, terms)
    rows = [encode(row) for row in generate.make_bench_turns(rng, turns, cards, lexicon)]
    known = snapshot(map(card_of, cards), map(entry_of, lexicon), *read_profiles(profile))
    return Workload(rows, known)


def encode(row: dict[str, Any]) -> bytes:
    """Encode a row as it travels."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()


def _taken(record: object, kind: type[T]) -> T:
    assert isinstance(record, kind), record
    return record


def judge_all(load: Workload) -> None:
    """Judge every turn in arrival order, keeping state."""
    sessions: dict[str, Namings] = {}
    for offset, value in enumerate(load.turns):
        outcome = step(value, Position(offset, 0, None), sessions, load.snapshot, CAPS)
        if outcome.elements:
            store(sessions, outcome.elements)


def cpu_us(work: Callable[[], object], turns: int, passes: int = PASSES) -> float:
    """Return the best CPU time of a pass, in µs a turn."""
    best = float("inf")
    for _ in range(passes):
        gc.collect()
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best / turns * 1e6


def stages(load: Workload) -> Iterable[tuple[str, float]]:
    """Yield (stage, µs a turn): each stage run alone over the same turns."""
    characters, desk = load.snapshot.characters, load.snapshot.book.desks[SEED.name]
    grounds = desk.grounds
    assert grounds is not None
    turns = [_taken(decode_turn(value, CAPS), Turn) for value in load.turns]
    sessions: dict[str, Namings] = {}
    positions = [Position(offset, 0, None) for offset in range(len(turns))]
    for turn, position in zip(turns, positions, strict=True):
        store(sessions, additions(turn, sessions.get(turn.session_id, {}), position))
    seen = [
        (turn, characters[turn.character_id], sessions.get(turn.session_id, {}), position)
        for turn, position in zip(turns, positions, strict=True)
    ]
    records = [judge(turn, each.facts, desk.reader, names, position).record for turn, each, names, position in seen]

    def judged() -> None:
        for turn, each, names, position in seen:
            judge(turn, each.facts, desk.reader, names, position)

    def verified() -> None:
        for record, (turn, each, names, position) in zip(records, seen, strict=True):
            verify.verify(record, turn, each.grounds, grounds, names, position, VERDICT.is_valid)

    def kept() -> None:
        for turn, _, names, position in seen:
            additions(turn, names, position)

    count = len(turns)

    def decoded() -> None:
        for value in load.turns:
            decode_turn(value, CAPS)

    def encoded() -> None:
        for record in records:
            orjson.dumps(record)

    yield "decode", cpu_us(decoded, count)
    yield "judge", cpu_us(judged, count)
    yield "verify", cpu_us(verified, count)
    yield "elements", cpu_us(kept, count)
    yield "encode", cpu_us(encoded, count)
