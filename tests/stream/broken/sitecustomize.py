"""A release that is broken: on the PYTHONPATH of a worker, it goes wrong as BROKEN_RELEASE says, for `model-broken`."""

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any

_KIND = os.environ.get("BROKEN_RELEASE")


def _raise(whole: Callable[..., Any]) -> Callable[..., Any]:
    def judge(turn: Any, *rest: Any) -> Any:
        if turn.model_id == "model-broken":
            raise KeyError
        return whole(turn, *rest)

    return judge


def _disagree(whole: Callable[..., Any]) -> Callable[..., Any]:
    def verify(record: Any, turn: Any, *rest: Any) -> Any:
        marks = whole(record, turn, *rest)
        return (False, *marks[1:]) if turn.model_id == "model-broken" else marks

    return verify


def _hold_up(whole: Callable[..., Any]) -> Callable[..., Any]:
    def judge(turn: Any, *rest: Any) -> Any:
        if turn.model_id == "model-broken":
            time.sleep(3_600)
        return whole(turn, *rest)

    return judge


async def _never(*_: Any) -> None:
    await asyncio.Event().wait()


if _KIND in ("rule_failed", "unverified", "blocked"):
    from rules import verify
    from service import step

    if _KIND == "unverified":
        verify.verify = _disagree(verify.verify)
    else:
        step.judge = (_raise if _KIND == "rule_failed" else _hold_up)(step.judge)  # type: ignore[attr-defined]
elif _KIND in ("no progress", "no recovery"):
    from service.stream import consumer

    if _KIND == "no progress":
        consumer.Consumer._judge = _never  # type: ignore[method-assign, assignment] # noqa: SLF001
    else:
        consumer.recover = _never  # type: ignore[attr-defined, assignment]
