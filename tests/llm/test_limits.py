"""Time, requests at a time, budget, Retry-After and the breaker hold, from however many threads one asks."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from llm.asking import WORD, asked_at_once, client, question, trouble
from llm.endpoint import Body, Endpoint, Reply, dropped, not_json, right, slow, status, trickling
from service.llm.asking import Answered, Spent, Trouble
from service.llm.budget import estimated_tokens
from service.llm.holding import Holding, retry_after_s

WAIT_S = 20.0


@pytest.mark.parametrize("reply", [slow(right(WORD)), trickling(right(WORD)), slow(status(500))])
def test_the_whole_request_has_its_time(endpoint: Endpoint, reply: Reply) -> None:
    endpoint.answer = lambda body, number: reply
    with client(endpoint, timeout_s=0.3) as asker:
        began = time.monotonic()
        assert trouble(asker.ask(question())) is Trouble.TIMEOUT
        took_s = time.monotonic() - began
    assert 0.3 <= took_s < 3


@pytest.mark.parametrize("places", [1, 3, 9])
def test_so_many_requests_at_a_time_and_no_more(endpoint: Endpoint, places: int) -> None:
    together, one_more = threading.Barrier(places), threading.Event()

    def answer(body: Body, number: int) -> Reply:
        if number > places:
            one_more.set()
        else:
            together.wait(WAIT_S)
            one_more.wait(0.3)  # for what must not come meanwhile
        return right(WORD)

    endpoint.answer = answer
    with client(endpoint, concurrency=places) as asker:
        results = asked_at_once(asker, 9, threads=9)
    assert results == [Answered(WORD, "m")] * 9
    assert endpoint.most_at_once == places


def test_a_budget_of_calls_holds_across_threads(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body, number: right(WORD)
    with client(endpoint, max_calls=5) as asker:
        results = [trouble(result) for result in asked_at_once(asker, 20, threads=8)]
        assert (results.count(None), results.count(Trouble.BUDGET_SPENT)) == (5, 15)
        assert len(endpoint.requests) == asker.spent.calls == 5
        last = asker.ask(question(99))
    assert last == (
        Trouble.BUDGET_SPENT,
        "5 of 5 calls used or under way, and one more answer could pass TURNJUDGE_LLM_MAX_CALLS",
    )


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        ({"max_tokens": 2_000}, "TURNJUDGE_LLM_MAX_TOKENS"),
        ({"max_money": 0.0022, "price_in": 1.0, "price_out": 2.0}, "TURNJUDGE_LLM_MAX_MONEY"),
    ],
)
def test_a_budget_of_tokens_or_money_is_never_passed(endpoint: Endpoint, limits: dict[str, Any], name: str) -> None:
    endpoint.answer = lambda body, number: right(WORD, usage=(90, 10))
    with client(endpoint, concurrency=8, answer_tokens=20, **limits) as asker:
        results = asked_at_once(asker, 60, threads=16)
        kinds = [trouble(result) for result in results]
        asked, spent = kinds.count(None), asker.spent
        assert set(kinds) == {None, Trouble.BUDGET_SPENT}
        assert len(endpoint.requests) == asked == spent.calls
        assert (spent.prompt_tokens, spent.completion_tokens) == (90 * asked, 10 * asked)
        # One by one, the rest of the budget is used up to what one more could cost at most.
        while trouble(last := asker.ask(question(1_000 + asker.spent.calls))) is None:
            pass
        assert str(last.detail).endswith(name)  # type: ignore[union-attr]
        used, limit = asker.spent, next(iter(limits.values()))
        amount = used.money if "money" in name.lower() else used.prompt_tokens + used.completion_tokens
        assert limit * 0.9 < amount <= limit


def test_money_is_counted_at_the_prices(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body, number: right(WORD, usage=(1_000_000, 500_000))
    with client(endpoint, price_in=0.5, price_out=3.0) as asker:
        asker.ask(question())
        assert asker.spent == Spent(1, 1_000_000, 500_000, 2.0, 0)


def test_a_request_that_is_tried_again_is_paid_again(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body, number: status(500)
    with client(endpoint, max_calls=1, attempts=3) as asker:
        assert trouble(asker.ask(question())) is Trouble.BUDGET_SPENT
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("usage", ["none", "words", "negative", "null"])
def test_tokens_that_are_not_told_are_estimated(endpoint: Endpoint, usage: str) -> None:
    reply = right(WORD, usage=None)
    told = {"none": b"", "words": b',"usage": {"prompt_tokens": "9", "completion_tokens": 1}'}
    told |= {"negative": b',"usage": {"prompt_tokens": -9, "completion_tokens": 1}', "null": b',"usage": null'}
    endpoint.answer = lambda body, number: reply._replace(body=reply.body[:-1] + told[usage] + b"}")
    with client(endpoint) as asker:
        assert asker.ask(question()) == Answered(WORD, "m")
        assert asker.spent.prompt_tokens > 100
        assert 10 < asker.spent.completion_tokens < 200


@pytest.mark.parametrize(
    ("reply", "is_paid"),
    [(slow(right(WORD)), True), (dropped(), True), (not_json(), True), (status(500), False), (status(400), False)],
)
def test_what_may_have_cost_something_is_counted(endpoint: Endpoint, reply: Reply, is_paid: bool) -> None:
    endpoint.answer = lambda body, number: reply
    with client(endpoint, timeout_s=0.3) as asker:
        asker.ask(question())
        assert (asker.spent.prompt_tokens > 0) is is_paid
        assert asker.spent.calls == 1


def test_an_estimate_is_one_token_a_syllable() -> None:
    assert [estimated_tokens(text.encode()) for text in ("", "a", "abc", "좋아요", "abcd")] == [0, 1, 1, 3, 2]


def test_retry_after_is_waited_for(endpoint: Endpoint) -> None:
    came: list[float] = []

    def answer(body: Body, number: int) -> Reply:
        came.append(time.monotonic())
        return status(429, "1") if number == 1 else right(WORD)

    endpoint.answer = answer
    with client(endpoint, attempts=2) as asker:
        assert asker.ask(question()) == Answered(WORD, "m")
    assert 1.0 <= came[1] - came[0] < 4.0


@pytest.mark.parametrize("code", [429, 503])
def test_a_longer_retry_after_than_the_limit_is_not_waited_for_and_still_honoured(
    endpoint: Endpoint, code: int
) -> None:
    endpoint.answer = lambda body, number: status(code, "60")
    with client(endpoint, attempts=5, concurrency=2) as asker:
        began = time.monotonic()
        kind = Trouble.RATE_LIMITED if code == 429 else Trouble.SERVER_ERROR
        assert trouble(asker.ask(question(1))) is kind
        held = asker.ask(question(2))
        assert trouble(held) is Trouble.RATE_LIMITED
        assert str(held[1]).startswith("the endpoint asked to be left alone for ")
        assert time.monotonic() - began < 5
    assert len(endpoint.requests) == 1


NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, 0.0),
        ("", 0.0),
        ("0", 0.0),
        (" 7 ", 7.0),
        ("3600", 3600.0),
        ("99999999999999999999", 3600.0),
        ("-1", 0.0),
        ("1.5", 0.0),
        ("٣", 0.0),
        ("soon", 0.0),
        ("Fri, 02 Jan 2026 03:04:15 GMT", 10.0),
        ("Friday, 02-Jan-26 03:04:15 GMT", 10.0),
        ("Fri, 02 Jan 2026 03:04:15", 10.0),
        ("Fri, 02 Jan 2026 04:04:15 +0100", 10.0),
        ("Fri, 02 Jan 2026 03:04:04 GMT", 0.0),
        ("Fri, 02 Jan 2099 03:04:04 GMT", 3600.0),
        ("Fri, 99 Jan 2026 03:04:04 GMT", 0.0),
        ("Fri, 02 Jan 99999999999 03:04:04 GMT", 0.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float) -> None:
    assert retry_after_s(value, NOW) == seconds


def test_the_longest_hold_counts() -> None:
    now = [100.0]
    holding = Holding(lambda: now[0])
    for value in ("10", "3", None, "0"):
        holding.hold(value)
    assert holding.left_s == 10.0
    now[0] = 111.0
    assert holding.left_s == 0.0


@pytest.mark.parametrize("reply", [slow(right(WORD)), status(429, "60")])
def test_stopping_ends_requests_and_pauses_at_once(endpoint: Endpoint, reply: Reply) -> None:
    came = threading.Event()

    def answer(body: Body, number: int) -> Reply:
        came.set()
        return reply

    endpoint.answer = answer
    with client(endpoint, timeout_s=120.0, attempts=5) as asker, ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(asker.ask, question(n)) for n in range(3)]
        assert came.wait(WAIT_S)
        asker.stop()
        kinds = {trouble(ended.result(WAIT_S)) for ended in asking}
        assert kinds == {Trouble.UNREACHABLE}
        calls = asker.spent.calls
        assert calls <= 3
        assert trouble(asker.ask(question(9))) is Trouble.UNREACHABLE
        assert asker.spent.calls == calls


def test_the_end_of_the_block_ends_what_other_threads_ask(endpoint: Endpoint) -> None:
    came = threading.Event()

    def answer(body: Body, number: int) -> Reply:
        came.set()
        return slow(right(WORD))

    endpoint.answer = answer
    with ThreadPoolExecutor(4) as pool:
        with client(endpoint, timeout_s=120.0) as asker:
            asking = [pool.submit(asker.ask, question(n)) for n in range(4)]
            assert came.wait(WAIT_S)
        assert {trouble(ended.result(WAIT_S)) for ended in asking} == {Trouble.UNREACHABLE}
    assert trouble(asker.ask(question(9))) is Trouble.UNREACHABLE
