"""A question on the terminal, before what cannot be taken back."""

import sys

import click

from service.errors import OperatorError


def agreed(question: str, alone: str) -> bool:
    """Ask, and return the answer.

    Raises:
        OperatorError: nobody is there to ask; `alone` says what is to be done then.
    """
    if not sys.stdin.isatty():
        raise OperatorError(f"nobody is there to ask; {alone}")
    return click.confirm(question, err=True)
