"""A worker that crashes anywhere, in a model of log, changelog and commit (design sections 7 and 8).

Hypothesis chooses what is appended, how far a batch gets, where the process dies, which late writes of a dead process
still arrive, and when the changelog is compacted. The worker's own step, store and encoding run on it. After each move:
outcomes are complete up to the commit, copies of one verdict_id are equal, and every verdict is the one that a plain
reading of the whole log gives, in which nothing ever crashes.
"""

import json
from typing import Any, NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from oracle import natural_key
from rules.profile import SEED
from schemas.card import Card, Role
from schemas.element import Element, Namings, Position
from schemas.lexicon import Entry
from schemas.profile import Profile
from service.decode import Caps
from service.snapshot import Snapshot, snapshot
from service.step import Accepted, step
from service.stream.entities import DAY_MS, Partition, encode_key, encode_value
from service.stream.outgoing import Source, Stamp

CAPS = Caps()
TTL_MS = 2 * DAY_MS
SOURCE = Source("chat-turns", 0)
NAMES = ("하늘", "바다")
LEXICON = (Entry("선거", "현실 정치", 1),)


def _card(rule: str) -> Card:
    roles = (Role("동생", "하늘"), Role("친구", "바다"))
    return Card("CHR-1", rule, None, ("하늘", "바다"), ("현실 정치",), roles)


def _snapshot(rule: str, profile: Profile = SEED) -> Snapshot:
    return snapshot([_card(rule)], LEXICON, profile)


SNAPSHOTS = (_snapshot("반말"), _snapshot("존댓말"))


class Record(NamedTuple):
    """A record of the source."""

    value: bytes | None
    time_ms: int
    forget: str | None = None


class Verdict(NamedTuple):
    """A record of the verdict or dead-letter topic."""

    offset: int
    verdict_id: bytes
    value: bytes
    snapshot: int


class Written(NamedTuple):
    """What a batch sends, each lane in its order."""

    verdicts: tuple[Verdict, ...]
    changes: tuple[tuple[bytes, bytes | None], ...]


