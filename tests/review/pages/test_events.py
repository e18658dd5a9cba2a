"""What comes is told as it comes: rows by the filters of the address, spikes, the header; to whom may see it."""

import json
import logging
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from sqlalchemy import Engine
from sqlalchemy import text as sql

from review.pages.desk import FROM_US, page, served, token_of, tokens
from review.store.desk import SPIKED_MS, judged, put, spike, turn
from schemas.verdict import VerdictWord
from service.review.pages import events, serving
from service.review.pages.access import Gate
from service.review.store import loads
from service.review.store.batch import Batch
from service.review.store.opening import opened, writing
from service.review.store.writing import write
from service.settings import KafkaSettings, load_settings

AWAY = load_settings(KafkaSettings, brokers="127.0.0.1:1")
NONE_OPEN = {"open": list[str](), "newest": list[str]()}


class Told(NamedTuple):
    """An event as a browser gets it."""

    name: str
    id: str
    data: Any


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "TICK_S", 0.05)
    monkeypatch.setattr(serving, "_STOP_S", 0.1)


@pytest.fixture
def base(tmp_path: Path) -> Iterator[str]:
    with served(tmp_path, AWAY) as address:
        yield address


@pytest.fixture
def engine(base: str, tmp_path: Path) -> Iterator[Engine]:
    """The page's database, as another process writes to it."""
    with opened(f"sqlite:///{tmp_path / 'page.db'}") as found:
        yield found


@contextmanager
def listening(address: str, **options: Any) -> Iterator[Iterator[Told]]:
    with httpx.Client(timeout=20) as client, client.stream("GET", address, **options) as answer:
        assert answer.status_code == 200, answer.status_code
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["x-accel-buffering"] == "no"
        assert answer.headers["cache-control"] == "no-store"
        yield parsed(answer.iter_lines())


def parsed(lines: Iterator[str]) -> Iterator[Told]:
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line:
            fields[name] = value
        elif fields:
            if "event" in fields:
                yield Told(fields["event"], fields.get("id", ""), json.loads(fields["data"]))
            fields = {}


def until(stream: Iterator[Told], name: str) -> Told:
    return next(each for each in stream if each.name == name)


def events_of(base: str, path: str = "/", **options: Any) -> str:
    """Return where the list at a path is told what comes."""
    found = re.search(r'data-events="([^"]+)"', httpx.get(base + path, **options).text)
    assert found is not None
    return base + unescape(found[1])


def test_rows_that_fit_are_counted_as_they_come(base: str, engine: Engine) -> None:
    put(engine, judged(turn("T-0")))
    with (
        listening(events_of(base)) as every,
        listening(events_of(base, "/?verdict=금지 소재 접촉")) as forbidden,
        listening(base + "/events") as elsewhere,
    ):
        assert until(every, "spikes").data == until(elsewhere, "spikes").data == NONE_OPEN
        put(engine, judged(turn("T-1"), VerdictWord.FORBIDDEN), judged(turn("T-2")))
        assert until(every, "rows").data == {"count": 2, "words": "새 회차 2개 보기"}
        assert until(forbidden, "rows").data["count"] == 1
        put(engine, judged(turn("T-3")), judged(turn("T-2"), VerdictWord.FORGOT, 2_000))
        assert until(every, "rows").data["count"] == 3
        put(engine, judged(turn("T-4"), VerdictWord.FORBIDDEN))
        assert until(forbidden, "rows").data["count"] == 2
        with writing(engine) as connection:
            write(connection, Batch(spikes=[spike()]))
        told = until(elsewhere, "spikes").data
        assert (told["open"], [each["id"] for each in told["newest"]]) == (["a1"], ["a1"])
        with writing(engine) as connection:
            write(connection, Batch(spikes=[spike(state="closed", at=SPIKED_MS + 1_000)]))
        assert until(elsewhere, "spikes") == Told("spikes", "", NONE_OPEN)


