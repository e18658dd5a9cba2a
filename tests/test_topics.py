"""Topics are made as the design wants them, found wrong when they are not, and checked before the worker starts."""

from collections.abc import Callable
from itertools import count

import pytest
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource

from brokers import KafkaBroker
from service.errors import OperatorError
from service.settings import KafkaSettings, load_settings
from service.stream.topics import CREATED, LEFT, check_topics, create_topics

KIB = 1024
MIB = 1024 * KIB
NAMES = ("chat_turns", "turn_verdicts", "turn_dead_letters", "turn_summaries", "topic_spikes")
SESSION = (*NAMES[:4], "changelog")  # as many partitions as the chat turns
COMPACTED = ("character_cards", "topic_lexicon", "changelog")
_numbers = count()


@pytest.fixture(params=["kafka", "embedded"])
def settings(request: pytest.FixtureRequest) -> KafkaSettings:
    """Settings with topics of their own, on either broker."""
    found = request.getfixturevalue(request.param)
    return own(found.bootstrap if isinstance(found, KafkaBroker) else str(found))


@pytest.fixture
def on_kafka(kafka: KafkaBroker) -> KafkaSettings:
    return own(kafka.bootstrap)


def own(brokers: str, **others: int) -> KafkaSettings:
    prefix = f"topics-{next(_numbers)}"
    names = KafkaSettings().topics._asdict()
    del names["changelog"]
    renamed = {f"topic_{field}": f"{prefix}-{name}" for field, name in names.items()}
    return load_settings(KafkaSettings, brokers=brokers, group=prefix, **renamed, **others)


def make(settings: KafkaSettings, name: str, partitions: int, **configs: str) -> None:
    written = {key.replace("_", "."): value for key, value in configs.items()}
    with KafkaAdminClient(bootstrap_servers=settings.brokers) as admin:
        topic = {"num_partitions": partitions, "replication_factor": 1, "configs": written}
        admin.create_topics({name: topic}, wait_for_metadata=True)


