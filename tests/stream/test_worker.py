"""The worker on a real Kafka, end to end: what goes in comes out as the step says, whatever happens meanwhile."""

import json
import random
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from generate import make_bench_turns, make_cards, make_lexicon, make_turns
from stream.offline import (
    changelog_state,
    check_outcomes,
    element_records,
    encode_compact,
    judged_offline,
    snapshot_of,
)
from stream.turns import BAD, CARD, turn
from stream.world import Row, World, encode, headers, wait_for, world
from stream.worlds import Make

EMBEDDED: dict[str, Any] = {
    "idempotent": False,
    "heartbeat_interval_s": 1.5,
    "rebalance_timeout_s": 6.0,
    "settle_timeout_s": 2.0,
}


def check_state(world: World, cards: list[Row], lexicon: list[Row]) -> None:
    """Check that the changelog holds exactly the elements of all turns."""
    turns = world.read(world.settings.topics.chat_turns)
    offline = judged_offline(turns, snapshot_of(cards, lexicon), world.settings)
    expected = element_records(each for elements in offline.elements.values() for each in elements)
    assert changelog_state(world.read(world.settings.topics.changelog)) == expected


def outcomes(world: World) -> int:
    """Return how many verdicts and dead letters there are."""
    topics = world.settings.topics
    return world.ends(topics.turn_verdicts) + world.ends(topics.turn_dead_letters)


def rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.needs("shared")
def test_the_published_answers_come_out(make_world: Make, shared: Path) -> None:
    folder = shared / "fixtures/seed"
    cards, lexicon, turns = (rows(folder / f"{name}.jsonl") for name in ("cards", "lexicon", "turns"))
    lexicon = [{"position": number, **row} for number, row in enumerate(lexicon, start=1)]
    world = make_world()
    world.load(cards, lexicon)
    world.worker()
    world.send_turns(turns)
    world.await_records(world.settings.topics.turn_verdicts, len(turns))
    assert check_outcomes(world, snapshot_of(cards, lexicon)) == {
        "turns": len(turns),
        "verdicts": len(turns),
        "letters": 0,
    }
    found = {
        row["turn_id"]: row
        for row in (json.loads(each.value) for each in world.read(world.settings.topics.turn_verdicts))
    }
    for expected in rows(folder / "expected.jsonl"):
        row = found[expected["turn_id"]]
        assert list(row) == list(expected)
        assert {**row, "summary": ""} == {**expected, "summary": ""}


def run_sample(world: World, sample: dict[str, list[Row]]) -> None:
    """Judge the sample chat and check everything: outcomes, state, metrics, commit, and the end."""
    topics, turns = world.settings.topics, sample["turns"]
    world.load(sample["cards"], sample["lexicon"])
    worker = world.worker()
    early = worker.get("/readyz")
    assert early.status == 503
    assert early.body.strip()
    assert worker.get("/healthz").status == 200
    worker.await_ready()
    world.send_turns(turns)
    verdicts = world.await_records(topics.turn_verdicts, len(turns))
    words = {
        (row["session_id"], row["turn_id"]): row["verdict"] for row in (json.loads(each.value) for each in verdicts)
    }
    assert words == {(row["session_id"], row["turn_id"]): row["verdict"] for row in sample["expected"]}
    check_outcomes(world, snapshot_of(sample["cards"], sample["lexicon"]))
    check_state(world, sample["cards"], sample["lexicon"])
    wait_for("everything committed", lambda: world.committed() == len(turns))
    check_metrics(worker.get("/metrics").body, topics.chat_turns, len(turns), sample)
    assert worker.end(signal.SIGTERM) == 0
    assert world.committed() == len(turns)


def check_metrics(body: str, topic: str, turns: int, sample: dict[str, list[Row]]) -> None:
    """Check the sums that hold for a judged sample."""
    values = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in body.splitlines() if line[0] != "#"}
    assert values[f'judge_records_consumed_total{{topic="{topic}"}}'] == turns
    assert values['judge_records_completed_total{outcome="judged"}'] == turns
    assert values["judge_inflight_records"] == 0
    assert sum(value for name, value in values.items() if name.startswith("judge_verdicts_total")) == turns
    assert values["judge_verdict_latency_seconds_count"] == turns
    assert values['judge_reference_rows{kind="cards"}'] == len(sample["cards"])
    assert values['judge_reference_rows{kind="lexicon"}'] == len(sample["lexicon"])
    touched = sum(row["verdict"] == "금지 소재 접촉" for row in sample["expected"])
    assert sum(value for name, value in values.items() if name.startswith("judge_topic_hits_total")) == touched
    assert values["judge_misrouted_records_total"] == values["judge_late_records_total"] == 0
    assert values["judge_elements"] > 0
    assert values["judge_recovery_remaining_records"] == 0
    assert not any(row["session_id"] in body or row["character_id"] in body for row in sample["turns"])


