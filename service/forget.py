"""Ask the workers to forget a session (design section 6)."""

from typing import Final

from service.publish import publisher
from service.scan import partition_count
from service.settings import KafkaSettings

FORGET: Final = "forget"


def forget(settings: KafkaSettings, session_id: str) -> int:
    """Ask the workers to forget the names of a session; return how many partitions were told.

    All are: which one a session is in is up to its producer, and where it is not, nothing is forgotten.

    Raises:
        OperatorError: the brokers cannot be reached, or did not take the record.
    """
    topic = settings.topics.chat_turns
    told = partition_count(settings, topic)
    with publisher(settings) as out:
        for partition in range(told):
            out.send(topic, session_id.encode(), None, [(FORGET, b"1")], partition)
    return told
