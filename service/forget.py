"""Ask the workers to forget sessions (design section 6), and write a receipt of what was forgotten where."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from service.publish import publisher
from service.scan import partition_count
from service.settings import KafkaSettings

FORGET: Final = "forget"
_FORM: Final = 1


class Stays(StrEnum):
    """What forgetting does not reach, and who removes it.

    `topics`: records in Kafka, until their retention; `copies`: exported files, backups and answers a model was paid
    for; `workers`: nobody was told, for no brokers were named; `page`: no database was named; `file`: bytes that the
    database no longer uses, until it is compacted or writes over them; `cards`: a name that a session mentioned, where
    somebody put it on a card from the page, until the card is written otherwise, and in the record of that publication.
    """

    TOPICS = "topics"
    COPIES = "copies"
    WORKERS = "workers"
    PAGE = "page"
    FILE = "file"
    CARDS = "cards"


class Receipt(NamedTuple):
    """What was forgotten, when and by whom, and what stays.

    One of `session` and `character` was asked for; `sessions` is how many that were. `partitions` were told, None where
    no brokers were named; `removed` are rows by table, None where there is no database.
    """

    at_ms: int
    who: str
    session: str | None
    character: str | None
    sessions: int
    partitions: int | None
    removed: Mapping[str, int] | None
    stays: Sequence[Stays]

    def record(self) -> dict[str, Any]:
        """Return it as it is written to a file."""
        return {"form": _FORM, "command": "forget", **self._asdict()}


def forget(settings: KafkaSettings, session_ids: Iterable[str]) -> int:
    """Ask the workers to forget the names of sessions; return how many partitions were told.

    All are: which one a session is in is up to its producer, and where it is not, nothing is forgotten.

    Raises:
        OperatorError: the brokers cannot be reached, or did not take a record.
    """
    topic = settings.topics.chat_turns
    told = partition_count(settings, topic)
    with publisher(settings) as out:
        for session_id in session_ids:
            for partition in range(told):
                out.send(topic, session_id.encode(), None, [(FORGET, b"1")], partition)
    return told


def staying(has_told: bool, is_clean: bool | None, *, on_cards: bool = False) -> list[Stays]:
    """Return what stays; `is_clean` tells whether the database's file is, None where there is no database.

    `on_cards` tells that a name of what was forgotten was put on a card.
    """
    stays = [Stays.TOPICS, Stays.COPIES] if has_told else [Stays.WORKERS, Stays.TOPICS, Stays.COPIES]
    if is_clean is None:
        return [*stays, Stays.PAGE]
    return [*stays, *([] if is_clean else [Stays.FILE]), *([Stays.CARDS] if on_cards else [])]