def test_a_browser_that_comes_back_goes_on_from_what_it_was_told(base: str, engine: Engine) -> None:
    address = events_of(base)
    put(engine, judged(turn("T-1")), judged(turn("T-2")))
    # The sample gave way, so that the list is another.
    with listening(address) as stream:
        assert until(stream, "rows").data == {"count": None, "words": "목록이 바뀌었습니다. 다시 보기"}
    address = events_of(base)
    put(engine, judged(turn("T-3")))
    with listening(address) as stream:
        last = until(stream, "rows")
    assert last.data["count"] == 1
    put(engine, judged(turn("T-4")))
    with listening(address, headers={"Last-Event-ID": last.id}) as stream:
        counts = [until(stream, "rows").data["count"]]
        if counts[-1] == 1:  # what it was told it may be told again
            counts.append(until(stream, "rows").data["count"])
    assert counts[-1] == 2
    with listening(address, headers={"Last-Event-ID": "1-2; DROP"}) as stream:
        assert until(stream, "rows").data["count"] == 2


def test_a_load_that_is_taken_back_makes_another_list(base: str, engine: Engine) -> None:
    put(engine, judged(turn("T-0")))
    load_id = loads.begin(engine, "upload", "f", "me", 1)
    assert load_id is not None
    with listening(events_of(base)) as stream:
        until(stream, "spikes")
        with writing(engine) as connection:
            write(connection, Batch(judged=[judged(turn("T-1"))]), load_id)
        loads.finish(engine, load_id, {"judged": 1, "refused": 0, "known": 0}, 2)
        assert until(stream, "rows").data["count"] == 1
        loads.undo(engine, load_id, "me", 3)
        assert until(stream, "rows").data["count"] is None


def test_the_header_says_how_the_following_stands(base: str) -> None:
    with listening(base + "/events") as stream:
        state = until(stream, "state").data
        if state["state"] == "beginning":
            state = until(stream, "state").data
    assert (state["state"], state["word"]) == ("lost", "끊김")
    assert "127.0.0.1:1" in state["problem"]
    text = httpx.get(base + "/").text
    assert 'data-state="lost"' in text
    assert "끊김" in text
    paused = httpx.get(base + "/", cookies={"live": "off"}).text
    assert 'data-state="paused"' in paused
    answer = httpx.post(base + "/look", data={"live": "off", "back": "/uploads"}, headers=FROM_US)
    assert (answer.status_code, answer.headers["location"]) == (303, "/uploads")
    assert answer.headers["set-cookie"].startswith("live=off;")


def test_where_nothing_is_followed_there_is_nothing_to_hear(tmp_path: Path) -> None:
    with page(tmp_path) as client:
        assert client.get("/events").status_code == 404
        assert 'id="live"' not in client.get("/").text


def test_what_brokers_say_is_for_administrators_and_a_login_that_ends_ends_the_telling(tmp_path: Path) -> None:
    file = tokens(tmp_path, mina="reader")
    with served(tmp_path, AWAY, page_token_file=file) as base, httpx.Client(base_url=base, headers=FROM_US) as client:
        assert httpx.get(base + "/events").status_code == 303
        client.post("/login", data={"token": token_of("mina"), "back": "/"})
        cookies = dict(client.cookies)
        with listening(base + "/events", cookies=cookies) as stream:
            state = until(stream, "state").data
            if state["state"] == "beginning":
                state = until(stream, "state").data
            assert state["problem"]
            assert "127.0.0.1" not in json.dumps(state)
            client.post("/logout")
            assert until(stream, "end").data == {}
            assert next(stream, None) is None
        assert httpx.get(base + "/events", cookies=cookies).status_code == 303


