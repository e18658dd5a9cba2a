"""Where the line is drawn: by the chance, shared among the keys, and by the floors."""

from itertools import count

import pytest

from service.spikes.counts import EVERYBODY, Key
from service.spikes.odds import chance_of_more
from service.spikes.rule import ALPHA, LEAST_RATIO, WINDOWS, Level
from service.spikes.tally import Tally
from service.spikes.watch import Watch
from spikes.stream import DAY, START

TICK = START + 2 * DAY
TOPIC = Key("정치", EVERYBODY)


def tally_of(observed: int, exposure: int, before: int, day: int, others: int = 0) -> Tally:
    """Return counts with a window of five minutes, a day before it, and other topics touched once in that day."""
    tally = Tally()
    tally.counts.expose(EVERYBODY, TICK - 1_000, day)
    tally.counts.touch(TOPIC, TICK - 500, before)
    tally.counts.expose(EVERYBODY, TICK - 3, exposure)
    tally.counts.touch(TOPIC, TICK - 3, observed)
    for number in range(others):
        tally.counts.touch(Key(f"topic {number}", EVERYBODY), TICK - 500)
    return tally


def opens(tally: Tally) -> bool:
    return any(record["topic"] == TOPIC.topic for record in Watch(tally).look(TICK))


def just_below(alpha: float, exposure: int, before: int, day: int) -> int:
    """Return the smallest number of sessions whose chance is at most `alpha`."""
    return next(n for n in count() if chance_of_more(n, exposure, before, day) <= alpha)


@pytest.mark.parametrize("others", [0, 9, 999])
def test_the_chance_left_to_error_is_shared_among_all_keys_that_are_touched(others: int) -> None:
    exposure, before, day = 100, 30, 20 * DAY
    least = just_below(ALPHA / (others + 1), exposure, before, day)
    assert opens(tally_of(least, exposure, before, day, others))
    assert not opens(tally_of(least - 1, exposure, before, day, others))


def test_a_key_of_one_character_has_no_part_in_the_share_of_topics() -> None:
    exposure, before, day = 100, 30, 20 * DAY
    tally = tally_of(just_below(ALPHA, exposure, before, day), exposure, before, day)
    for number in range(999):
        tally.counts.touch(Key(f"topic {number}", "c-1"), TICK - 500)
    assert tally.counts.live(Level.CHARACTER) == 999
    assert opens(tally)


def test_few_sessions_are_no_spike_however_unlikely() -> None:
    window = WINDOWS[0]
    assert chance_of_more(window.least_observed, 20, 0, 100 * DAY) < ALPHA
    assert opens(tally_of(window.least_observed, 20, 0, 100 * DAY))
    assert not opens(tally_of(window.least_observed - 1, 20, 0, 100 * DAY))
    assert not opens(tally_of(window.least_observed, 19, 0, 100 * DAY))


def test_a_small_rise_is_no_spike_however_sure() -> None:
    exposure, before, day = 100_000, 1_440, 1_000 * DAY
    expected = before * exposure // day
    for times, is_spike in ((LEAST_RATIO - 0.1, False), (LEAST_RATIO + 0.1, True)):
        observed = round(expected * times)
        assert chance_of_more(observed, exposure, before, day) < ALPHA
        assert opens(tally_of(observed, exposure, before, day)) == is_spike
