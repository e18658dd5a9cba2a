"""Questions, clients and an endpoint for tests."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from llm.endpoint import Endpoint, listening
from service.llm.asking import Answered, Ask, Failed, Trouble
from service.llm.client import Client, opened
from service.llm.settings import LlmSettings

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
    "additionalProperties": False,
}
WORD = {"word": "좋아요"}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A chat endpoint on loopback that ends with the test."""
    with listening() as made:
        yield made


def question(sample: int = 0, user: str = "한 낱말로 답해 주세요.") -> Ask:
    return Ask("one_word", "You answer in one word.", user, SCHEMA, sample)


@contextmanager
def client(endpoint: Endpoint, **settings: Any) -> Iterator[Client]:
    """Open a client that asks the endpoint, once and for 5 s at most if nothing else is said."""
    given = {"attempts": 1, "timeout_s": 5.0, "breaker_failures": 1000, **settings}
    given = {"url": endpoint.url, "model": "m", **given}
    with opened(LlmSettings(**{f"llm_{name}": value for name, value in given.items()})) as made:
        yield made


def trouble(result: Answered | Failed) -> Trouble | None:
    return result.trouble if isinstance(result, Failed) else None


def asked_at_once(asker: Client, questions: int, threads: int) -> list[Answered | Failed]:
    """Ask different questions from several threads."""
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda sample: asker.ask(question(sample)), range(questions)))
