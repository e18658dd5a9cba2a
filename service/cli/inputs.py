"""What commands ask and say of the files they are given."""

from collections.abc import Iterable
from pathlib import Path

import click

from service.errors import OperatorError
from service.files.readers import STDIN, Refused


def refuse_same(*files: str | None) -> None:
    """Refuse to read two files from stdin."""
    if files.count(STDIN) > 1:
        raise OperatorError("only one file can be read from stdin")


def is_same(one: str, other: str | None) -> bool:
    """Tell whether two names are of one file, however they are written; `-` is of its own kind."""
    return other is not None and Path(one).resolve() == Path(other).resolve()


def say_refused(refused: Iterable[Refused]) -> None:
    """Print refused rows to stderr, a line each."""
    for row in refused:
        click.echo(str(row), err=True)