def test_the_sample_chat_on_kafka(make_world: Make, sample: dict[str, list[Row]]) -> None:
    run_sample(make_world(4), sample)


def test_the_sample_chat_on_the_embedded_broker(embedded: str, sample: dict[str, list[Row]]) -> None:
    with world(embedded, **EMBEDDED) as made:
        made.create(4)
        run_sample(made, sample)


def test_killed_workers_lose_nothing_and_repeat_to_the_byte(make_world: Make) -> None:
    rng = random.Random(3)
    cards, lexicon = make_cards(rng, 12), make_lexicon(rng, 60)
    turns = list(make_turns(rng, 9_000, cards, lexicon, 300))
    world = make_world(3)
    world.load(cards, lexicon)
    world.send_turns(turns[:6_000])
    for least in (1, 2_000):
        worker = world.worker()
        wanted = outcomes(world) + least
        wait_for("some verdicts", partial(lambda n: outcomes(world) >= n, wanted))
        worker.close()
    world.send_turns(turns[6_000:])
    worker = world.worker()
    wait_for("everything committed", lambda: world.committed() == len(turns))
    counts = check_outcomes(world, snapshot_of(cards, lexicon))
    assert counts["turns"] == len(turns)
    assert counts["letters"] > 0
    assert counts["verdicts"] + counts["letters"] > len(turns)  # some were judged twice, or this showed nothing
    check_state(world, cards, lexicon)
    assert worker.end() == 0


def test_workers_that_join_and_leave_share_the_work(make_world: Make) -> None:
    rng = random.Random(4)
    cards, lexicon = make_cards(rng, 5, plain=True), make_lexicon(rng, 30)
    turns = list(make_bench_turns(rng, 1_500, cards, lexicon))
    world = make_world(4)
    world.load(cards, lexicon)
    first = world.worker()
    first.await_ready()
    world.send_turns(turns[:500])
    second = world.worker()
    second.await_ready()
    wait_for(
        "two partitions each",
        lambda: first.metric("judge_assigned_partitions") == second.metric("judge_assigned_partitions") == 2,
    )
    world.send_turns(turns[500:1_000])
    wait_for("the second worker judges", lambda: second.metric('judge_records_completed_total{outcome="judged"}') > 0)
    assert first.end() == 0
    world.send_turns(turns[1_000:])
    wait_for("everything committed", lambda: world.committed() == len(turns))
    counts = check_outcomes(world, snapshot_of(cards, lexicon))
    assert counts == {"turns": len(turns), "verdicts": len(turns), "letters": 0}  # a clean end repeats nothing
    check_state(world, cards, lexicon)
    assert second.end() == 0


def test_bad_records_become_dead_letters_and_their_neighbours_are_judged(make_world: Make) -> None:
    world = make_world(1)
    topics = world.settings.topics
    world.load([CARD], [])
    for number, (_, value, _) in enumerate(BAD):
        world.send(topics.chat_turns, encode(turn(number)), b"S-1")
        world.send(topics.chat_turns, value, b"S-1")
    world.send(topics.chat_turns, encode(turn(99)), b"another")
    world.send(topics.chat_turns, encode(turn(100)), None)
    world.flush()
    worker = world.worker()
    wait_for("everything committed", lambda: world.committed() == 2 * len(BAD) + 2)
    check_outcomes(world, snapshot_of([CARD], []))
    letters = {headers(each)["offset"]: (each, headers(each)) for each in world.read(topics.turn_dead_letters)}
    judged = {int(headers(each)["offset"]) for each in world.read(topics.turn_verdicts)}
    for number, (name, value, reason) in enumerate(BAD):
        offset = 2 * number + 1
        assert offset - 1 in judged, name
        if reason is None:
            assert (offset in judged) is (value is not None), name
            continue
        letter, found = letters[str(offset)]
        assert (found["reason"], letter.key, letter.value) == (reason, b"S-1", value), name
        assert "size" not in found
        assert "truncated" not in found
    assert {2 * len(BAD), 2 * len(BAD) + 1} <= judged
    assert worker.metric("judge_misrouted_records_total") == 2
    assert worker.metric('judge_records_completed_total{outcome="tombstone"}') == 1
    assert worker.metric('judge_dead_letters_total{reason="too_large"}') == 2
    assert worker.end() == 0
    assert "가가" not in worker.output
    assert "S-1" not in worker.output


