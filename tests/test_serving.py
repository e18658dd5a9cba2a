"""Where a process answers over HTTP: addresses as all say them, and one that is taken is one line."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.request import urlopen

import pytest

from service.errors import OperatorError
from service.serving import served, url


@contextmanager
def occupied() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def render() -> tuple[bytes, str]:
    return b"figures\n", "text/plain"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", pytest.param("::1", marks=pytest.mark.skipif(not has_ipv6(), reason="there is no IPv6 here"))],
)
def test_it_answers_at_the_address_it_yields(host: str) -> None:
    with served("spikes_http", host, 0, render) as address:
        assert address is not None
        port = int(address.rpartition(":")[2])
        assert address == url(host, port)
        with urlopen(f"{address}/metrics", timeout=5) as answer:  # noqa: S310 - our own address
            assert answer.read() == b"figures\n"


def test_where_no_port_is_asked_for_there_is_none() -> None:
    with served("narrator_http", "127.0.0.1", None, render) as address:
        assert address is None


def test_an_address_that_is_taken_is_one_line() -> None:
    with occupied() as port, pytest.raises(OperatorError) as caught, served("spikes_http", "127.0.0.1", port, render):
        pass
    line = f"TURNJUDGE_SPIKES_HTTP_HOST, TURNJUDGE_SPIKES_HTTP_PORT: expected a free address, got 127.0.0.1:{port} ("
    assert str(caught.value).startswith(line)
