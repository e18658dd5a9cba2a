"""A setting is read from its variable; a wrong one is one line that names it and what was expected."""

import os
from pathlib import Path

import pytest
from pydantic_settings import BaseSettings

from service.canary.settings import CanarySettings
from service.decode import Caps
from service.errors import OperatorError
from service.llm.settings import LlmSettings
from service.narrate.settings import NarratorSettings
from service.review.pages.settings import PageSettings
from service.settings import Expected, JudgingSettings, KafkaSettings, load_settings, variables
from service.spikes.settings import SpikesSettings
from service.stream.settings import WorkerSettings

FOREIGN = "xQz"  # part of every wrong value that could be told by accident

EVERY = (WorkerSettings, CanarySettings, SpikesSettings, NarratorSettings, PageSettings, LlmSettings)

# By variable: wrong values, and what is expected instead.
WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "PROFILE": ((FOREIGN, "SEED"), "one of seed, extended"),
    "MAX_RECORD_BYTES": ((FOREIGN, "1023", "-1", "1.5", "99999999999"), "a number of bytes from 1024 to 16777216"),
    "MAX_NAMES": ((FOREIGN, "0", "-3", "1000001"), "a whole number from 1 to 1000000"),
    "BROKERS": (
        (
            *(FOREIGN, f"{FOREIGN}:", ":9092", f"{FOREIGN}:0", f"{FOREIGN}:65536", f"{FOREIGN}:1,"),
            *(f"{FOREIGN}:1;b:2", f"kafka://{FOREIGN}:9092", "::1:9092", f"{FOREIGN}:1 b:2"),
        ),
        "host:port, comma-separated",
    ),
    "GROUP": ((f"{FOREIGN} b", "한글", ".", "a" * 201), "a group name (letters, digits, '.', '_', '-'; at most 200)"),
    "SECURITY_PROTOCOL": ((FOREIGN, "TLS"), "one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"),
    "SASL_MECHANISM": ((FOREIGN, "GSSAPI"), "one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512"),
    "ALLOW_PLAIN_WITHOUT_TLS": ((FOREIGN, "2"), "true or false"),
    "IDEMPOTENT": ((FOREIGN,), "true or false"),
    **{
        f"TOPIC_{name}": (
            (f"{FOREIGN}/b", "..", "a" * 250),
            "a topic name (letters, digits, '.', '_', '-'; at most 249)",
        )
        for name in (
            *("CHAT_TURNS", "TURN_VERDICTS", "TURN_DEAD_LETTERS", "TURN_SUMMARIES", "TOPIC_SPIKES"),
            *("CHARACTER_CARDS", "TOPIC_LEXICON"),
        )
    },
    "ENTITY_TTL_S": ((FOREIGN, "0", "nan", "315360001"), "a whole number of seconds from 1 to 315360000"),
    "GROUP_INSTANCE_ID": (
        (f"{FOREIGN} b", "한글", "..", "a" * 250),
        "a name (letters, digits, '.', '_', '-'; at most 249)",
    ),
    "HTTP_HOST": ((f"{FOREIGN}..b", f"{FOREIGN}{'a' * 64}"), "a host name or an address"),
    "HTTP_PORT": ((FOREIGN, "-1", "65536", "http"), "a port from 0 to 65535"),
    **dict.fromkeys(
        (
            *("STOP_DEADLINE_S", "SESSION_TIMEOUT_S", "HEARTBEAT_INTERVAL_S", "REBALANCE_TIMEOUT_S"),
            *("SETTLE_TIMEOUT_S", "STALL_TIMEOUT_S"),
        ),
        ((FOREIGN, "0", "-1", "nan", "inf", "86401"), "a number of seconds over 0, at most 86400"),
    ),
    "MAX_FAULT_RUN": ((FOREIGN, "0"), "a whole number from 1 to 1000000"),
    "MAX_FAULT_RATIO": ((FOREIGN, "0", "1.1", "nan", "-0.5"), "a share over 0, at most 1"),
    "MAX_MODELS": ((FOREIGN, "0"), "a whole number from 1 to 1000000"),
    "MAX_TOPICS": ((FOREIGN, "0"), "a whole number from 1 to 1000000"),
    "LOG_LEVEL": ((FOREIGN, "10"), "one of DEBUG, INFO, WARNING, ERROR"),
}
# Text and paths: any value will do until it is used.
ANY_TEXT = {"SASL_USERNAME", "SASL_PASSWORD_FILE", "SSL_CA_FILE", "SSL_CERT_FILE", "SSL_KEY_FILE"}
ANY_TEXT |= {"PROFILE_FILE"}

