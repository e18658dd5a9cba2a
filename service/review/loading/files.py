"""The files of an upload, open for reading, under the names that people gave them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from schemas.card import Card
from schemas.lexicon import Entry
from service.decode import Caps
from service.errors import OperatorError
from service.files.readers import RawRow, Refused, TurnFile, read_cards, read_lexicon, turn_file
from service.review.loading.sheets import plain


class File(NamedTuple):
    """A file: the name somebody gave it, and where it lies. A path that ends in `.csv` is CSV, any other JSONL."""

    name: str
    path: Path


class Files(NamedTuple):
    """What is uploaded together; any may be missing."""

    turns: File | None = None
    cards: File | None = None
    lexicon: File | None = None


def path_for(folder: Path, kind: str, name: str) -> Path:
    """Return where a file is to be stored for reading: its name's ending tells CSV from JSONL."""
    return folder / f"{kind}{'.csv' if name.lower().endswith(('.csv', '.tsv')) else '.jsonl'}"


class Reading:
    """The files, open; what is said of them bears the names they were given."""

    def __init__(self, files: Files, caps: Caps) -> None:
        self._files, self._caps = files, caps
        self._stack = ExitStack()
        self._turns: TurnFile | None = None
        self.notices: list[str] = []

    @property
    def name(self) -> str:
        """The name of the file of turns."""
        return "" if self._files.turns is None else self._files.turns.name

    @property
    def load_name(self) -> str:
        """The names of all files."""
        return ", ".join(file.name for file in self._files if file is not None)

    def __enter__(self) -> "Reading":
        file = self._files.turns
        if file is not None:
            say = self._said(file)
            with _named(file):
                self._turns = self._stack.enter_context(turn_file(str(plain(file.path, say)), self._caps, say))
        return self

    def __exit__(self, *failure: object) -> None:
        self._stack.close()

    def turns(self) -> Iterator[RawRow]:
        """Read the rows of turns, from the start; anew with every call."""
        if self._turns is not None and self._files.turns is not None:
            with _named(self._files.turns):
                yield from self._turns.rows()

    def cards(self) -> tuple[tuple[Card, ...], tuple[Refused, ...]]:
        """Read the cards."""
        file = self._files.cards
        if file is None:
            return (), ()
        say = self._said(file)
        with _named(file):
            found = read_cards(str(plain(file.path, say)), self._caps, say)
        return found.records, tuple(each._replace(file=file.name) for each in found.refused)

    def lexicon(self) -> tuple[tuple[Entry, ...] | None, tuple[Refused, ...]]:
        """Read the lexicon; None where none was uploaded."""
        file = self._files.lexicon
        if file is None:
            return None, ()
        say = self._said(file)
        with _named(file):
            found = read_lexicon(str(plain(file.path, say)), self._caps, say)
        return found.records, tuple(each._replace(file=file.name) for each in found.refused)

    def _said(self, file: File) -> Callable[[str], None]:
        def say(message: str) -> None:
            told = f"{file.name}: {message.rpartition(': ')[2]}"
            if told not in self.notices:
                self.notices.append(told)

        return say


@contextmanager
def _named(file: File) -> Iterator[None]:
    """Say of a file what cannot be read of it under the name it was given, not under that of its place here."""
    try:
        yield
    except OperatorError as error:
        told = str(error)
        raise OperatorError(f"{file.name}: {told.partition(': ')[2] or told}") from None
