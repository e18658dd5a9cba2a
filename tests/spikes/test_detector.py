"""Spikes open and close where they should, and the same for whoever reads the verdicts, in whatever order."""

from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemas.spike import SpikeRecord
from schemas.validate import SPIKE
from service.spikes.counts import Key, Measure
from service.spikes.detector import LOOKS_BACK_MS, Detector
from service.spikes.intake import LATE_MS
from service.spikes.reading import PassedOver, Seen
from service.spikes.rule import ALPHA, CALM_MINUTES, KEPT_MINUTES, MINUTE_MS, WINDOWS, Level
from spikes.stream import DAY, START, Log, burst, decided, in_order, logs, minute_of, read_by, run, seen, trickle

LONG = DAY + 200  # a day's baseline for every window, and some more
# A day of quiet talk, a spike of twenty minutes, and two hours after it.
QUIET = list(trickle(LONG + 180))
BURSTS = [each for minute in range(LONG, LONG + 20) for each in burst(minute, 4)]
SPIKE_STREAM = in_order([*QUIET, *BURSTS])


def shape(records: Iterable[SpikeRecord]) -> list[tuple[str, str, str | None]]:
    return [(record["state"], record["topic"], record["character_id"]) for record in records]


def test_a_spike_opens_within_minutes_and_closes_when_it_has_been_over_for_a_while() -> None:
    records = run(SPIKE_STREAM)
    assert shape(records) == [
        ("opened", "정치", None),
        ("opened", "정치", "c-1"),
        ("closed", "정치", None),
        ("closed", "정치", "c-1"),
    ]
    opened, _, closed, _ = records
    assert 1 <= minute_of(opened) - LONG <= 3
    assert minute_of(closed) - (LONG + 20) >= CALM_MINUTES
    assert all(SPIKE.is_valid(record) for record in records)
    assert opened["spike_id"] == closed["spike_id"]
    assert opened["opened_at"] == opened["at"] == closed["opened_at"]
    assert opened["p_value"] <= ALPHA
    assert closed["p_value"] > 0.01
    assert opened["ratio"] is not None
    assert opened["ratio"] > 2.5
    assert len(opened["turns"]) == 5
    touched = {(each.session_id, each.turn_id) for each in SPIKE_STREAM if each.topic}
    assert {(turn["session_id"], turn["turn_id"]) for turn in opened["turns"]} <= touched
    assert len({record["spike_id"] for record in records}) == 2


SILENT = {
    "nothing but talk": QUIET,
    "one session that touches all the time": [
        *QUIET,
        *(seen("one", LONG + n / 10, "정치", turn_id=f"T-{n}") for n in range(300)),
    ],
    "ten times the traffic at the same rate": [
        *trickle(LONG),
        *trickle(180, sessions=200, begin=LONG, name="more"),
    ],
    "a tenth of the traffic at the same rate": [
        *trickle(LONG, sessions=200),
        *trickle(180, sessions=20, begin=LONG, name="less"),
    ],
    "a topic that the lexicon got today": [
        *(
            each._replace(lexicon=b"l-2") if each.time_ms >= (START + 700) * MINUTE_MS else each
            for each in trickle(LONG + 60)
        ),
        *burst(LONG, 40, topic="도박"),
    ],
    "a spike before there is a day": [*trickle(350), *burst(320, 60)],
    "turns of the day sent again": [
        *QUIET,
        *(
            each._replace(time_ms=(START + LONG) * MINUTE_MS + n * 2_000)
            for n, each in enumerate(
                each for each in QUIET if each.topic and START + 100 < each.time_ms // MINUTE_MS < START + LONG - 120
            )
        ),
    ],
}


@pytest.mark.parametrize("name", SILENT)
def test_it_is_silent_at(name: str) -> None:
    assert run(in_order(SILENT[name])) == []


@pytest.mark.parametrize("name", ["a spike before there is a day", "a topic that the lexicon got today"])
def test_what_has_nothing_to_be_compared_with_is_said_to_be_cold(name: str) -> None:
    detector = Detector([0])
    detector.begin_after = 0
    cold = set()
    for each in in_order(SILENT[name]):
        detector.take(0, each)
        for look in detector.looks():
            cold |= detector.watch.cold if "before" in name or look.tick > START + LONG else set()
    topic = "도박" if "lexicon" in name else "정치"
    assert {(key.topic, key.level) for key in cold} == {(topic, level) for level in Level}
    assert detector.tick is not None
    assert detector.watch.is_cold(detector.tick) == (topic == "정치")


