"""Who may come in, and as what: roles, tokens, a proxy that has checked the login (issue 8, item 7)."""

import hmac
import ipaddress
import secrets
import time
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from starlette.datastructures import Headers

from service.errors import OperatorError
from service.review.pages.settings import PageSettings
from service.secret import read_secret
from service.settings import variable_of

COOKIE: Final = "turnjudge_login"
PROXY_SECRET: Final = "X-Turnjudge-Proxy-Secret"  # noqa: S105 - the name of a header
PROXY_ROLE: Final = "X-Turnjudge-Role"
LOGIN_S: Final = 12 * 3600
_SHORTEST_TOKEN: Final = 20
_MOST_LOGINS: Final = 10_000


class Role(StrEnum):
    """What somebody may do; see `RIGHTS`. An admin also undoes what others uploaded, and sees the access log."""

    READER = "reader"
    REVIEWER = "reviewer"
    EXPORTER = "exporter"
    ADMIN = "admin"


class Right(StrEnum):
    """What a part of the page asks for."""

    READ = "read"
    UPLOAD = "upload"
    REVIEW = "review"
    EXPORT = "export"
    ADMINISTER = "administer"


RIGHTS: Final = {
    Role.READER: frozenset((Right.READ,)),
    Role.REVIEWER: frozenset((Right.READ, Right.UPLOAD, Right.REVIEW)),
    # A file is out of reach of the page's keeping and forgetting, so that reviewing does not bring it along.
    Role.EXPORTER: frozenset((Right.READ, Right.EXPORT)),
    Role.ADMIN: frozenset(Right),
}


class Person(NamedTuple):
    """Who asks, and as what."""

    name: str
    role: Role

    def may(self, right: Right) -> bool:
        """Tell whether the role gives a right."""
        return right in RIGHTS[self.role]

    def owns(self, who: str) -> bool:
        """Tell whether what somebody did is this person's to take back: their own, or as an administrator anybody's."""
        return who == self.name or self.may(Right.ADMINISTER)


# Whoever sits at the machine may do everything there.
LOCAL: Final = Person("local", Role.ADMIN)


class Logins:
    """Those who logged in, by the hash of what their cookie holds; they end after 12 h and with the process."""

    def __init__(self) -> None:
        """Begin with nobody."""
        self._known: dict[str, tuple[Person, float]] = {}
        self._lock = Lock()

    def open(self, person: Person) -> str:
        """Remember somebody and return the value of the cookie."""
        value, now = secrets.token_urlsafe(32), time.monotonic()
        with self._lock:
            self._known = {key: each for key, each in self._known.items() if each[1] > now}
            while len(self._known) >= _MOST_LOGINS:
                del self._known[next(iter(self._known))]
            self._known[_hash(value)] = person, now + LOGIN_S
        return value

    def find(self, value: str) -> Person | None:
        """Return whose cookie this is."""
        person, until = self._known.get(_hash(value), (None, 0.0))
        return person if until > time.monotonic() else None

    def close(self, value: str) -> None:
        """Forget a login."""
        with self._lock:
            self._known.pop(_hash(value), None)


class Gate(NamedTuple):
    """How one comes in: by a token, through the proxy, or, where both are None, as whoever sits at the machine."""

    tokens: dict[str, Person] | None
    proxy_secret: str | None
    user_header: str
    logins: Logins

    def person(self, headers: Headers, cookie: str | None) -> Person | None:
        """Return who asks, or None where nobody is known."""
        if self.tokens is None and self.proxy_secret is None:
            return LOCAL
        if cookie and (known := self.logins.find(cookie)):
            return known
        given = headers.get(PROXY_SECRET, "")
        if self.proxy_secret is None or not hmac.compare_digest(given.encode(), self.proxy_secret.encode()):
            return None
        name, role = headers.get(self.user_header, "").strip(), headers.get(PROXY_ROLE, Role.READER)
        return Person(name, Role(role)) if name and role in tuple(Role) else None

    def holder(self, token: str) -> Person | None:
        """Return whose token this is."""
        return (self.tokens or {}).get(_hash(token.strip()))


def gate_of(settings: PageSettings) -> Gate:
    """Return how one comes in by the settings.

    Raises:
        OperatorError: a token file or a secret that cannot be used, or neither on an address that others reach.
    """
    tokens = None if settings.page_token_file is None else read_tokens(settings.page_token_file)
    file = settings.page_proxy_secret_file
    secret = None if file is None else str(read_secret(variable_of("page_proxy_secret_file"), file))
    if secret is not None and len(secret) < _SHORTEST_TOKEN:
        raise OperatorError(f"{variable_of('page_proxy_secret_file')}: expected at least {_SHORTEST_TOKEN} characters")
    if tokens is None and secret is None and not is_loopback(settings.page_host):
        raise OperatorError(
            f"{variable_of('page_host')}: expected a loopback address, or a login by"
            f" {variable_of('page_token_file')} or {variable_of('page_proxy_secret_file')}"
        )
    return Gate(tokens, secret, settings.page_proxy_user_header, Logins())


def read_tokens(file: Path) -> dict[str, Person]:
    """Read who may log in, a line each: NAME ROLE TOKEN; by the token's hash.

    Raises:
        OperatorError: the file cannot be read, or a line is none; the line never holds the token.
    """
    variable = variable_of("page_token_file")
    tokens: dict[str, Person] = {}
    for number, line in enumerate(read_secret(variable, file).splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split()
        if len(parts) != 3 or parts[1] not in tuple(Role) or len(parts[2]) < _SHORTEST_TOKEN:
            roles = ", ".join(Role)
            expected = f"NAME ROLE TOKEN, a role of {roles}, and a token of at least {_SHORTEST_TOKEN} characters"
            raise OperatorError(f"{variable}: line {number}: expected {expected}")
        if _hash(parts[2]) in tokens:
            raise OperatorError(f"{variable}: line {number}: expected a token that no other line has")
        tokens[_hash(parts[2])] = Person(parts[0], Role(parts[1]))
    if not tokens:
        raise OperatorError(f"{variable}: expected at least one line NAME ROLE TOKEN")
    return tokens


def is_loopback(host: str) -> bool:
    """Tell whether an address is of this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _hash(value: str) -> str:
    return sha256(value.encode()).hexdigest()