# Values that are right one by one and wrong together: the variables, the one that is named, what is expected.
APART: tuple[tuple[dict[str, str], str, str], ...] = (
    ({"SASL_USERNAME": "u"}, "SECURITY_PROTOCOL", "SASL_SSL, because of TURNJUDGE_SASL_USERNAME"),
    ({"SASL_MECHANISM": "PLAIN"}, "SECURITY_PROTOCOL", "SASL_SSL, because of TURNJUDGE_SASL_MECHANISM"),
    ({"SSL_CA_FILE": "f"}, "SECURITY_PROTOCOL", "SSL or SASL_SSL, because of TURNJUDGE_SSL_CA_FILE"),
    ({"SECURITY_PROTOCOL": "SASL_SSL"}, "SASL_MECHANISM", "a value, because of TURNJUDGE_SECURITY_PROTOCOL"),
    (
        {"SECURITY_PROTOCOL": "SASL_SSL", "SASL_MECHANISM": "PLAIN", "SASL_USERNAME": "u"},
        "SASL_PASSWORD_FILE",
        "a value, because of TURNJUDGE_SECURITY_PROTOCOL",
    ),
    (
        {"SECURITY_PROTOCOL": "SASL_PLAINTEXT", "SASL_MECHANISM": "PLAIN", "SASL_USERNAME": "u"}
        | {"SASL_PASSWORD_FILE": "f"},
        "SECURITY_PROTOCOL",
        "SASL_SSL for SASL PLAIN, or TURNJUDGE_ALLOW_PLAIN_WITHOUT_TLS=true to send the password unencrypted",
    ),
    ({"SECURITY_PROTOCOL": "SSL", "SSL_KEY_FILE": "f"}, "SSL_CERT_FILE", "a file, because of TURNJUDGE_SSL_KEY_FILE"),
    ({"TOPIC_TURN_VERDICTS": "chat-turns"}, "TOPIC_CHAT_TURNS", "a name that no other topic has"),
    (
        {"GROUP": "g", "TOPIC_TOPIC_SPIKES": "g-entities-changelog"},
        "TOPIC_TOPIC_SPIKES",
        "a name that no other topic has",
    ),
    ({"SESSION_TIMEOUT_S": "8"}, "HEARTBEAT_INTERVAL_S", "at most a third of TURNJUDGE_SESSION_TIMEOUT_S"),
    ({"SETTLE_TIMEOUT_S": "30"}, "REBALANCE_TIMEOUT_S", "more than twice TURNJUDGE_SETTLE_TIMEOUT_S"),
    ({"STALL_TIMEOUT_S": "60"}, "STALL_TIMEOUT_S", "more than TURNJUDGE_REBALANCE_TIMEOUT_S"),
)

# Of each setting: a text, and what it is read as.
READ: dict[str, tuple[str, object]] = {
    "profile": ("seed", "seed"),
    "max_record_bytes": ("2048", 2048),
    "max_names": ("7", 7),
    "brokers": (" a:1 , [::1]:2,b-c.d:65535", "a:1,[::1]:2,b-c.d:65535"),
    "group": ("g.1_x-y", "g.1_x-y"),
    "security_protocol": ("ssl", "SSL"),
    "allow_plain_without_tls": ("true", True),
    "idempotent": ("off", False),
    "topic_chat_turns": ("a", "a"),
    "topic_turn_verdicts": ("b", "b"),
    "topic_turn_dead_letters": ("c", "c"),
    "topic_turn_summaries": ("d", "d"),
    "topic_topic_spikes": ("e", "e"),
    "topic_character_cards": ("f", "f"),
    "topic_topic_lexicon": ("g", "g"),
    "entity_ttl_s": ("60", 60),
    "http_host": ("0.0.0.0", "0.0.0.0"),  # noqa: S104 - only read here
    "http_port": ("0", 0),
    "stop_deadline_s": ("1.5", 1.5),
    "session_timeout_s": ("45", 45.0),
    "heartbeat_interval_s": ("1", 1.0),
    "rebalance_timeout_s": ("21", 21.0),
    "settle_timeout_s": ("0.5", 0.5),
    "max_fault_run": ("3", 3),
    "max_fault_ratio": ("0.5", 0.5),
    "stall_timeout_s": ("61", 61.0),
    "max_models": ("1", 1),
    "max_topics": ("2", 2),
    "log_level": ("warning", "WARNING"),
}


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("TURNJUDGE_"):
            monkeypatch.delenv(name)


