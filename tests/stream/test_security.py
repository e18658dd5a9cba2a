"""TLS, SCRAM and rights on a real Kafka; what logs never hold; and where the worker listens."""

import json
import signal
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from files.commands import Done, write_rows
from files.commands import turnjudge as command
from secured import SCRAM, Authority, Right, SecuredBroker, names, rights, secured_broker
from service.review.loading.live import Follower
from service.review.store.opening import opened, reading
from service.review.store.queries import NO_FILTERS, counts
from service.settings import KafkaSettings, load_settings
from stream.offline import check_outcomes, snapshot_of
from stream.world import Row, Worker, World, encode, wait_for, world
from stream.worlds import Make

# Stands in every field of every record that goes in, and in the password.
CANARY = "까나리아7c1e"
PASSWORD = f"열쇠 {CANARY}"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    """A broker of this module's own; every test that takes it is marked as one that needs Kafka."""
    with secured_broker(tmp_path_factory.mktemp("secured")) as broker:
        yield broker


@pytest.fixture
def guarded(secured: SecuredBroker) -> Iterator[World]:
    """A world with its topics on the secured broker; its workers have no rights yet."""
    with world(secured.bootstrap) as made:
        made.create()
        yield made


def grant(secured: SecuredBroker, world: World, user: str, *roles: str, but: Right | None = None) -> None:
    given = [right for role in roles for right in rights()[role] if right != but]
    secured.allow(user, given, names(world.settings.topics, world.settings.group))