def test_a_topic_nobody_touched_all_day_can_have_a_spike() -> None:
    records = run(in_order([*QUIET, *burst(LONG, 12, topic="도박")]))
    assert ("opened", "도박", None) in shape(records)
    assert {record["ratio"] for record in records if record["topic"] == "도박" and record["state"] == "opened"} == {
        None
    }


def test_a_spike_of_one_character_of_many_is_its_own() -> None:
    others = [
        each._replace(character_id=f"c-{n % 40}") for n, each in enumerate(trickle(LONG + 120, sessions=40, touched=20))
    ]
    records = run(
        in_order([*others, *(each for n in range(0, 30, 2) for each in burst(LONG + n, 3, character_id="c-7"))])
    )
    assert shape(records)[0] == ("opened", "정치", "c-7")
    assert {record["character_id"] for record in records} == {"c-7"}


def test_records_of_a_replay_are_late_and_change_nothing() -> None:
    detector = Detector([0])
    assert detector.take(0, seen("S", 100)) is None
    assert detector.take(0, seen("S", 100 - LATE_MS / MINUTE_MS)) is None
    assert detector.take(0, seen("S", 89.9)) is PassedOver.LATE
    before = [each for each in QUIET if each.time_ms < (START + LONG) * MINUTE_MS]
    assert run([*before, *before, *before]) == []
    assert run([*SPIKE_STREAM, *SPIKE_STREAM]) == run(SPIKE_STREAM)


def test_weeks_without_a_turn_cost_no_weeks_of_looks() -> None:
    detector = Detector([0])
    detector.begin_after = 0
    looks = 0
    for week in range(4):
        detector.take(0, seen("S", week * 7 * DAY))
        looks += len(list(detector.looks()))
    assert looks <= 4 * (KEPT_MINUTES + 2)
    assert detector.tick == START + 21 * DAY - 1


def test_an_open_spike_closes_though_the_next_turn_comes_after_weeks() -> None:
    records = run([*in_order([*trickle(LONG), *BURSTS]), seen("S", LONG + 30 * DAY)])
    assert [record["state"] for record in records] == ["opened", "opened", "closed", "closed"]
    assert minute_of(records[-1]) < LONG + 200


# A day at less traffic is enough for what follows, and quicker.
SMALL = in_order(
    [
        *trickle(LONG - 130, sessions=1, touched=250),
        *trickle(220, sessions=5, touched=250, begin=LONG - 130, name="more"),
        *BURSTS,
    ]
)
SCHEDULES = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 2_000), st.booleans()), max_size=40)


EXPECTED = decided(logs(SMALL), [])


@settings(max_examples=20)
@given(SCHEDULES)
def test_in_whatever_order_partitions_are_read_the_records_are_the_same(schedule: list[tuple[int, int, bool]]) -> None:
    assert len(EXPECTED) == 4
    assert decided(logs(SMALL), schedule) == EXPECTED


@settings(max_examples=12)
@given(st.integers(0, 2**32), st.tuples(*[st.integers(5, 100)] * 3))
def test_so_they_are_where_verdicts_come_minutes_late_and_sessions_are_in_several_partitions(
    seed: int, paces: tuple[int, ...]
) -> None:
    random = Random(seed)
    touching = [each._replace(turn_id=f"{each.turn_id}-{n}") for each in BURSTS for n in range(3)]
    shaken = sorted([*SMALL, *touching], key=lambda each: each.time_ms + random.random() * 8 * MINUTE_MS)
    log: Log = {number: shaken[number::3] for number in range(3)}
    records = decided(log, [])
    assert ("opened", "정치", None) in shape(records)
    assert decided(log, [(n % 3, paces[n % 3], True) for n in range(1_000)]) == records


@settings(max_examples=12)
@given(st.integers(0, 2**32), SCHEDULES)
def test_verdicts_a_little_out_of_order_and_copies_of_them_change_nothing(
    seed: int, schedule: list[tuple[int, int, bool]]
) -> None:
    random = Random(seed)
    shaken = sorted(SMALL, key=lambda each: each.time_ms + random.random() * 29_000)
    log = logs(shaken)
    for number, verdicts in log.items():
        begin = random.randrange(len(verdicts))
        end = min(len(verdicts), begin + random.randrange(2_000))
        place = random.randrange(end, len(verdicts) + 1)
        log[number] = [*verdicts[:place], *verdicts[begin:end], *verdicts[place:]]
    assert decided(log, schedule) == EXPECTED