# Most turns are of one session, count upward, ask for a name and do not say it: so that what was kept decides.
TURN_IDS = st.sampled_from([None, None, None, None, "T-2", "T-02", "a"])
TURNS = st.fixed_dictionaries(
    {
        "turn_id": TURN_IDS,
        "session_id": st.sampled_from(["S-1", "S-1", "S-1", "S-2"]),
        "character_id": st.sampled_from(["CHR-1", "CHR-1", "CHR-1", "CHR-1", "CHR-X"]),
        "model_id": st.just("m"),
        "user_message": st.sampled_from(["내 동생 기억나?", "동생이랑 친구 이름 말해 봐"]),
        "reply_text": st.sampled_from(["글쎄.", "글쎄.", "하늘이지.", "선거 얘기.", None]),
        "named_entities": st.sampled_from([["하늘"], ["하늘"], [], ["바다", "하늘"], None]),
        "user_asked_recall": st.sampled_from([True, True, True, False]),
    }
)
GAPS_MS = st.sampled_from([0, 3_600_000, DAY_MS // 2, DAY_MS, 5 * DAY_MS // 4])


class Crashes(RuleBasedStateMachine):
    """One partition, one worker at a time, and what dead ones left on their way."""

    @initialize()
    def begin(self) -> None:
        self.log: list[Record] = []
        self.changelog: list[tuple[bytes, bytes | None]] = []
        self.verdicts: list[Verdict] = []
        self.committed = 0
        self.now_ms = 100 * DAY_MS
        self.active = 0
        self.late: list[Written] = []
        self.forgotten: dict[str, int] = {}
        self._recover()

    def _recover(self) -> None:
        self.held = Partition()
        for offset, (key, value) in enumerate(self.changelog):
            self.held.apply(offset, key, value)
        self.at = self.committed

    # What happens outside.

    @rule(turn=TURNS, gap_ms=GAPS_MS)
    def append(self, turn: dict[str, Any], gap_ms: int) -> None:
        self.now_ms += gap_ms
        turn = turn | {"turn_id": turn["turn_id"] or f"T-{len(self.log)}"}
        self.log.append(Record(json.dumps(turn).encode(), self.now_ms))

    @rule(junk=st.sampled_from([b"", b"{", b'{"turn_id": 1}', b"[" * 300]))
    def append_junk(self, junk: bytes) -> None:
        self.log.append(Record(junk, self.now_ms))

    @rule(session=st.sampled_from(["S-1", "S-2"]))
    def ask_to_forget(self, session: str) -> None:
        self.log.append(Record(None, self.now_ms, session))

    @rule()
    def change_the_card(self) -> None:
        self.active = 1 - self.active

    @precondition(lambda self: self.late)
    @rule(which=st.integers(0, 99), share=st.floats(0, 1), keep=st.booleans())
    def a_dead_worker_writes_late(self, which: int, share: float, keep: bool) -> None:
        written = self.late[which % len(self.late)]
        self._arrive(written, share, share)
        if not keep:
            self.late.remove(written)

    @rule(upto=st.floats(0, 1))
    def compact(self, upto: float) -> None:
        """Keep the last record of each key in a prefix; offsets stay, as a broker keeps them."""
        end = int(len(self.changelog) * upto)
        last = {key: place for place, (key, _) in enumerate(self.changelog[:end])}
        kept = [each for place, each in enumerate(self.changelog[:end]) if last[each[0]] == place]
        self.changelog = kept + self.changelog[end:]

    # What the worker does.

    @rule(turns=st.lists(st.tuples(TURNS, GAPS_MS), min_size=1, max_size=5), commits=st.booleans())
    def serve(self, turns: list[tuple[dict[str, Any], int]], commits: bool) -> None:
        """Append and judge in one move, so that no choice of moves leaves the worker idle."""
        for turn, gap_ms in turns:
            self.append(turn, gap_ms)
        while self.at < len(self.log):
            self._judge(5)
        if commits:
            self.commit()

    @precondition(lambda self: self.at < len(self.log))
    @rule(count=st.integers(1, 5), arrived=st.tuples(st.floats(0, 1), st.floats(0, 1)), late=st.booleans())
    def die_in_a_batch(self, count: int, arrived: tuple[float, float], late: bool) -> None:
        """Judge, let a part of each lane arrive, and die; what did not arrive may yet come late."""
        batch = self._batch(count)
        written, _ = self._step(batch)
        self._arrive(written, *arrived)
        if late:
            self.late.append(written)
        self._recover()

    @precondition(lambda self: self.at < len(self.log))
    @rule(count=st.integers(1, 5))
    def judge(self, count: int) -> None:
        self._judge(count)

    def _judge(self, count: int) -> None:
        batch = self._batch(count)
        if not batch:
            self._forget(self.log[self.at].forget or "")
            return
        written, newest_ms = self._step(batch)
        self._arrive(written, 1, 1)
        self.at += len(batch)
        self.held.delivered(self.at, newest_ms)

    def _batch(self, count: int) -> list[Record]:
        """Return the next records, up to a request to forget."""
        batch = self.log[self.at : self.at + count]
        return batch[: next((place for place, record in enumerate(batch) if record.forget), count)]

    def _step(self, batch: list[Record]) -> tuple[Written, int]:
        verdicts: list[Verdict] = []
        changes: list[tuple[bytes, bytes | None]] = []
        known = SNAPSHOTS[self.active]
        stamp, newest_ms = Stamp(SOURCE, known, 0), 0
        for offset, record in enumerate(batch, start=self.at):
            newest_ms = max(newest_ms, record.time_ms)
            if record.value is None:
                continue
            position = Position(offset, record.time_ms, TTL_MS)
            result, elements = step(record.value, position, self.held.sessions, known, CAPS)
            for element in elements:
                self.held.add(element)
                changes.append((encode_key(element.session_id, element.name, offset), encode_value(element)))
            if isinstance(result, Accepted):
                headers = dict(stamp.headers(result, record.value, offset, record.time_ms))
                verdicts.append(Verdict(offset, headers["verdict_id"], result.value, self.active))
            else:
                verdicts.append(Verdict(offset, b"", result.reason.encode(), self.active))
        return Written(tuple(verdicts), tuple(changes)), newest_ms

    def _arrive(self, written: Written, verdicts: float, changes: float) -> None:
        self.verdicts += written.verdicts[: round(len(written.verdicts) * verdicts)]
        self.changelog += written.changes[: round(len(written.changes) * changes)]

    def _forget(self, session: str) -> None:
        """As the worker does: everything before is committed, then tombstones, then its own offset."""
        self.commit()
        self.changelog += [(encode_key(*key), None) for key in self.held.forget(session, self.at)]
        self.forgotten[session] = self.at
        self.late = [written for written in self.late if not written.changes]
        self.at += 1
        self.commit()

    @rule()
    def commit(self) -> None:
        self.committed = max(self.committed, self.at)
        self.held.committed(self.committed)

    @rule()
    def crash(self) -> None:
        self._recover()

    @rule()
    def expire(self) -> None:
        self.changelog += [(encode_key(*key), None) for key in self.held.expire(TTL_MS)]

    # What must hold.

    @invariant()
    def every_committed_record_has_an_outcome(self) -> None:
        answered = {verdict.offset for verdict in self.verdicts}
        wanted = {offset for offset, record in enumerate(self.log[: self.committed]) if record.value is not None}
        assert wanted <= answered

    @invariant()
    def copies_are_equal(self) -> None:
        copies: dict[bytes, tuple[int, bytes]] = {}
        for verdict in self.verdicts:
            if verdict.verdict_id:
                copy = verdict.offset, verdict.value
                assert copies.setdefault(verdict.verdict_id, copy) == copy

    @invariant()
    def verdicts_are_those_of_the_whole_log(self) -> None:
        for verdict in self.verdicts[-12:]:
            record = self.log[verdict.offset]
            assert record.value is not None
            whole = _whole_log(self.log, verdict.offset)
            position = Position(verdict.offset, record.time_ms, TTL_MS)
            result, _ = step(record.value, position, whole, SNAPSHOTS[verdict.snapshot], CAPS)
            wanted = result.value if isinstance(result, Accepted) else result.reason.encode()
            assert verdict.value == wanted

    @invariant()
    def the_changelog_rebuilds_the_state(self) -> None:
        rebuilt = Partition()
        for offset, (key, value) in enumerate(self.changelog):
            rebuilt.apply(offset, key, value)
        for session, namings in self.held.sessions.items():
            for name, known in namings.items():
                assert set(known) <= set(rebuilt.sessions.get(session, {}).get(name, ()))


def _whole_log(log: list[Record], before: int) -> dict[str, Namings]:
    """Return the elements of the turns before an offset by section 7 to the letter, in which nothing crashes."""
    sessions: dict[str, Namings] = {}
    for offset, record in enumerate(log[:before]):
        if record.forget:
            sessions.pop(record.forget, None)
        turn = _turn(record.value)
        for name in dict.fromkeys((turn or {}).get("named_entities") or ()):
            assert turn is not None
            namings = sessions.setdefault(turn["session_id"], {})
            seen = [each for each in namings.get(name, ()) if record.time_ms - each.time_ms < TTL_MS]
            earlier = [each for each in seen if natural_key(each.turn_id) < natural_key(turn["turn_id"])]
            if not earlier or record.time_ms - max(each.time_ms for each in seen) > TTL_MS / 2:
                element = Element(turn["session_id"], name, offset, turn["turn_id"], turn["reply_text"], record.time_ms)
                namings[name] = (*namings.get(name, ()), element)
    return sessions


def _turn(value: bytes | None) -> dict[str, Any] | None:
    try:
        row = json.loads(value or b"")
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) and isinstance(row.get("turn_id"), str) else None


TestCrashes = Crashes.TestCase
TestCrashes.settings = settings(max_examples=250, stateful_step_count=40, suppress_health_check=list(HealthCheck))