def test_a_value_that_the_dead_letters_do_not_take_is_cut(make_world: Make) -> None:
    world = make_world(1)
    topics = world.settings.topics
    world.load([CARD], [])
    value = encode(turn(1, reply_text="가" * 1_398_000))  # as large as the source takes
    assert len(value) > 4 * 1024 * 1024 - 1_000
    world.send(topics.chat_turns, value, b"S-1").get(10)
    world.send_turns([turn(2)])
    world.worker()
    world.await_records(topics.turn_verdicts, 1)
    (letter,) = world.read(topics.turn_dead_letters)
    found = headers(letter)
    assert (found["reason"], found["truncated"], found["size"]) == ("too_large", "value", str(len(value)))
    assert value.startswith(letter.value)
    assert len(letter.value) > 4_000_000


def judged_by(world: World, row: Row) -> dict[str, str]:
    """Send a turn and return the headers of its verdict."""
    sent = world.send_turns([row])[0].get(10)

    def found() -> dict[str, str] | None:
        for record in world.read(world.settings.topics.turn_verdicts):
            if (record.partition, headers(record)["offset"]) == (sent.partition, str(sent.offset)):
                return {**headers(record), "verdict": json.loads(record.value)["verdict"]}
        return None

    return wait_for("its verdict", found)


def test_cards_and_lexicon_change_while_it_runs(make_world: Make) -> None:
    world = make_world(2)
    topics = world.settings.topics
    rule: Row = {"term": "판돈", "topic": "내기", "position": 1}
    world.load([CARD], [rule])
    worker = world.worker()
    gambling = turn(1, reply_text="나 판돈 걸었어.")
    assert judged_by(world, gambling)["verdict"] == "금지 소재 접촉"

    def becomes(word: str, row: Row) -> dict[str, str]:
        def found() -> dict[str, str] | None:
            last = judged_by(world, row)
            return last if last["verdict"] == word else None

        return wait_for(word, found)

    polite: Row = {**CARD, "honorific_rule": "존댓말", "forbidden_topics": []}
    world.load([polite], [])
    last = becomes("말투 어긋남", gambling)
    assert last["card"] == snapshot_of([polite], [rule]).characters["CHR-1"].digest
    world.load([CARD], [])
    becomes("금지 소재 접촉", gambling)
    world.send(topics.topic_lexicon, None, encode_compact(["판돈", "내기"]))
    world.flush()
    assert becomes("설정대로 말함", gambling)["lexicon"] == snapshot_of([], []).book.digest
    world.send(topics.character_cards, b'{"character_id":"CHR-1"}', b"CHR-1")  # a row that cannot be used
    world.send(topics.character_cards, encode({**CARD, "character_id": "CHR-2"}), b"CHR-9")  # under a wrong key
    world.flush()
    wait_for(
        "both are logged",
        lambda: worker.output.count("rows that cannot be used") >= 1 and "key: expected" in worker.output,
    )
    letters = world.ends(topics.turn_dead_letters)
    wait_for(
        "the card is gone",
        lambda: (
            world.send_turns([turn(5), turn(6, character_id="CHR-2")])
            and world.ends(topics.turn_dead_letters) > letters
        ),
    )
    assert worker.metric('judge_reference_rows{kind="cards"}') == 0
    assert "하람" not in worker.output


def test_a_card_that_arrives_just_before_its_first_turn_is_used(make_world: Make) -> None:
    world = make_world(2)
    topics = world.settings.topics
    world.load([CARD], [])
    worker = world.worker()
    worker.await_ready()
    for number in range(15):
        name = f"CHR-new-{number}"
        world.send(topics.character_cards, encode({**CARD, "character_id": name}), name.encode()).get(10)
        world.send(topics.chat_turns, encode(turn(number, character_id=name)), b"S-1").get(10)
    world.await_records(topics.turn_verdicts, 15)
    assert world.ends(topics.turn_dead_letters) == 0


