"""What is asked of a model, and what comes back: a parsed answer or one word for why there is none (issue 7)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple


class Ask(NamedTuple):
    """A question whose answer is to be JSON that fits `schema`.

    `name` names the schema on the wire (letters, digits, `_`, `-`; at most 64). `sample` tells several opinions on the
    same question apart: each has a place of its own in the cache.
    """

    name: str
    system: str
    user: str
    schema: Mapping[str, Any]
    sample: int = 0


class Answered(NamedTuple):
    """An answer: JSON for sure, but whether it fits the schema is for the caller to check; `model` as configured."""

    content: Any
    model: str


class Trouble(StrEnum):
    """Why there is no answer; the values are metric labels."""

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    REJECTED = "rejected"
    CUT_OFF = "cut_off"
    NOT_JSON = "not_json"
    NO_ANSWER = "no_answer"
    DECLINED = "declined"
    CIRCUIT_OPEN = "circuit_open"
    BUDGET_SPENT = "budget_spent"


class Failed(NamedTuple):
    """No answer; `detail` is one line that never holds text of prompt, reply or answer, nor the key."""

    trouble: Trouble
    detail: str


class Spent(NamedTuple):
    """What a client has used so far: requests sent, tokens, money at the configured prices, answers from the cache."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: float = 0.0
    cached: int = 0
