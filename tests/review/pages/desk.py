"""Pages for tests: a page over a database of its own, and a browser's headers."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

from httpx import Response
from starlette.testclient import TestClient

from review.store.desk import Version, put
from service.review.pages.serving import opened, server
from service.review.pages.settings import PageSettings
from service.review.store.opening import opened as database
from service.settings import JudgingSettings, KafkaSettings

BASE = "http://127.0.0.1"
FROM_US = {"Sec-Fetch-Site": "same-origin"}


@contextmanager
def page(
    folder: Path, judging: JudgingSettings | None = None, kafka: KafkaSettings | None = None, **given: Any
) -> Iterator[TestClient]:
    """Open a page over a database; what it is asked comes from itself, as a browser would say."""
    settings = PageSettings(**{"page_db": f"sqlite:///{folder / 'page.db'}"} | given)
    opening = opened(settings, judging or JudgingSettings(), kafka)
    with opening as app, TestClient(app, base_url=BASE, headers=FROM_US) as client:
        yield client


def tokens(folder: Path, **roles: str) -> Path:
    """Write a file of those who may log in: a name and a role each."""
    file = folder / "tokens"
    file.write_text("".join(f"{name} {role} {token_of(name)}\n" for name, role in roles.items()), encoding="utf-8")
    return file


def token_of(name: str) -> str:
    """Return somebody's token."""
    return f"{name}-token-0123456789"


def log_in(client: TestClient, name: str) -> None:
    """Log in as somebody of the file of tokens."""
    answer = client.post("/login", data={"token": token_of(name), "back": "/"}, follow_redirects=False)
    assert answer.status_code == 303


@contextmanager
def filled(folder: Path, *versions: Version) -> Iterator[TestClient]:
    """Open a page over versions of turns that came live."""
    with page(folder) as client:
        with database(f"sqlite:///{folder / 'page.db'}") as engine:
            put(engine, *versions)
        yield client


@contextmanager
def served(folder: Path, kafka: KafkaSettings | None = None, **given: Any) -> Iterator[str]:
    """Serve a page over a database, live where brokers are named, and yield its address."""
    settings = PageSettings(**{"page_db": f"sqlite:///{folder / 'page.db'}"} | given)
    opening = opened(settings, JudgingSettings(), kafka, live=kafka is not None)
    with opening as app, socket.create_server(("127.0.0.1", 0)) as listening:
        running = server(app, 1)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            running.should_exit = True
            thread.join(30)


def rows(text: str) -> list[str]:
    """Return the addresses of the rows of a list."""
    return [unescape(found) for found in re.findall(r'class="row" href="([^"]+)"', text)]


def uploaded(client: TestClient, **files: tuple[str, bytes]) -> str:
    """Upload files, and return the address of the preview when the files have been read."""
    answer = client.post("/uploads", files=files, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    where = answer.headers["location"]
    settled()
    return where


def loaded(client: TestClient, **files: tuple[str, bytes]) -> str:
    """Upload files, load them, and return the page of the upload when that has come to its end."""
    where = uploaded(client, **files)
    answer = client.post("/uploads/load", data={"upload": where.partition("=")[2]})
    assert answer.status_code == 200, answer.text
    settled()
    return client.get(where).text


def settled() -> None:
    """Wait until no upload is under way."""
    for thread in threading.enumerate():
        if thread.name == "upload":
            thread.join(60)
            assert not thread.is_alive()


def draw(client: TestClient, queue: str = "forbidden_topics", **given: str) -> Response:
    """Draw a sample of a queue, of 20 by the seed 7 where nothing else is asked."""
    return client.post("/review/draw", data={"queue": queue, "size": "20", "seed": "7", "reviewers": "1"} | given)
