"""The topics of design section 6: made with their limits, and checked before the worker starts."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from kafka import KafkaAdminClient
from kafka.admin import ConfigResource
from kafka.errors import TopicAlreadyExistsError, for_code

from service.connection import client_options, reaching
from service.errors import OperatorError
from service.settings import KafkaSettings

_KIB: Final = 1024
_MIB: Final = 1024 * _KIB
_ROOM: Final = 64 * _KIB  # for key, headers and the batch around a record
# Changelog segments end early, so that what was overwritten or dropped is compacted away and recovery stays short; and
# a day bounds how long a forgotten session's text stays in a log that is too quiet to reach the ratio.
_CHANGELOG: Final = {
    "segment.ms": "3600000",
    "min.cleanable.dirty.ratio": "0.1",
    "max.compaction.lag.ms": "86400000",
}

CREATED: Final = "created"
LEFT: Final = "left as it is"


class Topic(NamedTuple):
    """A topic as it should be.

    `copartitioned` ones must have the partitions of the chat turns; of the others any number will do. `least_bytes`
    is the smallest `max.message.bytes` that fits the caps (0: any), `limit_bytes` the one it is created with.
    """

    name: str
    copartitioned: bool
    partitions: int
    compacted: bool
    least_bytes: int
    limit_bytes: int
    extra: dict[str, str]

    def options(self, replication: int) -> dict[str, Any]:
        """Return what the admin client takes to create it."""
        policy = "compact" if self.compacted else "delete"
        configs = {"cleanup.policy": policy, "max.message.bytes": str(self.limit_bytes), **self.extra}
        return {"num_partitions": self.partitions, "replication_factor": replication, "configs": configs}


class Present(NamedTuple):
    """A topic as the brokers have it; `configs` lacks what they do not tell."""

    partitions: int
    configs: dict[str, str]


def wanted(settings: KafkaSettings, partitions: int) -> tuple[Topic, ...]:
    """Return all topics of design section 6, the chat turns first."""
    names, record = settings.topics, settings.max_record_bytes

    def session(name: str, least: int, limit: int, same: bool = True) -> Topic:
        return Topic(name, same, partitions, False, least, max(least, limit), {})

    def single(name: str, compacted: bool) -> Topic:
        return Topic(name, False, 1, compacted, 0, max(record + _ROOM, _MIB), {})

    changelog = 2 * record + _ROOM
    return (
        session(names.chat_turns, 0, 4 * _MIB),
        session(names.turn_verdicts, 6 * record + _ROOM, 2 * _MIB),
        session(names.turn_dead_letters, record + _ROOM, 4 * _MIB),
        session(names.turn_summaries, 0, _MIB, same=False),
        single(names.topic_spikes, compacted=False),
        single(names.character_cards, compacted=True),
        single(names.topic_lexicon, compacted=True),
        Topic(names.changelog, True, partitions, True, changelog, max(changelog, _MIB), _CHANGELOG),
    )


def create_topics(settings: KafkaSettings, partitions: int, replication: int | None = None) -> list[tuple[str, str]]:
    """Create the topics that are missing, `replication` None by the brokers' own default.

    Returns each topic with what was done about it. Nothing is created when one that exists is not as wanted.

    Raises:
        OperatorError: topics that exist and are not as wanted, or that the brokers refuse to create.
    """
    topics = wanted(settings, partitions)
    with reaching(settings), KafkaAdminClient(**client_options(settings)) as admin:
        present = _present(admin, [topic.name for topic in topics])
        _refuse(_misfits(topics, present, partitions))
        missing = {topic.name: topic.options(replication or -1) for topic in topics if topic.name not in present}
        if missing:
            answer = admin.create_topics(missing, raise_errors=False)
            _refuse(_refusals(answer["topics"]))
            admin.wait_for_topics(list(missing))
    return [(topic.name, CREATED if topic.name in missing else LEFT) for topic in topics]


def check_topics(settings: KafkaSettings) -> int:
    """Check the topics the worker uses: there, copartitioned, their limits fit the caps. Return the partition count.

    Raises:
        OperatorError: everything that is not so, in one line.
    """
    names = settings.topics
    later = (names.turn_summaries, names.topic_spikes)
    with reaching(settings), KafkaAdminClient(**client_options(settings)) as admin:
        present = _present(admin, list(names))
    turns = present.get(names.chat_turns)
    topics = [topic for topic in wanted(settings, turns.partitions if turns else 0) if topic.name not in later]
    missing = [f"{topic.name}: missing" for topic in topics if topic.name not in present]
    hint = ["`turnjudge topics create --partitions N` makes what is missing"] if missing else []
    _refuse([*missing, *(_misfits(topics, present, turns.partitions) if turns else ()), *hint])
    return turns.partitions if turns else 0


def _present(admin: KafkaAdminClient, names: Sequence[str]) -> dict[str, Present]:
    there = sorted(set(admin.list_topics()).intersection(names))
    if not there:
        return {}
    configs = admin.describe_configs([ConfigResource("TOPIC", name) for name in there], config_filter="all")["topic"]
    return {
        topic["name"]: Present(
            len(topic["partitions"]),
            {key: str(config["value"]) for key, config in configs.get(topic["name"], {}).items()},
        )
        for topic in admin.describe_topics(there)
    }


def _misfits(topics: Sequence[Topic], present: dict[str, Present], partitions: int) -> Iterator[str]:
    for topic in topics:
        found = present.get(topic.name)
        if found is None:
            continue
        if topic.copartitioned and found.partitions != partitions:
            yield f"{topic.name}: expected {partitions} partitions, has {found.partitions}"
        policy = found.configs.get("cleanup.policy")
        if policy is not None and (policy != "compact" if topic.compacted else "compact" in policy):
            yield f"{topic.name}: expected cleanup.policy {'compact' if topic.compacted else 'delete'}, has {policy}"
        limit = found.configs.get("max.message.bytes")
        if limit is not None and int(limit) < topic.least_bytes:
            yield f"{topic.name}: expected max.message.bytes of {topic.least_bytes} or more, has {limit}"


def _refusals(answers: Sequence[dict[str, Any]]) -> Iterator[str]:
    for answer in answers:
        kind = for_code(answer["error_code"])
        if answer["error_code"] and kind is not TopicAlreadyExistsError:  # somebody made it meanwhile
            yield f"{answer['name']}: not created, {answer['error_message'] or kind.__name__}"


def _refuse(problems: Iterator[str] | Sequence[str]) -> None:
    line = "; ".join(problems)
    if line:
        raise OperatorError(f"topics: {line}")
