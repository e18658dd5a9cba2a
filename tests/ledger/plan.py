"""What a run feeds: everything hangs on its seed, so what must come out is known before anything is sent."""

import json
import random
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from generate import make_cards, make_lexicon, make_turns
from stream.turns import BAD
from stream.world import Row, encode

CARDS = 12
TERMS = 60
TURNS_A_SESSION = 20
POISON_SHARE = 0.02
_PART = 2_000
_POISON = tuple(value for _, value, _ in BAD)
# The one of 2 MB would be most of the bytes of a run, so it comes a tenth as often as the others.
_WEIGHTS = tuple(0.1 if len(value or b"") > 1_000_000 else 1.0 for value in _POISON)


class Planned(NamedTuple):
    """A record of the source as it will be sent."""

    key: bytes | None
    value: bytes | None


class Plan(NamedTuple):
    """Cards, lexicon and number of sessions of one run; `records` follow from them."""

    seed: str
    cards: list[Row]
    lexicon: list[Row]
    sessions: int


def make_plan(seed: str, about: int) -> Plan:
    """Make a plan for about so many records."""
    rng = random.Random(seed)
    return Plan(seed, make_cards(rng, CARDS), make_lexicon(rng, TERMS), max(1, about // TURNS_A_SESSION))


def records(plan: Plan) -> Iterator[Planned]:
    """Yield the plan's records, without end: every branch of the judge, recalls, forbidden terms and poison."""
    for part in count():
        rng = random.Random(f"{plan.seed}/{part}")
        for turn in make_turns(rng, _PART, plan.cards, plan.lexicon, plan.sessions):
            yield _planned(rng, turn)


def large(rng: random.Random, plan: Plan, number: int, reply_chars: int) -> list[Planned]:
    """Make turns whose replies are long, of sessions of their own."""
    turns = make_turns(rng, number, plan.cards, plan.lexicon, max(1, number // TURNS_A_SESSION))
    long = [{**turn, "session_id": f"L-{turn['session_id']}", "reply_text": "가" * reply_chars} for turn in turns]
    return [Planned(turn["session_id"].encode(), encode(turn)) for turn in long]


def _planned(rng: random.Random, turn: Row) -> Planned:
    key = turn["session_id"].encode()
    if rng.random() < POISON_SHARE:
        return Planned(key, rng.choices(_POISON, _WEIGHTS)[0])
    return Planned(key, json.dumps(turn, ensure_ascii=rng.random() < 0.1).encode())
