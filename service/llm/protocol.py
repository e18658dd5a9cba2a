"""The chat protocol: a question as a request's body, and a reply's body read strictly. Pure."""

import json
from http import HTTPStatus
from http.client import responses
from typing import Any, Final, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from service.decode import Malformed, parse
from service.llm.asking import Ask, Failed, Trouble
from service.llm.budget import Usage
from service.llm.settings import LlmSettings
from service.settings import variable_of

_BY_WORDS: Final = "Answer with one JSON value that fits this JSON Schema, and with nothing else:"


class Said(NamedTuple):
    """A model's message, which is JSON: its text, and what that parses to."""

    text: str
    content: Any


def request_body(settings: LlmSettings, ask: Ask) -> bytes:
    """Write a question as the body of a request; the schema is said in words where the format cannot carry it."""
    schema, system, form = dict(ask.schema), ask.system, settings.llm_format
    if form != "json_schema":
        system += f"\n\n{_BY_WORDS}\n{orjson.dumps(schema).decode()}"
    body: dict[str, Any] = {
        "model": settings.llm_model,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": ask.user}],
        "temperature": settings.llm_temperature,
        settings.llm_limit_field: settings.llm_answer_tokens,
    }
    if form == "json_schema":
        asked = {"name": ask.name, "strict": True, "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": asked}
    elif form == "json_object":
        body["response_format"] = {"type": "json_object"}
    return orjson.dumps(body)


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    model_config = ConfigDict(strict=True)

    choices: list[_Choice] = Field(min_length=1)


class _Counted(BaseModel):
    model_config = ConfigDict(strict=True)

    prompt_tokens: int = Field(ge=0, le=10**9)
    completion_tokens: int = Field(ge=0, le=10**9)


class _RepeatedKey(ValueError):
    """An object holds a key twice."""


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) < len(pairs):
        raise _RepeatedKey


def read_reply(body: bytes) -> tuple[Said | Failed, Usage | None]:
    """Read the body of a reply with status 200; the usage is None where the endpoint did not give one that counts."""
    try:
        reply = parse(body)
        completion = _Completion.model_validate(reply)
    except (Malformed, ValidationError):
        return Failed(Trouble.NO_ANSWER, "the reply is not a chat completion"), None
    return _said(completion.choices[0]), _usage(reply.get("usage"))


def read_message(text: str) -> Said | Failed:
    """Parse a message as JSON, strictly: prose around it or a code fence is not JSON, and no key stands twice.

    The parser would take the last of two equal keys, so that `{"pass": false, …, "pass": true}` said what it unsays.
    """
    try:
        content = parse(text.encode())
        json.loads(text, object_pairs_hook=_refuse_repeated)
        return Said(text, content)
    except (Malformed, UnicodeEncodeError, _RepeatedKey):
        return Failed(Trouble.NOT_JSON, "the answer is not JSON")


def read_status(status: int) -> Failed:
    """Say what a status other than 200 means."""
    detail = f"HTTP {status} {responses.get(status, '')}".rstrip()
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return Failed(Trouble.RATE_LIMITED, detail)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Failed(Trouble.SERVER_ERROR, detail)
    if status >= HTTPStatus.BAD_REQUEST:
        return Failed(Trouble.REJECTED, detail)
    if status >= HTTPStatus.MULTIPLE_CHOICES:
        return Failed(Trouble.REJECTED, f"{detail}; redirects are not followed")
    return Failed(Trouble.NO_ANSWER, detail)


def _said(choice: _Choice) -> Said | Failed:
    if choice.message.refusal or choice.finish_reason == "content_filter":
        return Failed(Trouble.DECLINED, "the model declined to answer")
    if choice.finish_reason == "length":
        return Failed(Trouble.CUT_OFF, f"the answer ran into {variable_of('llm_answer_tokens')}")
    if not choice.message.content:
        return Failed(Trouble.NO_ANSWER, "the message is empty")
    return read_message(choice.message.content)


def _usage(counted: Any) -> Usage | None:
    try:
        usage = _Counted.model_validate(counted)
    except ValidationError:
        return None
    return Usage(usage.prompt_tokens, usage.completion_tokens)