def test_so_many_listen_and_no_more(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_CLIENTS", 1)
    with listening(base + "/events") as stream:
        until(stream, "spikes")
        full = httpx.get(base + "/events")
        assert (full.status_code, full.headers["retry-after"]) == (503, "15")
    monkeypatch.setattr(events, "TICK_S", 0.01)
    for _ in range(200):
        if httpx.get(base + "/").status_code == 200 and _free(base):
            break
    else:
        raise AssertionError("who went away still counts")


def _free(base: str) -> bool:
    with httpx.Client(timeout=5) as client, client.stream("GET", base + "/events") as answer:
        return answer.status_code == 200


def test_it_ends_after_its_time_and_is_asked_for_again(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "LIFE_S", 0.3)
    with listening(base + "/events") as stream:
        assert {each.name for each in stream} >= {"spikes"}


@pytest.mark.parametrize("query", ["seen=x", "seen=1-2-3", "verdict=없는 것", "seen=99999999999999999999-0"])
def test_an_address_that_asks_nonsense_is_refused_or_told_no_rows(base: str, engine: Engine, query: str) -> None:
    if query.startswith("verdict"):
        assert httpx.get(f"{base}/events?{query}").status_code == 400
        return
    with listening(f"{base}/events?{query}") as stream:
        until(stream, "spikes")
        put(engine, judged(turn("T-1")))
        with writing(engine) as connection:
            write(connection, Batch(spikes=[spike()]))
        assert next(stream).name == "spikes"


HOSTILE = '<script>alert(1)</script>\u202e"'


def test_a_spike_stands_above_the_list_with_a_way_to_its_turns(base: str, engine: Engine) -> None:
    with writing(engine) as connection:
        write(connection, Batch(spikes=[spike(topic=HOSTILE, character_id="나무"), spike("b2", ratio=None)]))
    text = httpx.get(base + "/").text
    assert "<script>alert" not in text
    assert "⟨U+202E⟩" in text
    assert "평소의 9.0배입니다" in text
    assert "그 전에는 없었습니다" in text
    assert 'data-spike="a1"' in text
    href = re.search(r'<a href="([^"]*topic=%3Cscript[^"]*)">그 회차 보기', text)
    assert href is not None
    assert "character=%EB%82%98%EB%AC%B4" in href[1]
    assert httpx.get(base + unescape(href[1])).status_code == 200
    with listening(base + "/events") as stream:
        first, _ = until(stream, "spikes").data["newest"]
    assert "\u202e" not in first["words"]


def test_of_many_spikes_the_newest_are_told_and_all_that_go_on_are_named(base: str, engine: Engine) -> None:
    with writing(engine) as connection:
        write(connection, Batch(spikes=[spike(f"{number}", opened_at=number) for number in range(5)]))
    with listening(base + "/events") as stream:
        told = until(stream, "spikes").data
    assert told["open"] == ["0", "1", "2", "3", "4"]
    assert [each["id"] for each in told["newest"]] == ["4", "3", "2"]
    assert "이어지는 급증 2개 더" in httpx.get(base + "/").text


def test_of_very_many_rows_it_is_enough_to_know_that_they_are(
    base: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_MOST_ROWS", 4)
    put(engine, judged(turn("T-0")))
    with listening(events_of(base)) as stream:
        put(engine, *(judged(turn(f"T-{number}")) for number in range(1, 4)))
        assert until(stream, "rows").data == {"count": 3, "words": "새 회차 3개 보기"}
        put(engine, *(judged(turn(f"T-{number}")) for number in range(4, 9)))
        assert until(stream, "rows").data == {"count": 4, "words": "새 회차 4개 이상 보기"}


def test_while_the_database_is_away_readers_stay_and_the_log_says_it_once(
    base: str, engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looks, person = threading.Semaphore(0), Gate.person

    def counted(*given: Any) -> Any:
        looks.release()
        return person(*given)

    def renamed(old: str, new: str) -> None:
        with writing(engine) as connection:
            connection.execute(sql(f"ALTER TABLE {old} RENAME TO {new}"))

    monkeypatch.setattr(Gate, "person", counted)
    with caplog.at_level(logging.WARNING), listening(base + "/events") as one, listening(base + "/events") as other:
        until(one, "spikes"), until(other, "spikes")
        for _ in range(2):
            renamed("spikes", "gone")
            while looks.acquire(blocking=False):
                pass
            for _ in range(9):
                assert looks.acquire(timeout=20)
            renamed("gone", "spikes")
            with writing(engine) as connection:
                write(connection, Batch(spikes=[spike(f"{len(caplog.records)}")]))
            assert [until(each, "spikes").data["open"] for each in (one, other)]
    told = [record.getMessage() for record in caplog.records if record.name == events.__name__]
    assert told == ["events: the database cannot be read (OperationalError); trying again"] * 2
    ours = [record for record in caplog.records if record.name.startswith("service.")]
    assert not [record for record in ours if record.levelno >= logging.ERROR]
