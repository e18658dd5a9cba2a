"""Secrets that stand in files: read once, and never printed."""

from pathlib import Path

from service.errors import OperatorError


class Secret(str):
    """A secret as clients take it; whoever prints the dictionaries they are given gets stars."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Hide it."""
        return "'***'"


def read_secret(variable: str, file: Path) -> Secret:
    """Read the secret of a file, without the line end; `variable` is the setting that names the file.

    Raises:
        OperatorError: no such file, not UTF-8, or nothing in it; the line never holds what the file does.
    """
    try:
        secret = file.read_text("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise OperatorError(f"{variable}: expected a file in UTF-8 (not UTF-8)") from None
    except OSError as error:
        raise OperatorError(f"{variable}: expected a file in UTF-8 ({error.strerror or error})") from None
    if not secret:
        raise OperatorError(f"{variable}: expected a file that is not empty")
    return Secret(secret)
