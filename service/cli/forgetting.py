"""`turnjudge forget`: a session, or all of a character's, through the whole system, with a receipt."""

import getpass
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import click
import orjson

from service.cli.asking import agreed
from service.cli.environment import BROKERS, naming
from service.errors import OperatorError
from service.files.writing import written
from service.forget import Receipt, Stays, staying
from service.forget import forget as tell_workers
from service.settings import KafkaSettings, load_settings, variable_of
from service.visible import visible

_FILE: Final = "turnjudge.db"
_NEEDED: Final = ("alembic", "sqlalchemy")
_STAYS: Final = {
    Stays.TOPICS: "records in Kafka stay until the retention of their topics",
    Stays.COPIES: "exported files, backups and a file of TURNJUDGE_LLM_CACHE_FILE stay until somebody removes them",
    Stays.WORKERS: "the workers were not told; the names they keep stay for TURNJUDGE_ENTITY_TTL_S, 30 days unless set",
    Stays.PAGE: "no database of a page was named, so nothing was removed from one",
    Stays.FILE: "bytes that the database no longer uses stay in its files until it writes over them; with SQLite"
    " --compact writes the file anew",
    Stays.CARDS: "a name that was mentioned stands on a card, where somebody put it from the page, and in the record of"
    " that; it stays until the card is written otherwise",
}


@click.command(cls=naming(KafkaSettings))
@click.argument("session", required=False)
@click.option("--character", metavar="NAME", help="Forget every session that has a turn of this character.")
@click.option(
    "--db",
    envvar="TURNJUDGE_PAGE_DB",
    show_envvar=True,
    metavar="URL",
    help=f"The page's database [default: sqlite:///{_FILE} where there is one].",
)
@click.option("--kafka/--no-kafka", default=True, show_default=True, help="Tell the workers.")
@click.option("--compact", is_flag=True, help="Write a SQLite file anew, however large; it is done anyway up to 1 GiB.")
@click.option("--yes", is_flag=True, help="Forget a character's sessions without asking.")
@click.option("--out", metavar="FILE", help="Write the receipt, as JSON.")
@BROKERS
def forget(
    session: str | None,
    character: str | None,
    db: str | None,
    kafka: bool,
    compact: bool,
    yes: bool,
    out: str | None,
    brokers: str | None,
) -> None:
    """Forget SESSION, or every session of a character, through the whole system.

    The workers forget the names that the session mentioned so far. The page's database loses its turns, verdicts and
    their history, what search finds them by, summaries, answers of reviewers and who opened it. It keeps a salted hash
    of the session and the time, so that old records that come again bring nothing back; a later turn is a new one.

    The sessions of a character are those that the page's database has. The receipt says what was removed where, and
    what only retention removes. It is shown, and written to --out; the database keeps one without the session's name.
    """
    given = [name for name in (session, character) if name is not None]
    if len(given) != 1 or not given[0].strip() or not given[0].isprintable():
        raise OperatorError("expected SESSION or --character NAME, as text that is not blank")
    settings = load_settings(KafkaSettings, brokers=brokers) if kafka else None
    if db is None and Path(_FILE).exists():
        db = f"sqlite:///{_FILE}"
    now_ms, who = time.time_ns() // 1_000_000, getpass.getuser()
    with nullcontext() if out is None else written(out) as file:  # before anything is forgotten
        if db is not None:
            receipt = _on_page(db, settings, session, character, who, now_ms, compact=compact, yes=yes)
        elif session is None or settings is None:
            raise OperatorError(f"--db (or {variable_of('page_db')}): expected the page's database")
        else:
            told = tell_workers(settings, [session])
            receipt = Receipt(now_ms, who, session, None, 1, told, None, staying(has_told=True, is_clean=None))
        _show(receipt)
        if file is not None:
            file.write(orjson.dumps(receipt.record(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _on_page(
    db: str,
    settings: KafkaSettings | None,
    session: str | None,
    character: str | None,
    who: str,
    now_ms: int,
    *,
    compact: bool,
    yes: bool,
) -> Receipt:
    try:
        from service.review.erasing import asked, erase
        from service.review.store.forgetting import MOST_COMPACTED_BYTES
        from service.review.store.opening import opened, reading
    except ModuleNotFoundError as error:
        if error.name not in _NEEDED:
            raise
        raise OperatorError(f"forget: expected {error.name}; install turnjudge with its extra, page") from None
    with opened(db) as engine:
        if character is not None:
            with reading(engine) as connection:
                found = asked(connection, session, character)
            _say(f"{visible(character)}: {len(found.sessions):,} sessions, {found.turns:,} turns on the page")
            if found.sessions and not yes and not agreed("Forget them?", "--yes forgets them"):
                _say("nothing was forgotten")
                click.get_current_context().exit(1)
        most_bytes = 2**63 if compact else MOST_COMPACTED_BYTES
        return erase(engine, settings, session, character, who, now_ms, most_bytes)


def _show(receipt: Receipt) -> None:
    _say(f"forgotten: {receipt.sessions:,} session{'' if receipt.sessions == 1 else 's'}")
    if receipt.partitions is not None:
        _say(f"workers: {receipt.partitions:,} partitions were told")
    for table, rows in (receipt.removed or {}).items():
        _say(f"page: {table}: {rows:,} removed")
    for each in receipt.stays:
        _say(f"stays: {_STAYS[each]}")


def _say(line: str) -> None:
    click.echo(line, err=True)
