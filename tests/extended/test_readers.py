"""The cases that people read: how many come out as they said, and why the others do not."""

import json
from typing import Any
from unicodedata import normalize

import pytest

from extended.reading import card, entries, held, judged, named, read, roles, turn
from files.commands import read_rows
from schemas.lexicon import Entry
from schemas.refusal import Refusal
from service.decode import Caps, decode_turn
from services import SHARED

Case = dict[str, Any]
CASES = SHARED / "cases" / "readers.jsonl"

# What is out of reach of tables, and why.
OUT_OF_REACH = {
    "spe-021": "a sentence that ends in a noun tells no level: left open, not judged",
    "spe-057": "a slip of the pen is neither level; 요 alone is heard",
    "for-075": "a homograph that stands alone (토토, the film and the dog); the row needs `except`",
    "for-079": "a homograph that stands alone (썩을, of rotting); the row needs `except`",
    "for-081": "졸라 stands alone (of tying); 새끼손가락 is not met",
    "for-083": "another meaning of the same word (데미갓)",
    "for-087": "everyday nouns as terms (환경, 기반); `lexicon lint` says so",
    "rec-117": "하늘 may be the sky: said in the hedge, never called forgotten",
    "rec-127": "최시원 counts as 시원, as one surname may be left out (issue 5)",
    "prb-029": "바다 may be the sea: said in the hedge, never called forgotten",
}
# The names that the earlier turns of the cases name.
EARLIER = {
    **{"rec-117": "하늘", "rec-119": "지은", "rec-121": "민지", "rec-123": "준호", "rec-125": "수진"},
    **{"rec-127": "최시원", "prb-027": "지수", "prb-029": "바다"},
}
# How people named the levels.
LEVELS = {"mixed": "섞임", "극존칭": "존댓말", "n/a": None}


def heard(case: Case) -> bool:
    speech = read(held(card()), turn(reply_text=case["input"]["reply"])).speech
    wanted: str = case["a_person_would_say"].split(" ")[0]
    words = [wanted] if wanted in LEVELS else wanted.split("/")
    return any(speech.level == LEVELS.get(word, word) for word in words)


def met(case: Case) -> bool:
    rows = [Entry(row["term"], row["topic"], place) for place, row in enumerate(case["input"]["lexicon"])]
    hits = read(held(card(), entries(*rows)), turn(reply_text=case["input"]["reply"])).hits
    wanted = {(normalize("NFC", row["term"]), row["topic"]) for row in case["a_person_would_say"]}
    return {(normalize("NFC", hit.entry.term), hit.entry.topic) for hit in hits} == wanted


def known(case: Case) -> bool:
    names, canon = case["input"]["named_entities"], tuple(case["input"]["canon_entities"])
    wanted = case["a_person_would_say"]
    row = {"turn_id": "T", "session_id": "S", "character_id": "C", "model_id": "m", "named_entities": names}
    decoded = decode_turn(json.dumps(row).encode(), Caps())
    if isinstance(decoded, Refusal):
        return bool(wanted == "no flag or schema error")
    found = judged(held(card(canon_entities=canon)), decoded).record["off_canon_entities"]
    return found == [name.rstrip("?") for name in wanted]


def recalled(case: Case) -> bool:
    given = case["input"]
    against = held(card(entity_roles=roles(**given["entity_roles"]), canon_entities=("별하",)))
    asking = turn(reply_text=given["reply"], user_message=given["user"], user_asked_recall=True)
    record = judged(against, asking, named(**{EARLIER[case["id"]]: "T_1"})).record
    forgot: bool = case["a_person_would_say"] == "forgotten"
    return (record["recall_target"] is not None) == forgot


AGREES = {"speech": heard, "forbidden": met, "off_canon": known, "recall": recalled}


@pytest.mark.needs("shared")
def test_readers_agree_but_where_it_is_out_of_reach() -> None:
    cases = read_rows(CASES)
    apart = [case["id"] for case in cases if not AGREES[case["kind"]](case)]
    assert len(cases) == 77
    assert apart == [case["id"] for case in cases if case["id"] in OUT_OF_REACH]
    assert len(cases) - len(apart) == 67
