"""How clients are told to reach the brokers: files that cannot be used are one line, and so is what a client raises."""

import logging
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
from service.embedded.broker import free_port
from service.errors import OperatorError
from service.settings import KafkaSettings

SECRET = "very-secret-word"  # noqa: S105 - it is none
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
