"""Whatever an endpoint does is an answer or a word for why there is none, and is tried again only if that may help."""

import json
from typing import Any

import pytest

from llm.asking import SCHEMA, WORD, client, question, trouble
from llm.endpoint import (
    Endpoint,
    Reply,
    completion,
    cut_off,
    declined,
    dropped,
    not_chat,
    not_json,
    plain,
    right,
    slow,
    status,
    trickling,
)
from service.llm.asking import Answered, Trouble
from service.llm.wire import MAX_BYTES

SHORT_S = 0.7  # for replies that never come; the right one must come within it


def padded(size: int) -> Reply:
    """Answer rightly, with so many bytes."""
    reply = right(WORD)
    return reply._replace(body=reply.body.ljust(size))


# By name: a reply, and the trouble it is.
PASSING: dict[str, tuple[Reply, Trouble]] = {
    "slow": (slow(right(WORD)), Trouble.TIMEOUT),
    "trickling": (trickling(right(WORD)), Trouble.TIMEOUT),
    "429": (status(429), Trouble.RATE_LIMITED),
    "429 with Retry-After": (status(429, "0"), Trouble.RATE_LIMITED),
    "429 with a past date": (status(429, "Mon, 01 Jan 2024 00:00:00 GMT"), Trouble.RATE_LIMITED),
    "429 with a strange Retry-After": (status(429, "soon"), Trouble.RATE_LIMITED),
    "500": (status(500), Trouble.SERVER_ERROR),
    "503": (status(503, "0"), Trouble.SERVER_ERROR),
    "599": (status(599), Trouble.SERVER_ERROR),
    "dropped": (dropped(), Trouble.UNREACHABLE),
    "dropped in the body": (dropped(after_bytes=30), Trouble.UNREACHABLE),
}
LASTING: dict[str, tuple[Reply, Trouble]] = {
    "400": (status(400), Trouble.REJECTED),
    "401": (status(401), Trouble.REJECTED),
    "404": (status(404), Trouble.REJECTED),
    "422": (status(422, "0"), Trouble.REJECTED),
    "499": (status(499), Trouble.REJECTED),
    "redirect": (Reply(307, headers=(("Location", "/v1/elsewhere"),)), Trouble.REJECTED),
    "204": (Reply(204), Trouble.NO_ANSWER),
    "too large": (padded(MAX_BYTES + 1), Trouble.NO_ANSWER),
    "gzip": (right(WORD)._replace(headers=(("Content-Encoding", "gzip"),)), Trouble.NO_ANSWER),
    "not a chat completion": (not_chat(), Trouble.NO_ANSWER),
    "not JSON at all": (Reply(body=b"<html>"), Trouble.NO_ANSWER),
    "not UTF-8": (Reply(body=b'{"choices": "\xff"}'), Trouble.NO_ANSWER),
    "an array": (Reply(body=b"[]"), Trouble.NO_ANSWER),
    "no body": (Reply(), Trouble.NO_ANSWER),
    "no choices": (Reply(body=b'{"choices": []}'), Trouble.NO_ANSWER),
    "no message": (Reply(body=b'{"choices": [{"index": 0}]}'), Trouble.NO_ANSWER),
    "a message of parts": (Reply(body=b'{"choices": [{"message": {"content": [{}]}}]}'), Trouble.NO_ANSWER),
    "a null message": (completion(None), Trouble.NO_ANSWER),
    "an empty message": (completion(""), Trouble.NO_ANSWER),
    "refusal": (declined(), Trouble.DECLINED),
    "filtered": (completion('{"word": "x"}', finish_reason="content_filter"), Trouble.DECLINED),
    "cut off": (cut_off(WORD), Trouble.CUT_OFF),
    "cut off where it is JSON by chance": (completion("12", finish_reason="length"), Trouble.CUT_OFF),
    "prose": (not_json(), Trouble.NOT_JSON),
    "a code fence": (plain('```json\n{"word": "x"}\n```'), Trouble.NOT_JSON),
    "prose before": (plain('Sure! {"word": "x"}'), Trouble.NOT_JSON),
    "prose behind": (plain('{"word": "x"} Done.'), Trouble.NOT_JSON),
    "a key that stands twice": (plain('{"word": "x", "word": "y"}'), Trouble.NOT_JSON),
    "two values": (plain('{"word": "x"}{"word": "y"}'), Trouble.NOT_JSON),
    "half a value": (plain('{"word": "x"'), Trouble.NOT_JSON),
    "single quotes": (plain("{'word': 'x'}"), Trouble.NOT_JSON),
    "NaN": (plain('{"word": NaN}'), Trouble.NOT_JSON),
    "a byte order mark": (plain('\ufeff{"word": "x"}'), Trouble.NOT_JSON),
    "half a surrogate pair": (plain('{"word": "\\ud800"}'), Trouble.NOT_JSON),
    "very deep": (plain("[" * 5000 + "]" * 5000), Trouble.NOT_JSON),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_may_pass_is_tried_again(endpoint: Endpoint, name: str) -> None:
    reply, kind = PASSING[name]
    timeout_s = SHORT_S if kind is Trouble.TIMEOUT else 5.0
    endpoint.answer = lambda body, number: reply
    with client(endpoint, timeout_s=timeout_s) as asker:
        assert trouble(asker.ask(question())) is kind
        assert len(endpoint.requests) == 1
    endpoint.answer = lambda body, number: reply if number == 2 else right(WORD)
    with client(endpoint, timeout_s=timeout_s, attempts=3) as asker:
        assert asker.ask(question()) == Answered(WORD, "m")
        assert len(endpoint.requests) == 3
        assert asker.counted.results["answered"] == 1
        assert sum(asker.counted.results.values()) == 1


@pytest.mark.parametrize("name", LASTING)
def test_what_would_come_again_is_not_asked_again(endpoint: Endpoint, name: str) -> None:
    reply, kind = LASTING[name]
    endpoint.answer = lambda body, number: reply
    with client(endpoint, attempts=3) as asker:
        assert trouble(asker.ask(question())) is kind
        assert len(endpoint.requests) == 1
        assert asker.counted.results[kind.value] == 1
        assert sum(asker.counted.results.values()) == 1


def test_every_kind_of_trouble_that_a_reply_can_be_stands_above() -> None:
    told = {kind for _, kind in (*PASSING.values(), *LASTING.values())}
    assert told == set(Trouble) - {Trouble.CIRCUIT_OPEN, Trouble.BUDGET_SPENT}


def test_the_largest_reply_is_read(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body, number: padded(MAX_BYTES)
    with client(endpoint) as asker:
        assert asker.ask(question()) == Answered(WORD, "m")


def test_attempts_end(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body, number: status(500)
    with client(endpoint, attempts=3) as asker:
        assert trouble(asker.ask(question())) is Trouble.SERVER_ERROR
    assert len(endpoint.requests) == 3


def test_nobody_listening_and_then_somebody(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body, number: right(WORD)
    with client(endpoint) as asker:
        assert asker.ask(question(1)) == Answered(WORD, "m")
        endpoint.down()
        assert trouble(asker.ask(question(2))) is Trouble.UNREACHABLE
        assert asker.spent.prompt_tokens == 100  # no connection, no cost
        endpoint.up()
        assert asker.ask(question(2)) == Answered(WORD, "m")


@pytest.mark.parametrize(
    "content", [WORD, {"other": 1}, [], "text", 1, True, None, {"word": "줄\n바꿈 \u2028 😊"}, {"n": 10**400}]
)
def test_any_json_is_an_answer_whether_it_fits_or_not(endpoint: Endpoint, content: Any) -> None:
    endpoint.answer = lambda body, number: right(content)
    with client(endpoint) as asker:
        result = asker.ask(question())
    wide = {"n": float("inf")}
    assert result == Answered(wide if content == {"n": 10**400} else content, "m")


def test_a_redirect_is_not_followed(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body, number: Reply(308, headers=(("Location", endpoint.url + "/chat/completions"),))
    with client(endpoint) as asker:
        assert trouble(asker.ask(question())) is Trouble.REJECTED
    assert endpoint.paths == ["/v1/chat/completions"]


SYSTEM = "You answer in one word."
BY_WORDS = f"""{SYSTEM}

Answer with one JSON value that fits this JSON Schema, and with nothing else:
{json.dumps(SCHEMA, separators=(",", ":"))}"""


@pytest.mark.parametrize(
    ("form", "system", "asked"),
    [
        (
            "json_schema",
            SYSTEM,
            {"type": "json_schema", "json_schema": {"name": "one_word", "strict": True, "schema": SCHEMA}},
        ),
        ("json_object", BY_WORDS, {"type": "json_object"}),
        ("none", BY_WORDS, None),
    ],
)
def test_what_is_sent(endpoint: Endpoint, form: str, system: str, asked: Any) -> None:
    with client(endpoint, format=form, temperature=0.5, answer_tokens=77) as asker:
        asker.ask(question())
    sent = {
        "model": "m",
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": "한 낱말로 답해 주세요."}],
        "temperature": 0.5,
        "max_tokens": 77,
    }
    assert endpoint.requests == [sent if asked is None else {**sent, "response_format": asked}]
    assert endpoint.headers[0]["Content-Type"] == "application/json"
    assert "Authorization" not in endpoint.headers[0]


def test_the_limit_goes_by_the_name_the_endpoint_knows(endpoint: Endpoint) -> None:
    with client(endpoint, limit_field="max_completion_tokens") as asker:
        asker.ask(question())
    assert endpoint.requests[0]["max_completion_tokens"] == 1000
    assert "max_tokens" not in endpoint.requests[0]


def test_a_question_that_is_none_is_the_callers_fault(endpoint: Endpoint) -> None:
    with client(endpoint) as asker:
        with pytest.raises(ValueError, match="name of a schema"):
            asker.ask(question()._replace(name="한 낱말"))
        with pytest.raises(ValueError, match="type"):
            asker.ask(question()._replace(schema={"type": "word"}))
        with pytest.raises(TypeError):
            asker.ask(question(user="\ud800"))
    assert endpoint.requests == []
