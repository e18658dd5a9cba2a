"""An answer that was paid for once is not asked again; only good ones are kept, and a broken file costs no answer."""

import logging
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from llm.asking import SCHEMA, WORD, client, question, trouble
from llm.endpoint import Endpoint, Reply, cut_off, declined, not_json, right, status
from service.errors import OperatorError
from service.llm.asking import Answered, Ask
from service.llm.cache import MemoryCache, cache

BASE = question()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "answers.sqlite"


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest, file: Path) -> Path | None:
    return file if request.param == "file" else None


def test_the_same_question_is_asked_once(endpoint: Endpoint, place: Path | None) -> None:
    endpoint.answer = lambda body, number: right({"word": f"{number}"})
    with client(endpoint, cache_file=place) as asker:
        assert [asker.ask(BASE) for _ in range(3)] == [Answered({"word": "1"}, "m")] * 3
        assert (asker.spent.calls, asker.spent.cached, asker.spent.prompt_tokens) == (1, 2, 100)
        assert (asker.counted.results["answered"], asker.counted.results["cached"]) == (1, 2)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("other", "settings"),
    [
        (BASE._replace(sample=1), {}),
        (BASE._replace(system="x"), {}),
        (BASE._replace(user="x"), {}),
        (BASE._replace(name="x"), {}),
        (BASE._replace(schema={**SCHEMA, "title": "x"}), {}),
        (BASE, {"temperature": 1.0}),
        (BASE, {"format": "json_object"}),
        (BASE, {"answer_tokens": 999}),
        (BASE, {"model": "m2"}),
    ],
)
def test_another_question_is_another_answer(
    endpoint: Endpoint, file: Path, other: Ask, settings: dict[str, Any]
) -> None:
    endpoint.answer = lambda body, number: right({"word": f"{number}"})
    with client(endpoint, cache_file=file) as asker:
        assert asker.ask(BASE) == Answered({"word": "1"}, "m")
    model = settings.pop("model", "m")
    with client(endpoint, model=model, cache_file=file, **settings) as asker:
        assert asker.ask(other) == Answered({"word": "2"}, model)
    with client(endpoint, cache_file=file) as asker:
        assert asker.ask(BASE) == Answered({"word": "1"}, "m")
    assert len(endpoint.requests) == 2


def test_another_endpoint_is_another_answer(endpoint: Endpoint, file: Path) -> None:
    endpoint.answer = lambda body, number: right(WORD)
    for url in (endpoint.url, endpoint.url + "/eu", endpoint.url):
        with client(endpoint, url=url, cache_file=file) as asker:
            asker.ask(BASE)
    assert endpoint.paths == ["/v1/chat/completions", "/v1/eu/chat/completions"]


@pytest.mark.parametrize(
    "bad",
    [
        *(status(400), status(500), not_json(), cut_off(WORD), declined(), Reply(body=b"{}")),
        *(right({"word": 1}), right({}), right({**WORD, "more": 1}), right([WORD])),
    ],
)
def test_what_is_not_good_is_not_kept(endpoint: Endpoint, place: Path | None, bad: Reply) -> None:
    endpoint.answer = lambda body, number: bad if number == 1 else right(WORD)
    with client(endpoint, cache_file=place) as asker:
        asker.ask(BASE)
        if place is not None:
            with closing(sqlite3.connect(place)) as connection:
                assert connection.execute("SELECT count(*) FROM answers").fetchone() == (0,)
        assert asker.ask(BASE) == Answered(WORD, "m")
        assert asker.spent.cached == 0
        assert asker.ask(BASE) == Answered(WORD, "m")
        assert asker.spent.cached == 1


def test_answers_outlive_the_run_and_prompts_are_not_kept(endpoint: Endpoint, file: Path) -> None:
    endpoint.answer = lambda body, number: right(WORD)
    with client(endpoint, cache_file=file) as asker:
        asker.ask(BASE)
    endpoint.down()
    with client(endpoint, cache_file=file) as asker:
        assert asker.ask(BASE) == Answered(WORD, "m")
        assert asker.spent.calls == 0
    written = file.read_bytes()
    assert "좋아요".encode() in written
    assert BASE.system.encode() not in written
    assert BASE.user.encode() not in written
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_two_runs_share_a_file(endpoint: Endpoint, file: Path) -> None:
    endpoint.answer = lambda body, number: right({"word": f"{number}"})
    with client(endpoint, cache_file=file) as one, client(endpoint, cache_file=file) as two:
        assert one.ask(BASE) == two.ask(BASE) == Answered({"word": "1"}, "m")
        assert two.ask(question(1)) == one.ask(question(1)) == Answered({"word": "2"}, "m")