def run(world: World, client: dict[str, str], monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> Done:
    """Run a command as a client of the secured broker."""
    for name, value in (world.environment | {f"TURNJUDGE_{key.upper()}": v for key, v in client.items()}).items():
        if name not in ("TURNJUDGE_HTTP_PORT",):
            monkeypatch.setenv(name, value)
    return command(*arguments)


@pytest.mark.needs("kafka")
@pytest.mark.parametrize("way", ["SCRAM-SHA-512", "certificate"])
def test_a_worker_with_the_rights_of_readme_judges_over_tls(
    secured: SecuredBroker, guarded: World, sample: dict[str, list[Row]], way: str
) -> None:
    name = f"worker-{guarded.settings.group}"
    client = secured.certified(name) if way == "certificate" else secured.user(name, PASSWORD, way)
    grant(secured, guarded, f"CN={name}" if way == "certificate" else name, "worker")
    guarded.load(sample["cards"], sample["lexicon"])
    guarded.send_turns(sample["turns"])
    worker = guarded.worker(**client)
    guarded.await_records(guarded.settings.topics.turn_verdicts, len(sample["turns"]))
    check_outcomes(guarded, snapshot_of(sample["cards"], sample["lexicon"]))
    assert worker.end() == 0
    assert guarded.committed() == len(sample["turns"])
    assert CANARY not in worker.output


@pytest.mark.needs("kafka")
def test_the_commands_do_with_the_rights_of_readme(
    secured: SecuredBroker, sample: dict[str, list[Row]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {kind: write_rows(tmp_path / f"{kind}.jsonl", sample[kind]) for kind in ("cards", "lexicon", "turns")}
    with world(secured.bootstrap) as made:
        group = made.settings.group
        lines: tuple[tuple[str, tuple[str | Path, ...]], ...] = (
            ("topics create", ("topics", "create", "--partitions", "2")),
            ("load", ("load", "cards", files["cards"], "--yes")),
            ("load", ("load", "lexicon", files["lexicon"], "--yes")),
            ("load", ("load", "turns", files["turns"])),
            ("tail", ("tail", "verdicts", "--no-follow", "--from-beginning")),
            ("tail", ("tail", "summaries", "--no-follow", "--from-beginning")),
            ("replay", ("replay", "--reason", "unknown_character")),
            ("forget", ("forget", "S-1")),
        )
        for number, (role, arguments) in enumerate(lines):
            user = f"{role.split()[0]}-{group}-{number}"
            client = secured.user(user, PASSWORD, SCRAM[number % 2])
            refused = run(made, client, monkeypatch, *arguments)
            assert refused.code != 0, role
            assert refused.err.count("\n") == 1, refused.err
            grant(secured, made, user, role)
            done = run(made, client, monkeypatch, *arguments)
            assert done.code == 0, done.err
            assert CANARY not in done.err + refused.err
        assert made.ends(made.settings.topics.chat_turns) == len(sample["turns"]) + 2  # each partition is told


NOBODY = {"llm_url": "http://127.0.0.1:1/v1", "llm_model": "none", "llm_attempts": "1"}


@pytest.mark.needs("kafka")
def test_a_narrator_with_the_rights_of_readme_narrates_over_tls(
    secured: SecuredBroker, guarded: World, sample: dict[str, list[Row]]
) -> None:
    name = f"narrator-{guarded.settings.group}"
    client = secured.user(name, PASSWORD, SCRAM[0]) | NOBODY
    guarded.load(sample["cards"], sample["lexicon"])
    guarded.send_turns(sample["turns"])
    worker = guarded.worker()
    guarded.await_records(guarded.settings.topics.turn_verdicts, len(sample["turns"]))
    refused = guarded.beside("narrate", **client)
    assert (refused.wait(60), refused.output.count("\n")) == (2, 1), refused.output
    grant(secured, guarded, name, "narrate")
    narrator = guarded.beside("narrate", **client)
    guarded.await_records(guarded.settings.topics.turn_summaries, len(sample["turns"]))
    assert (narrator.end(), worker.end()) == (0, 0)
    assert CANARY not in narrator.output + refused.output


def watches(spikes: Worker) -> bool:
    return "watching" in spikes.output


@pytest.mark.needs("kafka")
def test_a_canary_and_spikes_do_with_the_rights_of_readme(
    secured: SecuredBroker, guarded: World, sample: dict[str, list[Row]]
) -> None:
    guarded.load(sample["cards"], sample["lexicon"])
    worker = guarded.worker()
    for role, arguments in (("canary", ["--once"]), ("spikes", [])):
        name = f"{role}-{guarded.settings.group}"
        client = secured.user(name, PASSWORD, SCRAM[0])
        refused = guarded.beside(role, *arguments, **client)
        assert refused.wait(90) != 0
        assert "Traceback" not in refused.output
        grant(secured, guarded, name, role)
        running = guarded.beside(role, *arguments, **client)
        if role == "spikes":
            wait_for("it watches", partial(watches, running))
        assert (running.end() if role == "spikes" else running.wait(90)) == 0, running.output
        assert CANARY not in running.output + refused.output
    assert worker.end() == 0


@pytest.mark.needs("kafka")
def test_a_page_with_the_rights_of_readme_follows_over_tls(
    secured: SecuredBroker, guarded: World, sample: dict[str, list[Row]], tmp_path: Path
) -> None:
    name, topics = f"page-{guarded.settings.group}", guarded.settings.topics
    client = secured.user(name, PASSWORD, SCRAM[1])
    grant(secured, guarded, name, "page --live")
    guarded.load(sample["cards"], sample["lexicon"])
    guarded.send_turns(sample["turns"])
    worker = guarded.worker()
    guarded.await_records(topics.turn_verdicts, len(sample["turns"]))
    kept = {key: value for key, value in guarded.overrides.items() if key in KafkaSettings.model_fields}
    with opened(f"sqlite:///{tmp_path / 'page.db'}") as engine:
        follower = Follower(load_settings(KafkaSettings, **kept | client), engine)
        follower.start()

        def shown() -> int:
            with reading(engine) as connection:
                return sum(counts(connection, NO_FILTERS).values())

        try:
            wait_for("every turn is a row", lambda: shown() == len(sample["turns"]) or None)
            assert follower.state().problem is None
        finally:
            assert follower.stop()
    assert worker.end() == 0


@pytest.mark.needs("kafka")
def test_a_worker_that_may_not_write_verdicts_ends_and_commits_nothing(
    secured: SecuredBroker, guarded: World, sample: dict[str, list[Row]]
) -> None:
    name = f"mute-{guarded.settings.group}"
    client = secured.user(name, PASSWORD, "SCRAM-SHA-256")
    verdicts = Right("topic", "turn-verdicts", "Write")
    grant(secured, guarded, name, "worker", but=verdicts)
    known = names(guarded.settings.topics, guarded.settings.group)
    secured.allow(name, [verdicts._replace(operation="Describe")], known)
    guarded.load(sample["cards"], sample["lexicon"])
    guarded.send_turns(sample["turns"])
    worker = guarded.worker(**client)
    assert worker.wait() != 0
    assert guarded.committed() == 0
    assert guarded.read(guarded.settings.topics.turn_verdicts) == []
    assert "TopicAuthorizationFailedError" in worker.output


@pytest.mark.needs("kafka")
def test_what_does_not_fit_is_refused_in_one_line_without_the_secret(
    secured: SecuredBroker, guarded: World, tmp_path: Path
) -> None:
    user = secured.user("someone", PASSWORD, "SCRAM-SHA-512")
    grant(secured, guarded, "someone", "worker")
    bare = secured.certified("someone")
    clients = (
        secured.user("another", PASSWORD, "SCRAM-SHA-512") | secured.signed_in("another", CANARY, "SCRAM-SHA-512"),
        secured.signed_in("nobody", PASSWORD, "SCRAM-SHA-512"),
        user | {"ssl_ca_file": str(Authority(tmp_path, "foreign").ca)},
        {name: bare[name] for name in ("brokers", "security_protocol", "ssl_ca_file")},
    )
    for worker in [guarded.worker(**client) for client in clients]:
        assert worker.wait() == 2
        assert worker.output.count("\n") == 1
        assert worker.output.startswith("turnjudge: no answer from the brokers at ")
        assert CANARY not in worker.output


def marked(number: int, **changes: Any) -> Row:
    """A turn with the canary in every field but the model, which is a metric label by design."""
    row: Row = {
        "turn_id": f"T-{number}-{CANARY}",
        "session_id": f"S-{CANARY}",
        "character_id": f"C-{CANARY}",
        "model_id": "m",
        "user_message": f"동생{CANARY} 기억나?",
        "reply_text": f"{CANARY} 판돈{CANARY} 좋아. 그래요.",
        "first_person": f"나{CANARY}",
        "honorific_level": f"반말{CANARY}",
        "named_entities": [f"하람{CANARY}", f"{CANARY}밖"],
        "user_asked_recall": True,
    }
    return row | changes


MARKED_CARD = {
    "character_id": f"C-{CANARY}",
    "honorific_rule": "반말",
    "first_person": f"나{CANARY}",
    "canon_entities": [f"하람{CANARY}"],
    "forbidden_topics": ["내기"],
    "entity_roles": [{"role": f"동생{CANARY}", "entity": f"하람{CANARY}"}],
}
MARKED_ENTRY = {"term": f"판돈{CANARY}", "topic": "내기", "position": 1}


@pytest.mark.needs("kafka")
def test_no_log_line_at_any_level_holds_what_a_record_or_a_password_holds(
    secured: SecuredBroker, guarded: World
) -> None:
    name = f"worker-{guarded.settings.group}"
    client = secured.user(name, PASSWORD, "SCRAM-SHA-512")
    grant(secured, guarded, name, "worker")
    topics = guarded.settings.topics
    guarded.load([MARKED_CARD, {"character_id": CANARY}], [MARKED_ENTRY, {"term": CANARY, "topic": " "}])
    guarded.send(topics.character_cards, CANARY.encode(), CANARY.encode())
    worker = guarded.worker(**client, log_level="DEBUG")
    bad: list[tuple[bytes | None, bytes | None]] = [
        (CANARY.encode() + b"{", f"S-{CANARY}".encode()),
        (encode({"turn_id": CANARY}), CANARY.encode()),
        (encode(marked(1, named_entities=[CANARY] * 300)), None),
        (encode(marked(2, character_id=f"nobody {CANARY}")), b"\xff" + CANARY.encode()),
        (encode(marked(3)), f"another {CANARY}".encode()),
        (None, CANARY.encode()),
    ]
    for value, key in bad:
        guarded.send(topics.chat_turns, value, key, partition=0, headers=[(CANARY, CANARY.encode())])
    guarded.send_turns([marked(number) for number in range(10, 30)])
    guarded.send_turns([marked(30)], time_ms=1_000)  # late
    guarded.send(topics.chat_turns, None, f"S-{CANARY}".encode(), headers=[("forget", b"")])
    guarded.flush()
    guarded.await_records(topics.turn_dead_letters, 4)
    guarded.await_records(topics.turn_verdicts, 22)
    wait_for("it is forgotten", lambda: "is forgotten" in worker.output)
    metrics = worker.get("/metrics").body
    assert worker.end(signal.SIGTERM) == 0
    guarded.send(topics.changelog, CANARY.encode(), CANARY.encode(), partition=0)
    guarded.flush()
    again = guarded.worker(**client, log_level="DEBUG")
    assert again.wait() == 2
    for reason in ("malformed", "schema_invalid", "too_large", "unknown_character"):
        assert f"dead letters: {reason}" in worker.output
    assert "key is not their session_id" in worker.output
    assert "expected a JSON array" in again.output
    for text in (worker.output, again.output, metrics):
        assert CANARY not in text
        assert CANARY.encode("unicode_escape").decode() not in text
        assert json.dumps(CANARY)[1:-1] not in text


LOOPBACK = socket.inet_aton("127.0.0.1")


def listening(pid: int) -> set[bytes]:
    """Return the IPv4 and IPv6 addresses a process listens on."""
    targets = (str(file.readlink()) for file in Path(f"/proc/{pid}/fd").iterdir())
    inodes = {target[8:-1] for target in targets if target.startswith("socket:[")}
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text("ascii").splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                words = bytes.fromhex(fields[1].split(":")[0])
                found.add(b"".join(words[at : at + 4][::-1] for at in range(0, len(words), 4)))
    return found


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="sockets of a process are read from /proc")
def test_it_listens_on_loopback_unless_told(make_world: Make) -> None:
    made = make_world(1)
    quiet, told = made.worker(), made.worker(http_host="0.0.0.0")  # noqa: S104 - what the test is about
    assert quiet.address.startswith("http://127.0.0.1:")
    assert quiet.get("/healthz").status == 200
    assert listening(quiet.process.pid) == {LOOPBACK}
    wait_for("the other listens", lambda: "metrics at" in told.output)
    assert listening(told.process.pid) == {socket.inet_aton("0.0.0.0")}  # noqa: S104
    assert quiet.end() == told.end() == 0
