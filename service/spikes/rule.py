"""What makes a spike: windows, the day they are compared with, floors, and the chance that is left to error.

The unit is a session, for one session touches a topic again and again once it has begun. A touch counts once an hour
for a session and key, as in `judge_topic_sessions_total`. The exposure is the sessions that were judged, each counted
once in five minutes, so that traffic which grows or falls tenfold moves both together (issue 9, item 2).
"""

from enum import StrEnum
from typing import Final, NamedTuple

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
EXPOSURE_MS: Final = 5 * MINUTE_MS
BASELINE_MINUTES: Final = 1_440
GUARD_MINUTES: Final = 10  # between the baseline and a window, so that a spike's first minutes are in neither

LEAST_RATIO: Final = 2.5
# The chance, at a look, that one key of all those of a level passes by accident; each key of a level has its share.
ALPHA: Final = 5e-7
CALM_P: Final = 0.01
CALM_MINUTES: Final = 15  # so long a spike must be over before it is closed, or it would open and close all the time


class Level(StrEnum):
    """What a key counts: a topic over all characters, or a topic of one character."""

    TOPIC = "topic"
    CHARACTER = "character"


class Window(NamedTuple):
    """A stretch before the look, in minutes, and its floors: touched sessions, and exposure by level."""

    minutes: int
    least_observed: int
    least_exposure: dict[Level, int]

    @property
    def baseline(self) -> tuple[int, int]:
        """How many minutes before the look its baseline begins and ends."""
        end = self.minutes + GUARD_MINUTES
        return end + BASELINE_MINUTES, end


WINDOWS: Final = (
    Window(5, 4, {Level.TOPIC: 20, Level.CHARACTER: 10}),
    Window(30, 4, {Level.TOPIC: 40, Level.CHARACTER: 20}),
    Window(120, 5, {Level.TOPIC: 80, Level.CHARACTER: 40}),
)
# Below these there is no day to compare with: such a key is cold, and silent.
LEAST_BASELINE: Final = {Level.TOPIC: 1_000, Level.CHARACTER: 200}
LEAST_BASELINE_MINUTES: Final = 360  # from the first session to where the baseline ends
KEPT_MINUTES: Final = WINDOWS[-1].baseline[0]