@pytest.mark.parametrize("text", ["{", "", b"\xff", 7, "7", "{}"])
def test_a_row_that_cannot_be_read_is_asked_anew(endpoint: Endpoint, file: Path, text: Any) -> None:
    endpoint.answer = lambda body, number: right({"word": f"{number}"})
    with client(endpoint, cache_file=file) as asker:
        asker.ask(BASE)
    with closing(sqlite3.connect(file)) as connection, connection:
        assert connection.execute("UPDATE answers SET text = ?", (text,)).rowcount == 1
    with client(endpoint, cache_file=file) as asker:
        assert [asker.ask(BASE) for _ in range(2)] == [Answered({"word": "2"}, "m")] * 2
    assert len(endpoint.requests) == 2


def test_a_file_that_breaks_while_running_costs_no_answer(
    endpoint: Endpoint, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.answer = lambda body, number: right(WORD)
    with client(endpoint, cache_file=file) as asker:
        asker.ask(BASE)
        file.write_bytes(b"x" * file.stat().st_size)
        assert [asker.ask(question(n)) for n in range(3)] == [Answered(WORD, "m")] * 3
    told = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert told == ["the cache of answers fails: SQLITE_NOTADB"]


def test_a_file_locked_by_another_costs_no_answer(
    endpoint: Endpoint, file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("service.llm.cache._LOCKED_S", 0.05)
    endpoint.answer = lambda body, number: right(WORD)
    with client(endpoint, cache_file=file) as asker, closing(sqlite3.connect(file)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert asker.ask(BASE) == Answered(WORD, "m")
        other.rollback()
        assert asker.ask(BASE) == Answered(WORD, "m")
        assert asker.ask(BASE) == Answered(WORD, "m")
    assert len(endpoint.requests) == 2
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == [
        "the cache of answers fails: SQLITE_BUSY"
    ]


def another_database(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE answers (a)")


def another_mark(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("PRAGMA application_id = 7")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda file: file.write_text("a text of somebody's own\n" * 100), "SQLITE_NOTADB"),
        (another_database, "it is another program's"),
        (another_mark, "it is another program's"),
        (Path.mkdir, "it cannot be opened"),
        (lambda file: file.symlink_to(file.parent / "nowhere" / "there"), "it cannot be opened"),
    ],
)
def test_a_file_that_is_none_of_ours_is_refused_and_left_alone(
    endpoint: Endpoint, file: Path, make: Any, why: str
) -> None:
    make(file)
    before = file.read_bytes() if file.is_file() else None
    with pytest.raises(OperatorError) as caught, client(endpoint, cache_file=file):
        pass
    expected = "expected a cache that turnjudge made, or a place for a new file"
    assert str(caught.value) == f"TURNJUDGE_LLM_CACHE_FILE: {expected} ({why})"
    assert (file.read_bytes() if file.is_file() else None) == before


def test_a_folder_that_is_not_there_is_one_line(endpoint: Endpoint, tmp_path: Path) -> None:
    with (
        pytest.raises(OperatorError, match=r"\(No such file or directory\)$"),
        client(endpoint, cache_file=tmp_path / "no" / "file"),
    ):
        pass


def test_an_empty_file_is_a_place_for_a_new_one(endpoint: Endpoint, file: Path) -> None:
    file.touch()
    with client(endpoint, cache_file=file) as asker:
        assert trouble(asker.ask(BASE)) is None


def test_memory_keeps_what_was_used_last() -> None:
    kept = MemoryCache(2)
    for key in (b"a", b"b"):
        kept.put(key, key.decode())
    assert kept.get(b"a") == "a"
    kept.put(b"c", "c")
    assert [kept.get(key) for key in (b"a", b"b", b"c")] == ["a", None, "c"]


def test_a_file_keeps_so_many(file: Path) -> None:
    with cache(file, 3) as kept:
        for key in (b"a", b"b", b"c", b"d", b"e"):
            kept.put(key, key.decode())
        assert [kept.get(key) for key in (b"a", b"b", b"c", b"d", b"e")] == [None, None, "c", "d", "e"]
