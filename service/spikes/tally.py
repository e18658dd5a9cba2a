"""What a verdict counts for: its session once an hour for what it touched, and once in five minutes as judged."""

from bisect import bisect_left, insort
from typing import Final, NamedTuple

from service.spikes.counts import EVERYBODY, LONGEST, Counts, Key
from service.spikes.reading import Seen
from service.spikes.rule import EXPOSURE_MS, HOUR_MS, KEPT_MINUTES, MINUTE_MS, Window

_KEPT_MS: Final = KEPT_MINUTES * MINUTE_MS
_MOST_TURNS: Final = 1_000_000


class Touch(NamedTuple):
    """A touch that counted."""

    time_ms: int
    session_id: str
    turn_id: str


class Tally:
    """Counts verdicts; the same verdict again changes nothing, nor does the same turn at another time of the day.

    Bounded: of touched turns the newest million are remembered, beyond that a turn that is sent again may count again.
    """

    def __init__(self) -> None:
        self.counts = Counts()
        self._recent: dict[Key, list[Touch]] = {}
        self._turns: dict[tuple[str, str], int] = {}
        self._counted: dict[tuple[Key, str], list[int]] = {}
        self._judged: dict[int, set[tuple[str, str]]] = {}
        self._digests: dict[str, dict[bytes, int]] = {}

    def add(self, seen: Seen) -> None:
        """Count a verdict."""
        minute = seen.time_ms // MINUTE_MS
        for owner, digest in ((EVERYBODY, seen.lexicon), (seen.character_id, seen.card)):
            self._expose(seen, owner, minute)
            known = self._digests.setdefault(owner, {})
            known[digest] = min(minute, known.get(digest, minute))
        if seen.topic is not None and not self._is_repeated(seen):
            self._touch(Key(seen.topic, EVERYBODY), seen, minute)
            self._touch(Key(seen.topic, seen.character_id), seen, minute)

    def _expose(self, seen: Seen, owner: str, minute: int) -> None:
        # Every window is a multiple of it, so that it holds each session as often, wherever it begins.
        judged = self._judged.setdefault(seen.time_ms // EXPOSURE_MS, set())
        if (owner, seen.session_id) not in judged:
            judged.add((owner, seen.session_id))
            self.counts.expose(owner, minute)

    def _is_repeated(self, seen: Seen) -> bool:
        """Tell whether the turn touched something at another time of the day, and note it."""
        turn = seen.session_id, seen.turn_id
        known_ms = self._turns.get(turn)
        if known_ms is not None and 0 < abs(seen.time_ms - known_ms) < _KEPT_MS:
            return True
        self._turns[turn] = seen.time_ms
        if len(self._turns) > _MOST_TURNS:
            del self._turns[next(iter(self._turns))]
        return False

    def _touch(self, key: Key, seen: Seen, minute: int) -> None:
        counted = self._counted.setdefault((key, seen.session_id), [])
        if all(abs(seen.time_ms - before_ms) >= HOUR_MS for before_ms in counted):
            counted.append(seen.time_ms)
            self.counts.touch(key, minute)
            insort(self._recent.setdefault(key, []), Touch(seen.time_ms, seen.session_id, seen.turn_id))

    def is_new(self, key: Key, minute: int) -> bool:
        """Tell whether the lexicon, or the character's card, changed since a minute: it may have brought the topic."""
        changes = (sorted(self._digests.get(owner, {}).values())[1:] for owner in {EVERYBODY, key.character_id})
        return any(minutes and minutes[-1] >= minute for minutes in changes)

    def latest(self, key: Key, window: Window, tick: int, most: int) -> list[Touch]:
        """Return the last touches that counted in a window before a tick, oldest first."""
        recent = self._recent.get(key, [])
        begin, end = (_place(recent, minute) for minute in (tick - window.minutes, tick))
        return recent[begin:end][-most:]

    def forget(self, tick: int) -> None:
        """Let go what no look from a tick on can see."""
        self.counts.forget(tick)
        for touches in self._recent.values():
            del touches[: _place(touches, tick - LONGEST)]
        self._recent = {key: touches for key, touches in self._recent.items() if touches}
        oldest = tick - KEPT_MINUTES
        oldest_ms = oldest * MINUTE_MS
        self._turns = {turn: time_ms for turn, time_ms in self._turns.items() if time_ms >= oldest_ms}
        self._counted = {each: times for each, times in self._counted.items() if times[-1] >= oldest_ms}
        past = (tick * MINUTE_MS - HOUR_MS) // EXPOSURE_MS
        self._judged = {slot: judged for slot, judged in self._judged.items() if slot >= past}
        self._digests = {
            owner: _since(digests, oldest)
            for owner, digests in self._digests.items()
            if owner == EVERYBODY or self.counts.is_exposed(owner)
        }


def _place(touches: list[Touch], minute: int) -> int:
    return bisect_left(touches, (minute * MINUTE_MS, "", ""))


def _since(digests: dict[bytes, int], minute: int) -> dict[bytes, int]:
    """Keep what came since, and the last one from before, which those are a change of."""
    base = max((first for first in digests.values() if first < minute), default=minute)
    return {digest: first for digest, first in digests.items() if first >= base}
