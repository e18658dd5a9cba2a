"""Who comes in: loopback alone without a login, tokens, a proxy with its secret; and what is refused at the start."""

from pathlib import Path

import pytest
from starlette.datastructures import Headers

from service.errors import OperatorError
from service.review.pages.access import (
    LOCAL,
    PROXY_ROLE,
    PROXY_SECRET,
    Gate,
    Person,
    Right,
    Role,
    gate_of,
    is_loopback,
    read_tokens,
)
from service.review.pages.settings import PageSettings

READER, ADMIN = "reader-token-0123456789", "admin-token-01234567890"
SECRET = "a-secret-of-the-proxy-1234"  # noqa: S105 - of the test


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    file = tmp_path / "tokens"
    file.write_text(f"# who may come in\n\nharu reader {READER}\nsora admin {ADMIN}\n", encoding="utf-8")
    return file


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n", encoding="utf-8")
    return file


def settings(**given: object) -> PageSettings:
    return PageSettings(**given)  # type: ignore[arg-type]


def asked(gate: Gate, cookie: str | None = None, **headers: str) -> Person | None:
    return gate.person(Headers({name.replace("_", "-"): value for name, value in headers.items()}), cookie)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost", "LOCALHOST"])
def test_on_loopback_nobody_logs_in(host: str) -> None:
    assert is_loopback(host)
    assert asked(gate_of(settings(page_host=host))) is LOCAL


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "page.example", "127.0.0.1.example", ""])  # noqa: S104
def test_elsewhere_it_does_not_start_without_a_login(host: str, tokens: Path, secret: Path) -> None:
    assert not is_loopback(host)
    with pytest.raises(OperatorError, match=r"TURNJUDGE_PAGE_HOST: expected a loopback address, or a login by"):
        gate_of(settings(page_host=host or "x"))
    gate_of(settings(page_host=host or "x", page_token_file=tokens))
    gate_of(settings(page_host=host or "x", page_proxy_secret_file=secret))


def test_a_token_opens_a_login_that_ends(tokens: Path) -> None:
    gate = gate_of(settings(page_token_file=tokens))
    assert asked(gate) is None
    assert gate.holder("x" * 30) is None
    person = gate.holder(READER)
    assert person == Person("haru", Role.READER)
    cookie = gate.logins.open(person)
    assert asked(gate, cookie) == person
    assert asked(gate, cookie + "x") is None
    gate.logins.close(cookie)
    assert asked(gate, cookie) is None


def test_the_roles_have_the_rights_they_say() -> None:
    rights = {role: {right for right in Right if Person("who", role).may(right)} for role in Role}
    assert rights == {
        Role.READER: {Right.READ},
        Role.REVIEWER: {Right.READ, Right.UPLOAD, Right.REVIEW},
        Role.EXPORTER: {Right.READ, Right.EXPORT},
        Role.ADMIN: {Right.READ, Right.UPLOAD, Right.REVIEW, Right.EXPORT, Right.ADMINISTER},
    }


def test_a_proxy_is_known_by_its_secret(secret: Path) -> None:
    gate = gate_of(settings(page_proxy_secret_file=secret))
    named = {"X_Forwarded_User": "haru"}
    assert asked(gate, **named) is None
    assert asked(gate, **named, **{PROXY_SECRET: "wrong"}) is None
    assert asked(gate, **{PROXY_SECRET: SECRET}) is None
    assert asked(gate, **named, **{PROXY_SECRET: SECRET}) == Person("haru", Role.READER)
    assert asked(gate, **named, **{PROXY_SECRET: SECRET, PROXY_ROLE: "admin"}) == Person("haru", Role.ADMIN)
    assert asked(gate, **named, **{PROXY_SECRET: SECRET, PROXY_ROLE: "root"}) is None
    assert asked(gate, **{"X_Forwarded_User": "  ", PROXY_SECRET: SECRET}) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("haru reader short", "line 1"),
        (f"haru {READER}", "line 1"),
        (f"# so\nharu king {READER}", "line 2"),
        (f"haru reader {READER}\nsora admin {READER}", "line 2"),
        ("# nobody\n", "expected at least one line"),
        ("", "expected a file that is not empty"),
    ],
)
def test_a_token_file_that_cannot_be_used_is_named_without_its_tokens(tmp_path: Path, text: str, line: str) -> None:
    file = tmp_path / "tokens"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(OperatorError, match=line) as error:
        read_tokens(file)
    assert READER not in str(error.value)
    assert "TURNJUDGE_PAGE_TOKEN_FILE" in str(error.value)


def test_a_short_secret_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("short", encoding="utf-8")
    with pytest.raises(OperatorError, match="TURNJUDGE_PAGE_PROXY_SECRET_FILE: expected at least 20 characters"):
        gate_of(settings(page_proxy_secret_file=file))
