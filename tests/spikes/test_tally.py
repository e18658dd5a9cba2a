"""A session counts once an hour for what it touched, as in the worker's metric, and once in five minutes as judged."""

from hypothesis import given
from hypothesis import strategies as st

from service.spikes.counts import Key
from service.spikes.reading import Seen
from service.spikes.rule import KEPT_MINUTES, WINDOWS, Level
from service.spikes.tally import Tally
from service.stream.tally import Touches
from spikes.stream import START, burst, seen

EVERYBODY = Key("정치", "")
TOUCHES = st.lists(st.tuples(st.integers(0, 2), st.floats(0, 200)), max_size=30).map(
    lambda found: sorted(found, key=lambda each: each[1])
)


def tally_of(verdicts: list[Seen]) -> Tally:
    tally = Tally()
    for each in verdicts:
        tally.add(each)
    return tally


def counted(tally: Tally, key: Key = EVERYBODY, begin: int = -500, end: int = 500) -> tuple[int, int]:
    """Return touched and judged sessions of a stretch of up to two hours at a time, from the start of streams."""
    measures = [tally.counts.measure(key, WINDOWS[0], START + tick) for tick in range(begin + 5, end + 1, 5)]
    return sum(each.observed for each in measures), sum(each.exposure for each in measures)


@given(TOUCHES)
def test_touches_count_as_the_worker_counts_them(touches: list[tuple[int, float]]) -> None:
    worker, verdicts = Touches(), []
    for number, (session, minute) in enumerate(touches):
        verdicts.append(seen(f"S-{session}", minute, "정치", turn_id=f"T-{number}"))
    firsts = sum(worker.is_first(each.session_id, "정치", each.time_ms) for each in verdicts)
    assert counted(tally_of(verdicts))[0] == firsts


@given(TOUCHES, st.data())
def test_the_same_verdicts_again_change_nothing(touches: list[tuple[int, float]], data: st.DataObject) -> None:
    verdicts = [seen(f"S-{session}", minute, "정치", turn_id=f"T-{minute}") for session, minute in touches]
    again = data.draw(st.lists(st.sampled_from(verdicts), max_size=10)) if verdicts else []
    once, twice = tally_of(verdicts), tally_of([*verdicts, *again])
    assert counted(once) == counted(twice)


def test_a_turn_that_is_sent_again_later_does_not_count_again() -> None:
    verdicts = burst(0, 5)
    later = [each._replace(time_ms=each.time_ms + 90 * 60_000) for each in verdicts]
    assert counted(tally_of([*verdicts, *later]))[0] == 5
    others = [each._replace(turn_id="T-other") for each in later]
    assert counted(tally_of([*verdicts, *later, *others]))[0] == 10


def test_a_turn_that_another_lexicon_finds_another_topic_in_counts_for_both() -> None:
    first = seen("S", 0, "정치", turn_id="T-1")
    tally = tally_of([first, first._replace(topic="도박"), first])
    assert [counted(tally, Key(topic, character))[0] for topic in ("정치", "도박") for character in ("", "c-1")] == [
        1
    ] * 4


def test_a_session_is_judged_once_in_five_minutes_for_everybody_and_once_for_each_character() -> None:
    talk = [seen("S", minute / 4, turn_id=f"T-{minute}", character_id="c-1") for minute in range(80)]
    tally = tally_of([*talk, seen("S", 19, character_id="c-2")])
    judged = counted(tally)[1]
    assert judged in (4, 5)
    assert counted(tally, Key("정치", "c-1"))[1] == judged
    assert counted(tally, Key("정치", "c-2"))[1] == 1
    assert counted(tally)[0] == 0


def test_wherever_five_minutes_begin_they_hold_every_session_once() -> None:
    talk = [seen(f"S-{session}", minute) for session in range(500) for minute in range(60)]
    tally = tally_of(talk)
    by_minute = [counted(tally, begin=minute, end=minute + 5)[1] for minute in range(10, 50)]
    assert by_minute == [500] * 40


def test_the_last_touches_of_a_window_are_shown_each_session_once() -> None:
    verdicts = [*burst(0, 3), seen("S", 7, "정치", turn_id="T-a"), seen("S", 8, "정치", turn_id="T-b"), *burst(9, 1)]
    latest = tally_of(verdicts).latest(EVERYBODY, WINDOWS[0], START + 10, 5)
    assert [(touch.session_id, touch.turn_id) for touch in latest] == [("S", "T-a"), ("b-9-0", "T-9")]
    assert len(tally_of(burst(9, 30)).latest(EVERYBODY, WINDOWS[0], START + 10, 5)) == 5


def test_what_no_look_can_see_is_let_go() -> None:
    tally = tally_of([*burst(0, 50), *burst(100, 3, name="later")])
    assert tally.counts.live(Level.TOPIC) == tally.counts.live(Level.CHARACTER) == 1
    tally.forget(START + KEPT_MINUTES + 50)
    assert list(tally.counts.touched(START + 200)) == [EVERYBODY, Key("정치", "c-1")]
    tally.forget(START + KEPT_MINUTES + 200)
    assert tally.counts.live(Level.TOPIC) == 0
    assert not tally.counts.is_exposed("c-1")
    assert not any(vars(tally)[name] for name in ("_recent", "_turns", "_counted", "_judged"))


def test_a_change_of_lexicon_or_card_is_known_as_long_as_a_baseline_reaches() -> None:
    tally = tally_of([seen("S", 0), seen("S", 10, card=b"k-2"), seen("S", 20, character_id="c-2")])
    mine, others = Key("정치", "c-1"), Key("정치", "c-2")
    assert tally.is_new(mine, START + 10)
    assert not tally.is_new(mine, START + 11)
    assert not tally.is_new(others, START)
    assert not tally.is_new(EVERYBODY, START)
    tally.add(seen("S", 30, lexicon=b"l-2"))
    assert tally.is_new(EVERYBODY, START + 30)
    assert tally.is_new(others, START + 30)
    tally.forget(START + KEPT_MINUTES + 20)
    assert tally.is_new(EVERYBODY, START + 30)
    tally.forget(START + KEPT_MINUTES + 40)
    assert not tally.is_new(EVERYBODY, START)
