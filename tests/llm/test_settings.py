"""A wrong setting of the endpoint is one line."""

import os
from pathlib import Path

import pytest

from service.errors import OperatorError
from service.llm.settings import LlmSettings
from service.settings import load_settings, variables

FOREIGN = "xQz"  # part of every wrong value that could be told by accident
NEEDED = {"URL": "https://models.example/v1", "MODEL": "m"}
URL = "a URL such as https://host/v1 (http or https; without user, query and /chat/completions)"
TOKENS = "a whole number from 1 to 1000000000000"
MONEY = "a number from 0 to 1000000000"
COUNT = "a whole number from 1 to 1000000"
SECONDS = "a number of seconds over 0, at most 86400"

# By variable: wrong values, and what is expected instead.
WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "URL": (
        (
            *(FOREIGN, f"ftp://{FOREIGN}", f"{FOREIGN}:80", f"//{FOREIGN}", "https://", "https:///v1", "http://:80"),
            *(f"https://u:{FOREIGN}@host/v1", f"https://{FOREIGN}@host", f"https://host/v1?key={FOREIGN}"),
            *(f"https://host/#{FOREIGN}", f"https://{FOREIGN} host", f"https://host/{FOREIGN} b", "https://host:0"),
            *(
                "https://host:65536",
                "https://host:x",
                "https://a..b",
                f"https://{'a' * 64}",
                "https://-a",
                "https://한글",
            ),
            *(
                "https://[::1",
                "https://[1::2::3]",
                "https://[xQz]",
                "https://host/v1/chat/completions",
                "https://host\\a",
            ),
        ),
        URL,
    ),
    "MODEL": ((" ",), "the name of a model as the endpoint knows it"),
    "ALLOW_KEY_WITHOUT_TLS": ((FOREIGN,), "true or false"),
    "USE_PROXIES": ((FOREIGN, "2"), "true or false"),
    "TIMEOUT_S": ((FOREIGN, "0", "nan", "inf", "86401"), SECONDS),
    "ATTEMPTS": ((FOREIGN, "0", "21", "1.5"), "a whole number from 1 to 20"),
    "CONCURRENCY": ((FOREIGN, "0", "1001"), "a whole number from 1 to 1000"),
    "MAX_CALLS": ((FOREIGN, "0", "-1"), "a whole number from 1 to 1000000000"),
    "MAX_TOKENS": ((FOREIGN, "0", "1.5"), TOKENS),
    "MAX_MONEY": ((FOREIGN, "-1", "nan", "inf"), MONEY),
    "PRICE_IN": ((FOREIGN, "-1", "nan"), MONEY),
    "PRICE_OUT": ((FOREIGN, "-1", "inf"), MONEY),
    "ANSWER_TOKENS": ((FOREIGN, "0"), COUNT),
    "LIMIT_FIELD": ((FOREIGN,), "one of max_tokens, max_completion_tokens"),
    "FORMAT": ((FOREIGN,), "one of json_schema, json_object, none"),
    "TEMPERATURE": ((FOREIGN, "-0.1", "2.1", "nan"), "a number from 0 to 2"),
    "CACHE_ENTRIES": ((FOREIGN, "0"), COUNT),
    "BREAKER_FAILURES": ((FOREIGN, "0"), COUNT),
    "BREAKER_PAUSE_S": ((FOREIGN, "0", "-1"), SECONDS),
}
# Paths: any value will do until it is used.
ANY_TEXT = {"API_KEY_FILE", "CACHE_FILE", "CA_FILE"}

PLAIN = (
    "https, because of TURNJUDGE_LLM_API_KEY_FILE, or TURNJUDGE_LLM_ALLOW_KEY_WITHOUT_TLS=true to send the key"
    " unencrypted"
)
# Values that are right one by one and wrong together: the variables, the one that is named, what is expected.
APART: tuple[tuple[dict[str, str], str, str], ...] = (
    ({"URL": "http://models.example/v1", "API_KEY_FILE": "f"}, "URL", PLAIN),
    ({"URL": "HTTP://10.0.0.1", "API_KEY_FILE": "f"}, "URL", PLAIN),
    ({"URL": "http://localhost.example", "API_KEY_FILE": "f"}, "URL", PLAIN),
    ({"URL": "http://127.0.0.1", "API_KEY_FILE": "f", "USE_PROXIES": "true"}, "URL", PLAIN),
    ({"MAX_MONEY": "1", "PRICE_OUT": "1"}, "PRICE_IN", "a price, because of TURNJUDGE_LLM_MAX_MONEY"),
    ({"MAX_MONEY": "1", "PRICE_IN": "1"}, "PRICE_OUT", "a price, because of TURNJUDGE_LLM_MAX_MONEY"),
)

