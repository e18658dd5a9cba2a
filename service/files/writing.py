"""Write a result: to stdout, or to a file that appears under its name only when it is whole."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from service.errors import OperatorError

_BUFFER_BYTES: Final = 1 << 20


@contextmanager
def written(path: str | None) -> Iterator[BinaryIO]:
    """Open a result for writing; None and `-` are stdout.

    A file is written beside its name and renamed at the end, so that a run that fails leaves what was there. What is
    no regular file (a pipe, /dev/null) is written to directly.

    Raises:
        OperatorError: the file cannot be written.
    """
    if path is None or path == "-":
        sys.stdout.flush()
        with open(sys.stdout.fileno(), "wb", buffering=_BUFFER_BYTES, closefd=False) as stdout:
            yield stdout
    elif Path(path).exists() and not Path(path).is_file():
        with _open(Path(path), path) as file:
            yield file
    else:
        target = Path(path).resolve()
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            with _open(part, path) as file:
                yield file
            if target.exists():
                shutil.copymode(target, part)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)


def _open(path: Path, name: str) -> BinaryIO:
    try:
        return path.open("wb", buffering=_BUFFER_BYTES)
    except OSError as error:
        raise OperatorError(f"{name}: {error.strerror or error}") from None
