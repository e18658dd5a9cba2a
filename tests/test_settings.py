"""A setting is read from its variable; a wrong one is one line that names it and what was expected, never a secret."""

import logging
import os
from pathlib import Path
from typing import Any

import pytest
from faust import SASLCredentials, SSLCredentials
from kafka import KafkaAdminClient
from kafka.errors import (
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    RequestTimedOutError,
    SaslAuthenticationFailedError,
)

from service.connection import client_options, faust_broker, faust_credentials, reaching
from service.decode import Caps
from service.embedded.broker import free_port
from service.errors import OperatorError
from service.settings import JudgingSettings, KafkaSettings, load_settings, variables
from service.stream.settings import WorkerSettings

SECRET = "very-secret-word"  # noqa: S105 - it is none
FOREIGN = "xQz"  # part of every wrong value that could be told by accident

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
ANY_TEXT = {"SASL_USERNAME", "SASL_PASSWORD_FILE", "SSL_CA_FILE", "SSL_CERT_FILE", "SSL_KEY_FILE", "HTTP_HOST"}
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
SASL: dict[str, Any] = {"sasl_mechanism": "SCRAM-SHA-256", "sasl_username": "u"}
# Made for these tests and trusted by nobody; the key's password is "word".
CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBcDCCARegAwIBAgIUVrPLacQsw51OV3cFFLDoe8QUHN4wCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCdXMwIBcNMjYxMTMwMTI1NDQ3WhgPMjEyNjExMDYxMjU0NDda
MA0xCzAJBgNVBAMMAnVzMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEm4EMdoUu
njSlnzs17fg5FOrH1H4WJmLR53GShTtdnciwjN6Xph0CbPHoZw6F0fqMT1To/DTR
pYm7gxxIM/Su+6NTMFEwHQYDVR0OBBYEFK6SNuTk0ESwxKyar5btM67t8ooYMB8G
A1UdIwQYMBaAFK6SNuTk0ESwxKyar5btM67t8ooYMA8GA1UdEwEB/wQFMAMBAf8w
CgYIKoZIzj0EAwIDRwAwRAIgVCWUyLm6iU8KGvVjeZwixMNsigkE7oh93366ckiA
F88CIGDPPCEBG0DvaU892FlnXSM1k18FHnMmkxh+xpt0so5e
-----END CERTIFICATE-----
"""
KEY = """\
-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHjME4GCSqGSIb3DQEFDTBBMCkGCSqGSIb3DQEFDDAcBAhKtzOsEtg5jQICCAAw
DAYIKoZIhvcNAgkFADAUBggqhkiG9w0DBwQIzAOFFsQHeV4EgZClg3rqtmDoPBj5
LVur4Ki64RZRNq78YTnzL0zM8rP2p7JPICDkedsHSJL++CCcA9O3ahawaz+keTQk
kTpTrE+qGf6YU4se4MSsskPAjuqXkHXfPpgPpxsSsCDIO5oNNkcII2AvJDjO8Oaa
FEgxEndXkF+o8WiRGNNLwcKzMTNXBGRV7NyS4v7BT6IT4Ah+ESY=
-----END ENCRYPTED PRIVATE KEY-----
"""


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


def test_every_setting_has_a_wrong_value_above_and_a_line_in_help() -> None:
    assert {f"TURNJUDGE_{name}" for name in (*WRONG, *ANY_TEXT)} == {v.name for v in variables(WorkerSettings)}
    assert all(variable.description for variable in variables(WorkerSettings))
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


@pytest.fixture
def password_file(tmp_path: Path) -> Path:
    file = tmp_path / "password"
    file.write_text(f"{SECRET}\n")
    return file


def test_the_clients_get_the_password_without_its_line_end(password_file: Path) -> None:
    settings = KafkaSettings(security_protocol="SASL_SSL", sasl_password_file=password_file, **SASL)
    options, credentials = client_options(settings), faust_credentials(settings)
    assert isinstance(credentials, SASLCredentials)
    assert options["sasl_plain_password"] == credentials.password == SECRET
    assert options["sasl_mechanism"] == credentials.mechanism.value == "SCRAM-SHA-256"
    assert options["sasl_plain_username"] == credentials.username == "u"
    assert options["security_protocol"] == credentials.protocol.value == "SASL_SSL"
    assert options["ssl_context"] is credentials.ssl_context is not None


def test_the_password_is_never_printed(password_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    settings = KafkaSettings(
        security_protocol="SASL_PLAINTEXT",
        sasl_password_file=password_file,
        brokers=f"127.0.0.1:{free_port()}",
        **SASL,
    )
    options = client_options(settings) | {"bootstrap_timeout_ms": 300}
    with pytest.raises(KafkaError) as caught:
        KafkaAdminClient(**options)
    assert "Starting KafkaAdminClient with configuration" in caplog.text  # which is where it would stand
    for told in (caplog.text, repr(settings), repr(options), str(caught.value), repr(faust_credentials(settings))):
        assert SECRET not in told


def test_without_tls_and_sasl_there_is_nothing_to_give() -> None:
    settings = KafkaSettings(brokers="a:1,[::1]:2")
    assert faust_credentials(settings) is None
    assert client_options(settings)["ssl_context"] is None
    assert client_options(settings)["bootstrap_servers"] == ["a:1", "[::1]:2"]
    assert faust_broker(settings) == "kafka://a:1;kafka://[::1]:2"


def test_tls_checks_certificates_and_names() -> None:
    credentials = faust_credentials(KafkaSettings(security_protocol="SSL"))
    assert isinstance(credentials, SSLCredentials)
    assert credentials.context.check_hostname
    assert credentials.context.verify_mode.name == "CERT_REQUIRED"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("sasl_password_file", None, "a file in UTF-8 (No such file or directory)"),
        ("sasl_password_file", b"", "a file that is not empty"),
        ("sasl_password_file", b"\r\n", "a file that is not empty"),
        ("sasl_password_file", SECRET.encode() + b"\xff", "a file in UTF-8 (not UTF-8)"),
        ("ssl_ca_file", None, "certificates in PEM (No such file or directory)"),
        ("ssl_ca_file", SECRET.encode(), "certificates in PEM ("),
        (
            "ssl_cert_file",
            None,
            "a certificate in PEM and its key, here or in TURNJUDGE_SSL_KEY_FILE (No such file or directory)",
        ),
        (
            "ssl_cert_file",
            SECRET.encode(),
            "a certificate in PEM and its key, here or in TURNJUDGE_SSL_KEY_FILE (",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line(
    tmp_path: Path, password_file: Path, name: str, content: bytes | None, expected: str
) -> None:
    file = tmp_path / "file"
    if content is not None:
        file.write_bytes(content)
    settings = KafkaSettings(
        **{"security_protocol": "SASL_SSL", "sasl_password_file": password_file, **SASL, name: file}
    )
    for used in (client_options, faust_credentials):
        with pytest.raises(OperatorError) as caught:
            used(settings)
        line = str(caught.value)
        assert line.startswith(f"TURNJUDGE_{name.upper()}: expected {expected}")
        assert "\n" not in line
        assert SECRET not in line


def test_a_key_with_a_password_is_not_asked_about(tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    cert.write_text(CERTIFICATE)
    key.write_text(KEY)
    settings = KafkaSettings(security_protocol="SSL", ssl_cert_file=cert, ssl_key_file=key)
    with pytest.raises(OperatorError, match=r"^TURNJUDGE_SSL_CERT_FILE: .*\(the key has a password\)$"):
        client_options(settings)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (SaslAuthenticationFailedError("bad word"), "a:1: [Error 58] SaslAuthenticationFailedError: bad word"),
        (KafkaError("first\nsecond"), "a:1: KafkaError: first"),
        (KafkaError("x" * 1000), "a:1: KafkaError: " + "x" * 288),
    ],
)
def test_what_a_client_raises_is_one_line(error: KafkaError, line: str) -> None:
    with pytest.raises(OperatorError) as caught, reaching(KafkaSettings(brokers="a:1")):
        raise error
    assert str(caught.value) == line


def test_the_reason_that_says_most_is_told() -> None:
    log = logging.getLogger("kafka.net.manager")

    def connect() -> None:
        log.error("Connection failed: %s", KafkaConnectionError("111 ECONNREFUSED"))
        log.error("Connection failed: %s", SaslAuthenticationFailedError("bad word"))
        log.error("Connection failed: %s", KafkaConnectionError("socket disconnected"))
        log.error("Connection failed: %s", RequestTimedOutError("Request timed out after 12 ms"))
        log.error("Bootstrap failed: %s", KafkaTimeoutError("Unable to bootstrap"))
        raise KafkaTimeoutError("Unable to bootstrap")

    before = list(logging.getLogger("kafka").handlers)
    with pytest.raises(OperatorError) as caught, reaching(KafkaSettings(brokers="a:1")):
        connect()
    why = "[Error 58] SaslAuthenticationFailedError: bad word"
    assert str(caught.value) == f"no answer from the brokers at a:1: {why}"
    assert logging.getLogger("kafka").handlers == before
