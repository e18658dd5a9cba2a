"""The key stands in one header and nowhere else, and goes only to whom is trusted, by proxies only if wanted."""

import logging
import os
import ssl
from pathlib import Path
from typing import Any

import pytest

from llm.asking import WORD, client, question, trouble
from llm.endpoint import Endpoint, Reply, dropped, listening, not_chat, not_json, plain, right, slow
from secured import Authority
from service.errors import OperatorError
from service.llm.asking import Answered, Trouble
from service.llm.client import opened
from service.llm.settings import LlmSettings

SECRET = "sk-very-secret-word"  # noqa: S105 - it is none


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    file = tmp_path / "key"
    file.write_text(f"{SECRET}\n")
    return file


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "a file in UTF-8 (No such file or directory)"),
        (b"", "a file that is not empty"),
        (b"\n", "a file that is not empty"),
        (b"\xff", "a file in UTF-8 (not UTF-8)"),
        (SECRET.encode() + b" ", "one line of ASCII without spaces"),
        (SECRET.encode() + b"\nX-Other: 1", "one line of ASCII without spaces"),
        (SECRET.encode() + "키".encode(), "one line of ASCII without spaces"),
    ],
)
def test_a_key_that_cannot_be_sent_is_one_line(
    endpoint: Endpoint, tmp_path: Path, content: bytes | None, expected: str
) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(OperatorError) as caught, client(endpoint, api_key_file=file):
        pass
    assert str(caught.value) == f"TURNJUDGE_LLM_API_KEY_FILE: expected {expected}"


# What an endpoint can do with a key or a prompt that it was sent, to get it into a log.
ECHO = f"{SECRET} 비밀질문 비밀답변"
TELLING: dict[str, Reply] = {
    "right": right({"word": "비밀답변"}),
    "prose": plain("비밀답변"),
    "status": Reply(400, ECHO.encode(), (("X-Echo", SECRET), ("Retry-After", SECRET))),
    "429": Reply(429, ECHO.encode(), (("Retry-After", SECRET),)),
    "redirect": Reply(302, headers=(("Location", f"http://{SECRET}.example/"),)),
    "encoding": Reply(200, ECHO.encode(), (("Content-Encoding", SECRET),)),
    "500": Reply(500, ECHO.encode()),
    "not chat": not_chat(),
    "not JSON": not_json(),
    "dropped": dropped(),
    "dropped in the body": dropped(after_bytes=10),
    "slow": slow(right(WORD)),
}


def test_key_prompt_and_answer_are_in_no_line(
    endpoint: Endpoint, key_file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    file = tmp_path / "answers"
    replies = list(TELLING.values())
    endpoint.answer = lambda body, number: replies[number - 1]
    told = []
    with client(
        endpoint, api_key_file=key_file, cache_file=file, timeout_s=0.3, breaker_failures=3, max_calls=len(replies)
    ) as asker:
        for number in range(len(replies)):
            result = asker.ask(question(number, user="비밀질문"))
            told.append(result[1])
        endpoint.down()
        told.append(asker.ask(question(99, user="비밀질문"))[1])
        told += [repr(asker), repr(asker.counted)]
    assert [headers["Authorization"] for headers in endpoint.headers] == [f"Bearer {SECRET}"] * len(replies)
    assert all(SECRET not in str(body) for body in endpoint.requests)
    assert all("비밀질문" in str(body) for body in endpoint.requests)
    lines = caplog.text
    assert "rejected: HTTP 400 Bad Request" in lines  # so that what happened was told
    assert "the endpoint is left alone" in lines
    told += [
        lines,
        *capfd.readouterr(),
        file.read_bytes().decode("utf-8", "replace").replace('{"word": "비밀답변"}', ""),
    ]
    for text in told:
        for secret in (SECRET, "비밀질문", "비밀답변"):
            assert secret not in text


def test_settings_do_not_hold_the_key(key_file: Path) -> None:
    settings = LlmSettings(llm_url="https://models.example", llm_model="m", llm_api_key_file=key_file)
    with opened(settings):
        assert SECRET not in repr(settings)


def test_only_who_is_trusted_is_asked(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    shown = authority.certificate("endpoint")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(shown.cert, shown.key)
    with listening(tls) as endpoint:
        endpoint.answer = lambda body, number: right(WORD)
        with client(endpoint, ca_file=authority.ca) as asker:
            assert asker.ask(question()) == Answered(WORD, "m")
        for url in (endpoint.url, endpoint.url.replace("127.0.0.1", "127.0.0.2")):
            other = None if url == endpoint.url else authority.ca
            with client(endpoint, url=url, ca_file=other) as asker:
                assert trouble(asker.ask(question())) is Trouble.UNREACHABLE
        assert len(endpoint.requests) == 1


@pytest.mark.parametrize(("content", "why"), [(None, "No such file or directory"), (b"x", "")])
def test_certificates_that_cannot_be_read_are_one_line(
    endpoint: Endpoint, tmp_path: Path, content: bytes | None, why: str
) -> None:
    file = tmp_path / "ca"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(OperatorError) as caught, client(endpoint, ca_file=file):
        pass
    assert str(caught.value).startswith(f"TURNJUDGE_LLM_CA_FILE: expected certificates in PEM ({why}")


def test_proxies_of_the_environment_are_used_only_if_wanted(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", endpoint.url)
    with client(endpoint) as asker:
        asker.ask(question(1))
    with client(endpoint, url="http://models.example/v1", use_proxies=True) as asker:
        asker.ask(question(2))
    assert endpoint.paths == ["/v1/chat/completions", "http://models.example/v1/chat/completions"]


def test_a_proxy_that_cannot_be_used_is_one_line(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"gopher://u:{SECRET}@proxy")
    with pytest.raises(OperatorError) as caught, client(endpoint, use_proxies=True):
        pass
    expected = "expected an HTTP proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY"
    assert str(caught.value) == f"TURNJUDGE_LLM_USE_PROXIES: {expected}"
