"""`turnjudge page`: the verdicts in a browser, for those who write the characters."""

import signal
import socket
from contextlib import closing
from typing import Any, Final

import click

from service.cli.environment import BROKERS, naming
from service.errors import OperatorError
from service.review.pages.settings import PageSettings
from service.serving import taken, url
from service.settings import JudgingSettings, KafkaSettings, load_settings

_GRACE_S: Final = 5
NEEDED: Final = ("alembic", "jinja2", "python_multipart", "sqlalchemy", "sse_starlette", "starlette", "uvicorn")


@click.command(cls=naming(PageSettings, KafkaSettings))
@click.option("--db", "page_db", metavar="URL", help="Where the rows are kept: sqlite:///FILE or postgresql://...")
@click.option("--host", "page_host", metavar="ADDRESS", help="Address to listen on.")
@click.option("--port", "page_port", metavar="PORT", help="Port to listen on; 0 takes a free one.")
@click.option("--live", is_flag=True, help="Follow the live topics into the database, and tell what comes as it comes.")
@click.option("--from-now", is_flag=True, help="With --live: pass over what stands in topics that were never read.")
@click.option("--prune", is_flag=True, help="Remove what is older than TURNJUDGE_PAGE_RETENTION_DAYS, and end.")
@BROKERS
def page(live: bool, from_now: bool, prune: bool, brokers: str | None, **options: Any) -> None:
    """Serve the page on which verdicts are read, until SIGTERM or Ctrl-C.

    On an empty database it shows the public sample. Turns, cards and lexicons are uploaded on the page itself. With
    --live it follows what the worker judges: each verdict once, whatever stops in between, beside what is read. Without
    a login it listens on loopback only; with a token file or behind a proxy that has checked the login, anywhere.

    A token file has a line for each person: NAME ROLE TOKEN. Roles: reader reads, exporter takes files
    besides, reviewer uploads and reviews besides, admin does all of it, undoes what others loaded and sees who opened
    whose chats. Such a proxy sends X-Turnjudge-Proxy-Secret, the user's header, and X-Turnjudge-Role (reader where it
    sends none).

    With TURNJUDGE_PAGE_RETENTION_DAYS it removes what is older, at once and then every hour.

    Exit codes: 0 ended; 2 wrong settings, or an address or a database that cannot be opened.
    """
    if from_now and not live:
        raise OperatorError("--from-now: expected --live with it")
    settings = load_settings(PageSettings, **options)
    kafka = load_settings(KafkaSettings, brokers=brokers) if live or brokers else None
    judging = kafka or load_settings(JudgingSettings)
    try:
        from service.review.pages.serving import opened, pruned, server
    except ModuleNotFoundError as error:
        if error.name not in NEEDED:
            raise
        raise OperatorError(f"page: expected {error.name}; install turnjudge with its extra, page") from None
    from service.logs import set_up_logs

    set_up_logs("INFO")
    if prune:
        for table, rows in pruned(settings).items():
            click.echo(f"{table}: {rows:,} removed", err=True)
        return
    opening = opened(settings, judging, kafka, live=live, from_beginning=not from_now)
    with opening as app, closing(_listening(settings)) as listening:
        # The server ends on these two and raises them once more when it has ended.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, frame: None)
        host, port = listening.getsockname()[:2]
        click.echo(f"the page is at {url(host, port)}/", err=True)
        server(app, _GRACE_S).run(sockets=[listening])


def _listening(settings: PageSettings) -> socket.socket:
    """Return a socket that listens.

    Raises:
        OperatorError: the address is not ours, or the port is taken.
    """
    host, port = settings.page_host, settings.page_port
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise taken("page", host, port, error) from None