# Of each setting: a text, and what it is read as.
READ: dict[str, tuple[str, object]] = {
    "url": (" https://[::1]:8080/a-b/v1/ ", "https://[::1]:8080/a-b/v1"),
    "model": (" org/model:7b ", "org/model:7b"),
    "api_key_file": ("f", Path("f")),
    "allow_key_without_tls": ("true", True),
    "ca_file": ("ca", Path("ca")),
    "use_proxies": ("on", True),
    "timeout_s": ("1.5", 1.5),
    "attempts": ("1", 1),
    "concurrency": ("7", 7),
    "max_calls": ("1000000000", 1_000_000_000),
    "max_tokens": ("5", 5),
    "max_money": ("0.5", 0.5),
    "price_in": ("0", 0.0),
    "price_out": ("1.25", 1.25),
    "answer_tokens": ("9", 9),
    "limit_field": ("MAX_COMPLETION_TOKENS", "max_completion_tokens"),
    "format": ("None", "none"),
    "temperature": ("0.7", 0.7),
    "cache_file": ("c", Path("c")),
    "cache_entries": ("2", 2),
    "breaker_failures": ("3", 3),
    "breaker_pause_s": ("0.5", 0.5),
}


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("TURNJUDGE_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


def put(monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(f"TURNJUDGE_LLM_{name}", value)


def refusal() -> str:
    with pytest.raises(OperatorError) as caught:
        load_settings(LlmSettings)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [(name, value, expected) for name, (values, expected) in WRONG.items() for value in values],
)
def test_a_wrong_value_is_one_line_without_it(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, expected: str
) -> None:
    put(monkeypatch, {**NEEDED, name: value})
    assert refusal() == f"TURNJUDGE_LLM_{name}: expected {expected}"
    assert FOREIGN not in refusal()


@pytest.mark.parametrize(("settings", "named", "expected"), APART)
def test_values_that_do_not_fit_together_are_one_line(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], named: str, expected: str
) -> None:
    put(monkeypatch, {**NEEDED, **settings})
    assert refusal() == f"TURNJUDGE_LLM_{named}: expected {expected}"


@pytest.mark.parametrize(
    ("missing", "expected"), [("URL", URL), ("MODEL", "the name of a model as the endpoint knows it")]
)
def test_url_and_model_must_be_given(monkeypatch: pytest.MonkeyPatch, missing: str, expected: str) -> None:
    put(monkeypatch, {**NEEDED, missing: ""})
    assert refusal() == f"TURNJUDGE_LLM_{missing}: expected {expected}"


def test_every_setting_has_a_wrong_value_above() -> None:
    assert {f"TURNJUDGE_LLM_{name}" for name in (*WRONG, *ANY_TEXT)} == {v.name for v in variables(LlmSettings)}
    assert [variable.default for variable in variables(LlmSettings)][:4] == ["", "", "", "false"]


def test_each_setting_is_read_from_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, {name.upper(): text for name, (text, _) in READ.items()})
    settings = load_settings(LlmSettings)
    assert {name: getattr(settings, f"llm_{name}") for name in READ} == {
        name: value for name, (_, value) in READ.items()
    }
    assert len(READ) == len(variables(LlmSettings))


@pytest.mark.parametrize(
    "settings",
    [
        {"URL": "https://models.example"},
        {"URL": "http://localhost:11434/v1"},
        {"URL": "http://127.8.9.1:1/v1"},
        {"URL": "http://[::1]/v1"},
        {"URL": "http://model_server:8000", "ALLOW_KEY_WITHOUT_TLS": "true"},
    ],
)
def test_a_key_may_go_where_nobody_listens_in(monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]) -> None:
    put(monkeypatch, {**NEEDED, "API_KEY_FILE": "f", **settings})
    assert load_settings(LlmSettings).llm_url == settings["URL"]