def test_a_forgotten_session_is_forgotten_and_others_are_not(make_world: Make) -> None:
    world = make_world(1)
    topics = world.settings.topics
    world.load([CARD], [])
    asks = {"user_message": "동생 기억나?", "user_asked_recall": True}

    def send_forget() -> None:
        world.send(topics.chat_turns, None, b"S-1", headers=[("forget", b"")])

    worker = world.worker()
    for session in ("S-1", "S-2"):
        world.send(topics.chat_turns, encode(turn(1, session_id=session, named_entities=["하람"])), session.encode())
    world.send(topics.chat_turns, encode(turn(2, **asks)), b"S-1")
    send_forget()
    for session in ("S-1", "S-2"):
        world.send(topics.chat_turns, encode(turn(3, session_id=session, **asks)), session.encode())
    world.flush()
    wait_for("everything committed", lambda: world.committed() == 6)
    found = {
        (row["session_id"], row["turn_id"]): row
        for row in (json.loads(each.value) for each in world.read(topics.turn_verdicts))
    }
    assert found["S-1", "T-0002"]["recall_source_turn"] == found["S-2", "T-0003"]["recall_source_turn"] == "T-0001"
    assert found["S-1", "T-0003"]["recall_target"] is None
    state = changelog_state(world.read(topics.changelog))
    assert list(state) == [encode_compact(["S-2", "하람", 1])]
    assert worker.metric("judge_elements") == 1
    assert worker.metric('judge_records_completed_total{outcome="tombstone"}') == 1
    send_forget()  # of what is not there any more
    world.send_turns([turn(4, **asks)])
    wait_for("everything committed", lambda: world.committed() == 8)
    assert worker.end() == 0
    again = world.worker()
    world.send_turns([turn(5, **asks), turn(5, session_id="S-2", **asks)])
    wait_for("everything committed", lambda: world.committed() == 10)
    last = {
        row["session_id"]: row for row in (json.loads(each.value) for each in world.read(topics.turn_verdicts)[-2:])
    }
    assert (last["S-1"]["recall_target"], last["S-2"]["recall_target"]) == (None, "하람")
    assert again.end() == 0


DAY_MS = 86_400_000


def test_names_expire_by_record_time(make_world: Make) -> None:
    world = make_world(1, entity_ttl_s=60)
    topics = world.settings.topics
    world.load([CARD], [])
    worker = world.worker()
    start_ms = 1_700_000_000_000
    asks = {"user_message": "동생 기억나?", "user_asked_recall": True}
    steps: list[tuple[int, Row]] = [
        (0, {"named_entities": ["하람"]}),
        (59_999, asks),
        (60_000, asks),  # no longer seen, though still there
        (60_000 + DAY_MS, {"session_id": "S-2", "named_entities": ["별하"]}),
    ]
    for number, (after_ms, changes) in enumerate(steps):
        row = turn(number, **changes)
        world.send(topics.chat_turns, encode(row), row["session_id"].encode(), time_ms=start_ms + after_ms)
    world.flush()
    world.await_records(topics.turn_verdicts, 4)
    targets = [json.loads(each.value)["recall_target"] for each in world.read(topics.turn_verdicts)]
    assert targets == [None, "하람", None, None]
    assert len(changelog_state(world.read(topics.changelog))) == 2
    world.send_turns([turn(5)], time_ms=start_ms + 2 * 60_000 + DAY_MS)
    wait_for("a tombstone", lambda: len(changelog_state(world.read(topics.changelog))) == 1)
    wait_for("it is gone from memory", lambda: worker.metric("judge_elements") == 1)
    world.send_turns([turn(6)], time_ms=start_ms)
    world.await_records(topics.turn_verdicts, 6)
    wait_for("a late record", lambda: worker.metric("judge_late_records_total") == 1)
    world.send_turns([turn(7)], time_ms=start_ms + 5 * DAY_MS)
    wait_for("nothing is left", lambda: changelog_state(world.read(topics.changelog)) == {})
    wait_for("nothing is left in memory", lambda: worker.metric("judge_elements") == 0)
    check_outcomes(world, snapshot_of([CARD], []))
    assert worker.end() == 0