@settings(max_examples=20)
@given(st.integers(LONG - 5, LONG + 85), st.integers(0, 20), SCHEDULES, st.integers(0, 4))
@example(minute_of(EXPECTED[-1]) - 1, 0, [], 0)
@example(minute_of(EXPECTED[-1]) - 1, CALM_MINUTES, [], 0)
def test_after_a_restart_it_goes_on_as_if_nothing_had_been(
    stopped: int, behind: int, schedule: list[tuple[int, int, bool]], lost: int
) -> None:
    """It ends with `stopped` looked at and published, but for the `lost` last records; the mark is `behind` by some."""
    said = [record for record in EXPECTED if minute_of(record) <= stopped]
    mark = stopped - behind
    kept = [record for record in said if minute_of(record) <= mark]
    kept = said[: max(len(kept), len(said) - lost)]
    last = max((minute_of(record) for record in kept), default=0)
    begin_after = max(mark, last - 1)
    from_ms = (START + begin_after) * MINUTE_MS - LOOKS_BACK_MS
    detector = Detector([0, 1, 2], kept)
    detector.begin_after = START + begin_after
    again = read_by(detector, logs([each for each in SMALL if each.time_ms >= from_ms]), schedule)
    both = {(record["spike_id"], record["state"]): record for record in kept}
    for record in again:
        assert both.setdefault((record["spike_id"], record["state"]), record) == record
    assert [*both.values()] == EXPECTED
    assert not {(r["spike_id"], r["state"]) for r in again} & {(r["spike_id"], r["state"]) for r in kept}


def test_a_restart_reads_back_all_that_the_looks_it_goes_on_from_can_see() -> None:
    begin_after = START + 2 * DAY - 30
    from_ms = begin_after * MINUTE_MS - LOOKS_BACK_MS
    stream = in_order(trickle(2 * DAY, sessions=2, touched=40))
    assert measured(stream, begin_after) == measured([each for each in stream if each.time_ms >= from_ms], begin_after)


def measured(stream: Iterable[Seen], begin_after: int) -> list[Measure]:
    """Return what every window holds at the looks that a start after a tick depends on."""
    detector, found = Detector([0]), []
    for each in stream:
        detector.take(0, each)
        for look in detector.looks():
            if look.tick > begin_after - CALM_MINUTES:
                found += [detector.tally.counts.measure(Key("정치", ""), window, look.tick) for window in WINDOWS]
    assert found
    return found


def test_at_a_first_start_the_past_is_only_gathered() -> None:
    detector = Detector([0])
    said: list[SpikeRecord] = []
    for each in SPIKE_STREAM:
        detector.take(0, each)
        said += [record for look in detector.looks() for record in look.records]
    assert said == []
    detector.begin_after = detector.tick
    for each in in_order([*trickle(60, begin=LONG + 180), *burst(LONG + 200, 40, name="next")]):
        detector.take(0, each)
        said += [record for look in detector.looks() for record in look.records]
    assert shape(said)[0] == ("opened", "정치", None)


def test_a_partition_that_stood_still_counts_from_the_next_look_on() -> None:
    detector = Detector([0, 1])
    detector.begin_after = 0
    said: list[SpikeRecord] = []
    for each in in_order([*trickle(LONG + 10)]):
        detector.take(0, each)
        said += [record for look in detector.looks([1]) for record in look.records]
    assert said == []
    for each in burst(LONG, 40):
        detector.take(1, each)
    detector.take(0, seen("S", LONG + 11))
    said = [record for look in detector.looks([1]) for record in look.records]
    assert shape(said)[0] == ("opened", "정치", None)
    assert minute_of(said[0]) > LONG + 9


def test_what_was_published_stands_also_where_it_would_not_be_decided_so_again() -> None:
    opened: SpikeRecord = {**EXPECTED[0], "spike_id": "ab", "topic": "도박", "at": (START + LONG) * MINUTE_MS}
    detector = Detector([0], [opened])
    detector.begin_after = START + LONG - 1
    said: list[SpikeRecord] = []
    for each in QUIET:
        detector.take(0, each)
        said += [record for look in detector.looks() for record in look.records]
    assert [(record["spike_id"], record["state"], minute_of(record)) for record in said] == [
        ("ab", "closed", LONG + CALM_MINUTES)
    ]


def test_verdicts_are_held_only_until_their_minute_is_complete() -> None:
    detector = Detector([0])
    most = 0
    for each in QUIET:
        detector.take(0, each)
        list(detector.looks())
        most = max(most, detector.intake.waiting)
    assert most <= 20 * 2 + 1
    assert isinstance(QUIET[0], Seen)
