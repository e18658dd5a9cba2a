"""Calls at the same time: results in order, few begun ahead, and an end that waits for nobody."""

from collections.abc import Iterator
from concurrent.futures import Future
from threading import Event

import pytest

from service.llm.together import in_order, pool

WAIT_S = 20.0


@pytest.mark.parametrize("most", [1, 3, 9])
def test_results_come_in_order_and_few_calls_are_begun_ahead(most: int) -> None:
    begun = 0

    def started() -> Iterator[Future[int]]:
        nonlocal begun
        for number in range(7):
            begun += 1
            future: Future[int] = Future()
            future.set_result(number)
            yield future

    for number, result in enumerate(in_order(started(), most)):
        assert (result, begun) == (number, min(number + most, 7))


def test_the_end_waits_for_nobody_and_lets_go_of_what_has_not_begun() -> None:
    began, end = Event(), Event()

    def call() -> bool:
        began.set()
        return end.wait(WAIT_S)

    with pool(1, "test") as threads:
        running, queued = threads.submit(call), threads.submit(call)
        assert began.wait(WAIT_S)
    assert not running.done()
    assert queued.cancelled()
    end.set()
    assert running.result(WAIT_S)