def put(monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(f"TURNJUDGE_{name}", value)


def refusal() -> str:
    with pytest.raises(OperatorError) as caught:
        load_settings(WorkerSettings)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None  # nobody can print the value with the error
    return str(caught.value)


def test_defaults_are_those_of_the_design() -> None:
    settings = load_settings(WorkerSettings)
    assert settings.caps == Caps(262144, 256)
    assert settings.topics == (
        *("chat-turns", "turn-verdicts", "turn-dead-letters", "turn-summaries", "topic-spikes", "character-cards"),
        *("topic-lexicon", "turnjudge-entities-changelog"),
    )
    assert (settings.brokers, settings.group, settings.profile) == ("127.0.0.1:9092", "turnjudge", "seed")
    assert (settings.entity_ttl_s, settings.http_host, settings.http_port) == (2_592_000, "127.0.0.1", 9464)
    assert settings.idempotent
    assert not settings.allow_plain_without_tls


@pytest.mark.parametrize(("name", "wrong"), [(name, wrong) for name in WRONG for wrong in WRONG[name][0]])
def test_a_wrong_value_is_one_line(monkeypatch: pytest.MonkeyPatch, name: str, wrong: str) -> None:
    put(monkeypatch, {name: wrong})
    assert refusal() == f"TURNJUDGE_{name}: expected {WRONG[name][1]}"
    assert FOREIGN not in refusal()


@pytest.mark.parametrize(("settings", "named", "expected"), APART)
def test_values_that_do_not_fit_together_are_one_line(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], named: str, expected: str
) -> None:
    put(monkeypatch, settings)
    assert refusal() == f"TURNJUDGE_{named}: expected {expected}"


@pytest.mark.parametrize("cls", EVERY)
def test_every_setting_says_what_it_expects_and_has_a_line_in_help(cls: type[BaseSettings]) -> None:
    assert all(any(isinstance(mark, Expected) for mark in field.metadata) for field in cls.model_fields.values())
    assert all(variable.description for variable in variables(cls))


def test_days_that_are_none_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, {"PAGE_RETENTION_DAYS": FOREIGN})
    with pytest.raises(OperatorError, match=r"^TURNJUDGE_PAGE_RETENTION_DAYS: expected a whole number of days"):
        load_settings(PageSettings)


def test_every_setting_of_the_worker_has_a_wrong_value_above() -> None:
    assert {f"TURNJUDGE_{name}" for name in (*WRONG, *ANY_TEXT)} == {v.name for v in variables(WorkerSettings)}
    assert variables(WorkerSettings)[: len(variables(KafkaSettings))] == variables(KafkaSettings)


@pytest.mark.parametrize("name", READ)
def test_each_setting_is_read_from_its_variable(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    text, value = READ[name]
    put(monkeypatch, {name.upper(): text})
    assert getattr(load_settings(WorkerSettings), name) == value


def test_all_settings_can_be_set_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    files = {
        name: str(tmp_path / name) for name in ("SASL_PASSWORD_FILE", "SSL_CA_FILE", "SSL_CERT_FILE", "SSL_KEY_FILE")
    }
    sasl = {"SECURITY_PROTOCOL": "sasl_ssl", "SASL_MECHANISM": "scram-sha-512", "SASL_USERNAME": "u"}
    put(monkeypatch, {name.upper(): text for name, (text, _) in READ.items()} | sasl | files)
    settings = load_settings(WorkerSettings)
    assert (settings.security_protocol, settings.sasl_mechanism) == ("SASL_SSL", "SCRAM-SHA-512")
    assert settings.ssl_key_file == tmp_path / "SSL_KEY_FILE"
    assert settings.topics.changelog == "g.1_x-y-entities-changelog"


def test_an_override_wins_and_none_is_no_override(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, {"BROKERS": "a:1", "GROUP": "g"})
    settings = load_settings(KafkaSettings, brokers="b:2", group=None)
    assert (settings.brokers, settings.group) == ("b:2", "g")
    with pytest.raises(OperatorError, match=r"^TURNJUDGE_BROKERS: expected host:port, comma-separated$"):
        load_settings(KafkaSettings, brokers="b")


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, dict.fromkeys((*WRONG, *ANY_TEXT), ""))
    assert load_settings(WorkerSettings) == WorkerSettings()


def test_judging_in_files_needs_no_kafka(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, {"BROKERS": "nonsense", "MAX_NAMES": "3"})
    assert load_settings(JudgingSettings).caps == Caps(262144, 3)
