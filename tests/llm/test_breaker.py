"""An endpoint that keeps failing is left alone for a while, then tried by one request."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from llm.asking import WORD, client, question, trouble
from llm.endpoint import Body, Endpoint, Reply, not_json, right, status
from service.llm.asking import Answered, Trouble
from service.llm.breaker import Breaker, Turn

WAIT_S = 20.0


def test_the_breaker_leaves_a_failing_endpoint_alone_and_comes_back(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body, number: status(500)
    with client(endpoint, breaker_failures=2, breaker_pause_s=0.3) as asker:
        assert [trouble(asker.ask(question(n))) for n in range(4)] == [
            *(Trouble.SERVER_ERROR, Trouble.SERVER_ERROR, Trouble.CIRCUIT_OPEN, Trouble.CIRCUIT_OPEN)
        ]
        assert asker.counted.breaker_open
        assert len(endpoint.requests) == 2
        endpoint.answer = lambda body, number: right(WORD)
        deadline = time.monotonic() + WAIT_S
        while trouble(asker.ask(question(5))) is Trouble.CIRCUIT_OPEN:
            assert time.monotonic() < deadline
        assert not asker.counted.breaker_open
        assert len(endpoint.requests) == asker.spent.calls == 3
        assert asker.ask(question(6)) == Answered(WORD, "m")


def test_after_the_pause_one_request_tries_and_the_others_do_not_wait(endpoint: Endpoint) -> None:
    came, go = threading.Event(), threading.Event()

    def answer(body: Body, number: int) -> Reply:
        if number == 1:
            return status(500)
        came.set()
        go.wait(WAIT_S)
        return right(WORD)

    endpoint.answer = answer
    with client(endpoint, breaker_failures=1, breaker_pause_s=0.01) as asker, ThreadPoolExecutor(1) as pool:
        assert trouble(asker.ask(question(1))) is Trouble.SERVER_ERROR
        trying = pool.submit(_until_admitted, asker)
        assert came.wait(WAIT_S)
        assert [trouble(asker.ask(question(n))) for n in range(3, 8)] == [Trouble.CIRCUIT_OPEN] * 5
        go.set()
        assert trying.result(WAIT_S) == Answered(WORD, "m")
        assert asker.ask(question(8)) == Answered(WORD, "m")


def _until_admitted(asker: Any) -> Any:
    while trouble(result := asker.ask(question(2))) is Trouble.CIRCUIT_OPEN:
        pass
    return result


@pytest.mark.parametrize("reply", [status(400), status(401), status(429), not_json(), Reply(body=b"{}"), right(WORD)])
def test_what_is_not_the_endpoints_fault_does_not_open_the_breaker(endpoint: Endpoint, reply: Reply) -> None:
    endpoint.answer = lambda body, number: reply if number % 2 else status(500)
    with client(endpoint, breaker_failures=2) as asker:
        kinds = [trouble(asker.ask(question(n))) for n in range(8)]
    assert kinds[1::2] == [Trouble.SERVER_ERROR] * 4
    assert Trouble.CIRCUIT_OPEN not in kinds
    assert len(endpoint.requests) == 8


def test_no_more_attempts_once_the_breaker_is_open(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body, number: status(500)
    with client(endpoint, breaker_failures=2, attempts=10) as asker:
        assert trouble(asker.ask(question())) is Trouble.SERVER_ERROR
    assert len(endpoint.requests) == 2


def test_the_breaker_by_the_clock() -> None:
    now = [0.0]
    breaker = Breaker(2, 10.0, lambda: now[0])
    early, late = breaker.admit(), breaker.admit()
    assert early is not None
    assert late is not None
    assert [breaker.report(early, True), breaker.report(early, False)] == [Turn.NOTHING] * 2  # a success between
    assert [breaker.report(early, True), breaker.report(early, True)] == [Turn.NOTHING, Turn.OPENED]
    assert breaker.report(late, False) is Turn.NOTHING  # it was sent before, so it does not close it
    assert breaker.is_open
    now[0] = 9.9
    assert breaker.admit() is None
    now[0] = 10.0
    unsent = breaker.admit()
    assert unsent is not None
    assert breaker.admit() is None  # one at a time
    breaker.discard(unsent)
    trial = breaker.admit()
    assert trial is not None
    assert [breaker.report(late, True), breaker.report(late, False)] == [Turn.NOTHING] * 2
    assert breaker.admit() is None
    assert breaker.report(trial, True) is Turn.OPENED
    assert breaker.admit() is None
    now[0] = 20.0
    second = breaker.admit()
    assert second is not None
    breaker.discard(trial)  # of an earlier round
    assert breaker.admit() is None
    assert breaker.report(second, False) is Turn.CLOSED
    assert not breaker.is_open
    fresh = breaker.admit()
    assert fresh is not None
    assert breaker.report(fresh, True) is Turn.NOTHING  # it counts from nothing again


def test_a_budget_that_is_spent_does_not_hold_the_breakers_one_try(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body, number: status(500)
    with client(endpoint, breaker_failures=1, breaker_pause_s=0.01, max_calls=1) as asker:
        assert trouble(asker.ask(question(1))) is Trouble.SERVER_ERROR
        deadline = time.monotonic() + WAIT_S
        while trouble(asker.ask(question(2))) is Trouble.CIRCUIT_OPEN:
            assert time.monotonic() < deadline
        assert trouble(asker.ask(question(3))) is Trouble.BUDGET_SPENT
        assert asker.counted.breaker_open  # nobody has found that it answers again