def found(settings: KafkaSettings) -> dict[str, tuple[int, dict[str, str]]]:
    """By field: the partitions and the settings of each topic there is."""
    fields = {name: field for field, name in settings.topics._asdict().items()}
    with KafkaAdminClient(bootstrap_servers=settings.brokers) as admin:
        there = [name for name in admin.list_topics() if name in fields]
        configs = admin.describe_configs([ConfigResource("TOPIC", name) for name in there], config_filter="all")
        described = admin.describe_topics(there) if there else []
    return {
        fields[topic["name"]]: (
            len(topic["partitions"]),
            {key: config["value"] for key, config in configs["topic"][topic["name"]].items()},
        )
        for topic in described
    }


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(OperatorError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_all_topics_are_made_as_the_design_wants_them(settings: KafkaSettings) -> None:
    assert create_topics(settings, 3) == [(name, CREATED) for name in settings.topics]
    made = found(settings)
    assert {field: partitions for field, (partitions, _) in made.items()} == {
        field: 3 if field in SESSION else 1 for field in settings.topics._fields
    }
    for field, (_, configs) in made.items():
        assert configs["cleanup.policy"] == ("compact" if field in COMPACTED else "delete"), field
    limits = {"chat_turns": 4 * MIB, "turn_verdicts": 2 * MIB, "turn_dead_letters": 4 * MIB}
    for field, (_, configs) in made.items():
        assert int(configs["max.message.bytes"]) == limits.get(field, MIB), field
    assert int(made["changelog"][1]["segment.ms"]) == 3_600_000
    assert float(made["changelog"][1]["min.cleanable.dirty.ratio"]) == 0.1
    assert int(made["changelog"][1]["max.compaction.lag.ms"]) == 86_400_000
    assert check_topics(settings) == 3


def test_a_second_time_changes_nothing(settings: KafkaSettings) -> None:
    create_topics(settings, 2)
    before = found(settings)
    assert create_topics(settings, 2) == [(name, LEFT) for name in settings.topics]
    assert found(settings) == before


def test_what_exists_as_wanted_is_left_alone(on_kafka: KafkaSettings) -> None:
    make(on_kafka, on_kafka.topics.chat_turns, 4, retention_ms="12345", max_message_bytes="1000")
    make(on_kafka, on_kafka.topics.turn_verdicts, 4, max_message_bytes=str(9 * MIB))
    make(on_kafka, on_kafka.topics.character_cards, 5, cleanup_policy="compact")
    done = dict(create_topics(on_kafka, 4))
    left = {on_kafka.topics.chat_turns, on_kafka.topics.turn_verdicts, on_kafka.topics.character_cards}
    assert {name for name, what in done.items() if what == LEFT} == left
    assert found(on_kafka)["chat_turns"][1]["retention.ms"] == "12345"
    assert found(on_kafka)["turn_verdicts"][1]["max.message.bytes"] == str(9 * MIB)
    assert found(on_kafka)["character_cards"][0] == 5
    assert check_topics(on_kafka) == 4


def test_what_exists_otherwise_is_named_and_nothing_is_made(on_kafka: KafkaSettings) -> None:
    names = on_kafka.topics
    make(on_kafka, names.chat_turns, 3, cleanup_policy="compact")
    make(on_kafka, names.turn_verdicts, 2, max_message_bytes="1048588")
    make(on_kafka, names.character_cards, 1, cleanup_policy="compact,delete")
    make(on_kafka, names.changelog, 3, cleanup_policy="delete", max_message_bytes="2000")
    wrong = (
        f"topics: {names.chat_turns}: expected cleanup.policy delete, has compact"
        f"; {names.turn_verdicts}: expected 3 partitions, has 2"
        f"; {names.turn_verdicts}: expected max.message.bytes of {6 * 256 * KIB + 64 * KIB} or more, has 1048588"
        f"; {names.character_cards}: expected cleanup.policy compact, has compact,delete"
        f"; {names.changelog}: expected cleanup.policy compact, has delete"
        f"; {names.changelog}: expected max.message.bytes of {2 * 256 * KIB + 64 * KIB} or more, has 2000"
    )
    assert refusal(lambda: create_topics(on_kafka, 3)) == wrong
    assert found(on_kafka).keys() == {"chat_turns", "turn_verdicts", "character_cards", "changelog"}


def test_limits_grow_with_the_caps(kafka: KafkaBroker) -> None:
    settings = own(kafka.bootstrap, max_record_bytes=8 * MIB)
    create_topics(settings, 1)
    limits = {field: int(configs["max.message.bytes"]) for field, (_, configs) in found(settings).items()}
    assert limits["turn_verdicts"] == 48 * MIB + 64 * KIB
    assert limits["turn_dead_letters"] == 8 * MIB + 64 * KIB
    assert limits["changelog"] == 16 * MIB + 64 * KIB
    assert limits["character_cards"] == limits["topic_lexicon"] == 8 * MIB + 64 * KIB
    assert check_topics(settings) == 1


def test_the_worker_is_told_everything_that_is_missing(settings: KafkaSettings) -> None:
    names = settings.topics
    make(settings, names.turn_verdicts, 1)
    assert refusal(lambda: check_topics(settings)) == (
        f"topics: {names.chat_turns}: missing; {names.turn_dead_letters}: missing; {names.character_cards}: missing"
        f"; {names.topic_lexicon}: missing; {names.changelog}: missing"
        "; `turnjudge topics create --partitions N` makes what is missing"
    )


@pytest.mark.parametrize("field", ["turn_verdicts", "turn_dead_letters", "changelog"])
def test_the_worker_wants_equal_partitions(on_kafka: KafkaSettings, field: str) -> None:
    for each in on_kafka.topics._fields:
        make_as_wanted(on_kafka, each, 2 if each == field else 3)
    name = getattr(on_kafka.topics, field)
    assert refusal(lambda: check_topics(on_kafka)) == f"topics: {name}: expected 3 partitions, has 2"


def test_what_only_later_steps_use_may_be_missing(on_kafka: KafkaSettings) -> None:
    used = set(on_kafka.topics._fields) - {"turn_summaries", "topic_spikes"}
    for field in used:
        make_as_wanted(on_kafka, field, 2)
    assert found(on_kafka).keys() == used
    assert check_topics(on_kafka) == 2


def make_as_wanted(settings: KafkaSettings, field: str, partitions: int) -> None:
    policy = "compact" if field in COMPACTED else "delete"
    name = getattr(settings.topics, field)
    make(settings, name, partitions, cleanup_policy=policy, max_message_bytes=str(4 * MIB))


def test_what_the_brokers_refuse_is_said(on_kafka: KafkaSettings) -> None:
    line = refusal(lambda: create_topics(on_kafka, 1, replication=3))
    assert line.startswith(f"topics: {on_kafka.topics.chat_turns}: not created, ")
    assert line.count(": not created, ") == len(on_kafka.topics)
    assert found(on_kafka) == {}
