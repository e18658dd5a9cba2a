"""How the Kafka clients reach the brokers: one set of settings, mapped to each client's own words."""

import logging
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kafka.errors import (
    BrokerResponseError,
    KafkaError,
    KafkaTimeoutError,
    RequestTimedOutError,
    TopicAuthorizationFailedError,
)

from service.errors import OperatorError
from service.secret import read_secret
from service.settings import KafkaSettings, line_of, variable_of

if TYPE_CHECKING:
    from faust.types.auth import CredentialsT

CONNECT_TIMEOUT_S: Final = 8.0
_CLIENT_ID: Final = "turnjudge"
_LINE_CHARS: Final = 300


def client_options(settings: KafkaSettings) -> dict[str, Any]:
    """Return the arguments that admin client, producer and consumer of kafka-python share.

    Raises:
        OperatorError: a file for SASL or TLS that cannot be used.
    """
    return {
        "bootstrap_servers": settings.brokers.split(","),
        "bootstrap_timeout_ms": int(CONNECT_TIMEOUT_S * 1000),
        "client_id": _CLIENT_ID,
        "security_protocol": settings.security_protocol,
        "ssl_context": ssl_context(settings),
        "sasl_mechanism": settings.sasl_mechanism,
        "sasl_plain_username": settings.sasl_username,
        "sasl_plain_password": _password(settings),
    }


def faust_broker(settings: KafkaSettings) -> str:
    """Return the brokers as the URL that Faust takes."""
    return ";".join(f"kafka://{address}" for address in settings.brokers.split(","))


def faust_credentials(settings: KafkaSettings) -> "CredentialsT | None":
    """Return what Faust takes as `broker_credentials`; None for PLAINTEXT.

    Raises:
        OperatorError: a file for SASL or TLS that cannot be used.
    """
    from faust import SASLCredentials, SSLCredentials  # it takes a while, and only the worker needs it

    context = ssl_context(settings)
    if settings.sasl_mechanism is not None:
        return SASLCredentials(
            username=settings.sasl_username,
            password=_password(settings),
            ssl_context=context,
            mechanism=settings.sasl_mechanism,
        )
    return None if context is None else SSLCredentials(context)


def ssl_context(settings: KafkaSettings) -> ssl.SSLContext | None:
    """Return the TLS context, the same one for the same files; None where the protocol has no TLS.

    Raises:
        OperatorError: a file that is not there or not PEM.
    """
    if settings.security_protocol not in ("SSL", "SASL_SSL"):
        return None
    return _context(settings.ssl_ca_file, settings.ssl_cert_file, settings.ssl_key_file)


@lru_cache(maxsize=4)
def _context(ca_file: Path | None, cert_file: Path | None, key_file: Path | None) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        raise OperatorError(line_of("ssl_ca_file", f"certificates in PEM ({_why(error)})")) from None
    if cert_file is not None:
        try:
            context.load_cert_chain(cert_file, key_file, password=_no_password)
        except (OSError, ValueError) as error:
            expected = f"a certificate in PEM and its key, here or in {variable_of('ssl_key_file')} ({_why(error)})"
            raise OperatorError(line_of("ssl_cert_file", expected)) from None
    return context


def _no_password() -> str:
    """Keep OpenSSL from asking at the terminal for the password of a key."""
    raise ValueError("the key has a password")


def _password(settings: KafkaSettings) -> str | None:
    file = settings.sasl_password_file
    return None if file is None else read_secret(variable_of("sasl_password_file"), file)


def _why(error: Exception) -> str:
    """Name an error without what a file holds: the system's word, or OpenSSL's."""
    if isinstance(error, ssl.SSLError):
        return error.reason or "not PEM"
    return getattr(error, "strerror", None) or str(error)


@contextmanager
def reaching(settings: KafkaSettings) -> Iterator[None]:
    """Turn what a Kafka client raises inside the block into the operator's one line.

    The client's own log is kept off the terminal, but for the last reason why a connection failed.

    Raises:
        OperatorError: no broker answered, or it refused.
    """
    log, heard = logging.getLogger("kafka"), _Reasons()
    log.addHandler(heard)
    try:
        yield
    except KafkaTimeoutError as error:
        why = f": {heard.last}" if heard.last else f" ({error})"
        raise OperatorError(f"no answer from the brokers at {settings.brokers}{why}") from None
    except TopicAuthorizationFailedError as error:
        raise OperatorError(f"{settings.brokers}: no right to {error}") from None
    except KafkaError as error:
        raise OperatorError(f"{settings.brokers}: {_first_line(error)}") from None
    finally:
        log.removeHandler(heard)


class _Reasons(logging.Handler):
    """Keeps the last error that a connection of the client ended with, of those that say most."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.last = ""
        self._tells = 0

    def emit(self, record: logging.LogRecord) -> None:
        for value in record.args if isinstance(record.args, tuple) else ():
            if isinstance(value, KafkaError) and _tells(value) >= self._tells:
                self.last, self._tells = _first_line(value), _tells(value)


def _tells(error: KafkaError) -> int:
    """Rank an error: a broker's own word, before a lost connection, before an attempt that ran out of time."""
    if isinstance(error, (KafkaTimeoutError, RequestTimedOutError)):
        return 0
    return 2 if isinstance(error, BrokerResponseError) else 1


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0][:_LINE_CHARS] or type(error).__name__
