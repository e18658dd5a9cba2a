"""What people and the detector of spikes give the page of a rig: samples drawn and answered on it, and spikes told."""

import re
import time
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Final
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from schemas.spike import SpikeRecord
from service.metrics import ReviewQueue
from stream.world import wait_for

_SIZE: Final = 5
_HOUR_MS: Final = 3_600_000


def review(address: str, topics: Sequence[str]) -> None:
    """Draw two samples of turns that touched a topic, once the page has some, and answer an item of the first."""

    def drawn() -> str | None:
        for topic in topics:
            asked: dict[str, str | int] = {"queue": ReviewQueue.FORBIDDEN_TOPICS.value, "topic": topic}
            where = _post(f"{address}/review/draw", asked | {"size": _SIZE, "seed": 9, "reviewers": 1})
            if where is not None:
                return where
        return None

    where = wait_for("the page has turns that touched a topic", drawn, 60)
    found = re.search(r"sample=(\d+)", where)
    assert found is not None, where
    assert _post(f"{address}/review/decide", {"sample": found[1], "number": 1, "answer": "yes"}) is not None
    assert drawn() is not None


def _post(url: str, form: dict[str, str | int]) -> str | None:
    """Send a form as the page itself would; return the address it leads to, None where it was refused."""
    asked = Request(url, urlencode(form).encode(), {"Sec-Fetch-Site": "same-origin"})  # noqa: S310 - our own address
    try:
        with urlopen(asked, timeout=30) as answer:  # noqa: S310
            return str(answer.url)
    except HTTPError as error:
        if error.code != HTTPStatus.BAD_REQUEST:
            raise
        return None


def spikes_told(topic: str, character_id: str) -> Iterator[SpikeRecord]:
    """Yield the records of a spike of a topic that goes on, and of one of a character that came to its end."""
    now_ms = int(time.time() * 1000)
    yield _spike("aa", "opened", topic, None, now_ms, now_ms)
    yield _spike("bb", "opened", topic, character_id, now_ms - _HOUR_MS // 2, now_ms - _HOUR_MS // 2)
    yield _spike("bb", "closed", topic, character_id, now_ms - _HOUR_MS // 2, now_ms)


def _spike(spike_id: str, state: str, topic: str, character_id: str | None, opened_ms: int, at_ms: int) -> SpikeRecord:
    return {
        "spike_id": spike_id,
        "state": state,
        "topic": topic,
        "character_id": character_id,
        "opened_at": opened_ms,
        "at": at_ms,
        "window_s": 300,
        "observed": 40,
        "exposure": 1_000,
        "baseline_observed": 288,
        "baseline_exposure": 288_000,
        "ratio": 40.0,
        "p_value": 1e-30,
        "turns": [],
    }
