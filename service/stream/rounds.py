"""A fetch of the source cut into what is delivered together: a batch ends before a request to forget (section 6)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

# By partition, records as the consumer gives them.
Fetched = dict[int, list[Any]]


class Forget(NamedTuple):
    """A request to forget a session: the record's offset, and the session (None: the key names none)."""

    offset: int
    session_id: str | None


class Round(NamedTuple):
    """What is delivered together, and the requests to forget that come right after it, by partition."""

    records: Fetched
    forgets: dict[int, Forget]


def rounds(fetched: Mapping[int, Sequence[Any]]) -> Iterator[Round]:
    """Cut a fetch so that each batch ends before a request to forget."""
    rest = {number: list(records) for number, records in fetched.items()}
    while rest:
        records: Fetched = {}
        forgets: dict[int, Forget] = {}
        behind: dict[int, list[Any]] = {}
        for number, waiting in rest.items():
            place = next((i for i, record in enumerate(waiting) if record.value is None and _asks(record)), None)
            if place != 0:
                records[number] = waiting[:place]
            if place is not None:
                forgets[number] = Forget(waiting[place].offset, _session(waiting[place].key))
                behind[number] = waiting[place + 1 :]
        yield Round(records, forgets)
        rest = {number: waiting for number, waiting in behind.items() if waiting}


def _asks(record: Any) -> bool:
    return any(name == "forget" for name, _ in record.headers)


def _session(key: bytes | None) -> str | None:
    try:
        return None if key is None else key.decode()
    except UnicodeDecodeError:
        return None
