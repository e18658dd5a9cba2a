"""Whole answers of the page over HTTP, from the request to the last byte, asked again and again."""

import random
import time
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import urlencode

from sqlalchemy import Engine
from starlette.testclient import TestClient

from schemas.verdict import VerdictWord
from service.review.pages.serving import opened
from service.review.pages.settings import PageSettings
from service.review.store import queries
from service.review.store.opening import reading
from service.settings import JudgingSettings

# A browser sends it with every address that is typed; the page refuses requests of other pages by it.
_HEADERS: Final = {"Sec-Fetch-Site": "same-origin"}
_ROUNDS: Final = 40

Address = Callable[[random.Random], str]


def asked(engine: Engine, url: str, seed: int) -> Iterator[tuple[str, list[float]]]:
    """Yield each question and what its answers took, in milliseconds, from the quickest to the slowest."""
    addresses = _addresses(engine)
    engine.dispose()
    rng = random.Random(seed)
    with (
        opened(PageSettings(page_db=url), JudgingSettings()) as app,
        TestClient(app, base_url="http://127.0.0.1", headers=_HEADERS) as client,
    ):
        for question, address in addresses:
            yield question, sorted(_took(client, address(rng)) for _ in range(_ROUNDS))


def _took(client: TestClient, address: str) -> float:
    began = time.perf_counter()
    client.get(address).raise_for_status()
    return (time.perf_counter() - began) * 1_000


def _addresses(engine: Engine) -> tuple[tuple[str, Address], ...]:
    with reading(engine) as connection:
        choices = queries.choices(connection)
    characters, models = choices["character"], choices["model"]

    def narrowed(rng: random.Random) -> str:
        return _list(character=rng.choice(characters), model=rng.choice(models))

    def of_character(rng: random.Random) -> str:
        return _list(character=rng.choice(characters), verdict=VerdictWord.SPEECH_BROKEN.value)

    return (
        ("answer: the list", lambda rng: "/"),
        ("answer: a character and a model", narrowed),
        ("answer: one verdict of a character", of_character),
        ("answer: search, two syllables", lambda rng: _list(search=rng.choice(("하늘", "바람", "창가", "화분")))),
        ("answer: search, rare", lambda rng: _list(search=rng.choice(("T-000123", "없는말이")))),
        ("answer: the summary", lambda rng: "/summary"),
        ("answer: review", lambda rng: "/review"),
    )


def _list(**filters: str) -> str:
    return f"/?{urlencode(filters)}"
