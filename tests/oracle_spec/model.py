"""A model that judges flow steps: what it is asked, and what it says."""

import json
from collections.abc import Callable

from files.commands import Row
from llm.endpoint import Body, Reply, right

MODEL = "solar-of-ours"
SORRY = "불편을 드려 미안합니다. 바로 고치겠습니다."
YES: Row = {"pass": True, "reason": "사과가 있음", "quote": "미안합니다"}
NO: Row = {"pass": False, "reason": "사과가 없음", "quote": ""}


def given(body: Body) -> Row:
    """What a request puts before the model: the user's message, which is JSON."""
    _, user = body["messages"]
    row: Row = json.loads(user["content"])
    return row


def saying(*answers: Reply) -> Callable[[Body, int], Reply]:
    """Answer so in turn, the last one again and again."""
    return lambda body, number: answers[min(number, len(answers)) - 1]


def without(key: str) -> Reply:
    return right({name: value for name, value in YES.items() if name != key})
