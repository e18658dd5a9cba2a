"""The checker: everything that stands in the topics at the end, held against what the plan makes of it.

It judges every turn anew, with the step under the very digests a verdict names, and with the tests' own second reading;
it looks at no worker's word but the counts of those that ended cleanly.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any, NamedTuple

from ledger.feed import Acknowledged
from ledger.fleet import Ended
from ledger.history import History
from oracle import Line, judge_turn, natural_key, nfc
from schemas.element import Element, Namings, Position
from schemas.refusal import Reason
from schemas.turn import Turn
from service.step import Accepted, DeadLetter, step
from service.stream.settings import WorkerSettings
from stream.offline import Place, changelog_state, element_records, expected_headers, judged_offline
from stream.world import Row, encode, headers

MAX_SHOWN = 5


class Books(NamedTuple):
    """What stood in the topics: lists in the order of partition and offset; verdicts of deleted topics come first."""

    turns: list[Any]
    verdicts: list[Any]
    letters: list[Any]
    changelog: list[Any]


class Figures(NamedTuple):
    """What a run came to; all but turns, outcomes and repeats must be 0."""

    turns: int = 0
    outcomes: int = 0
    repeats: int = 0
    unsent: int = 0
    missing: int = 0
    differing: int = 0
    wrong: int = 0
    disorder: int = 0
    state: int = 0
    counts: int = 0
    stuck: int = 0

    def plus(self, other: "Figures") -> "Figures":
        """Add up two runs."""
        return Figures(*(one + two for one, two in zip(self, other, strict=True)))

    @property
    def violations(self) -> int:
        """How many things were not as they must be."""
        return sum(self[self._fields.index("unsent") :])


class Checked(NamedTuple):
    """The figures, and of each kind of violation the first few in words."""

    figures: Figures
    words: list[str]


class Checker:
    """Holds the books of one run against its plan."""

    def __init__(self, books: Books, history: History, settings: WorkerSettings) -> None:
        self.books = books
        self._history = history
        self._settings = settings
        self._topic = settings.topics.chat_turns
        self._by_place: dict[Place, Any] = {(each.partition, each.offset): each for each in books.turns}
        self._offline = judged_offline(books.turns, history.newest(), settings)
        self._sessions = _sessions(self._offline.elements)
        self._lines = _lines(books.turns, self._offline.results)
        self.found: Counter[str] = Counter()
        self.words: list[str] = []

    def _say(self, kind: str, what: str) -> None:
        self.found[kind] += 1
        if self.found[kind] <= MAX_SHOWN:
            self.words.append(f"{kind}: {what}")

    def check(self, acknowledged: Sequence[Acknowledged], ended: Sequence[Ended]) -> Checked:
        """Check everything."""
        self._sent(acknowledged)
        verdicts = [(_place(each), each) for each in self.books.verdicts]
        letters = [(_place(each), each) for each in self.books.letters]
        answered = {place for place, _ in verdicts + letters}
        for place in self._offline.results.keys() - answered:
            self._say("missing", f"turn at {place} has no outcome")
        for place in answered - self._offline.results.keys():
            self._say("wrong", f"an outcome of {place}, where no turn is")
        self._copies(verdicts)
        for place, record in verdicts:
            self._verdict(place, record)
        for place, record in letters:
            self._letter(place, record)
        # A repeat under other cards may have the other kind of outcome, which is not its first then.
        both = {place for place, _ in verdicts} & {place for place, _ in letters}
        self._order("verdicts", [place for place, _ in verdicts if place not in both])
        self._order("dead letters", [place for place, _ in letters if place not in both])
        self._state()
        self._earliest()
        self._counts(ended)
        outcomes = len(verdicts) + len(letters)
        found = {name: self.found[name] for name in Figures._fields[3:]}
        repeats = outcomes - len({_identity(each) for _, each in verdicts + letters})
        return Checked(Figures(len(self._offline.results), outcomes, repeats, **found), self.words)

    def _sent(self, acknowledged: Sequence[Acknowledged]) -> None:
        for partition, offset, record in acknowledged:
            there = self._by_place.get((partition, offset))
            if there is None or (there.key, there.value) != record:
                self._say("unsent", f"the broker acknowledged {partition, offset} and does not have it")

    def _copies(self, verdicts: Iterable[tuple[Place, Any]]) -> None:
        """One verdict_id has one key and value; one turn has one verdict_id per pair of digests."""
        copies: dict[str, tuple[bytes, bytes]] = {}
        ids: dict[tuple[Place, str, str], str] = {}
        for place, record in verdicts:
            found = headers(record)
            copy = record.key, record.value
            if copies.setdefault(found["verdict_id"], copy) != copy:
                self._say("differing", f"copies of one verdict_id at {place}")
            pair = place, found["card"], found["lexicon"]
            if ids.setdefault(pair, found["verdict_id"]) != found["verdict_id"]:
                self._say("differing", f"two verdict_ids under one pair of digests at {place}")

    def _verdict(self, place: Place, record: Any) -> None:
        turn, found = self._by_place.get(place), headers(record)
        if turn is None or turn.value is None:
            return
        known = self._history.under(found["card"], found["lexicon"])
        if known is None:
            self._say("wrong", f"the verdict of {place} names digests that never were")
            return
        position = Position(turn.offset, turn.timestamp, self._settings.entity_ttl_s * 1000)
        result, _ = step(turn.value, position, self._sessions[turn.partition], known, self._settings.caps)
        if not isinstance(result, Accepted):
            self._say("wrong", f"a verdict of {place}, which is {result.reason}")
            return
        wanted = expected_headers(self._topic, turn, found, result, known)
        if (record.key, record.value) != (result.turn.session_id.encode(), result.value) or found != wanted:
            self._say("wrong", f"the verdict of {place} is not the step's")
        elif (differing := self._second_reading(place, result, found)) is not None:
            self._say("wrong", f"the verdict of {place} is not the second reading's in {differing}")

    def _second_reading(self, place: Place, result: Accepted, found: dict[str, str]) -> str | None:
        """Return the first key in which the tests' oracle, which shares no code with the product, differs."""
        line, earlier = self._lines[place]
        before = [each for each in earlier if each.number < line.number and each.key < line.key]
        card, lexicon = self._history.rows(found["card"], found["lexicon"])
        expected = judge_turn(line.turn, card, lexicon, before)
        row: Row = {**json.loads(result.value), "codes": [str(code) for code in result.codes]}
        return next((key for key, value in expected.items() if row[key] != value), None)

    def _letter(self, place: Place, record: Any) -> None:
        turn, found = self._by_place.get(place), headers(record)
        result = self._offline.results.get(place)
        if turn is None or result is None:
            return
        whole = record.value == turn.value or ("truncated" in found and turn.value.startswith(record.value))
        if record.key != turn.key or not whole or found["sha256"] != sha256(turn.value).hexdigest():
            self._say("wrong", f"the dead letter of {place} is not the record")
        told, always = result.turn, self._history.always
        if found["reason"] == Reason.UNKNOWN_CHARACTER and told is not None and told.character_id not in always:
            return
        if not isinstance(result, DeadLetter) or found["reason"] != result.reason:
            self._say("wrong", f"a dead letter of {place} with reason {found['reason']}")

    def _order(self, what: str, places: Iterable[Place]) -> None:
        """First outcomes stand in the order of the turns; only repeats may go back."""
        first: dict[int, list[int]] = defaultdict(list)
        for partition, offset in dict.fromkeys(places):
            first[partition].append(offset)
        for partition, offsets in first.items():
            for one, two in pairwise(offsets):
                if one > two:
                    self._say("disorder", f"{what} of partition {partition}: {two} first came after {one}")

    def _state(self) -> None:
        """The changelog, compacted, holds the elements of all turns and nothing else."""
        for partition in {each.partition for each in self.books.turns + self.books.changelog}:
            held = changelog_state(each for each in self.books.changelog if each.partition == partition)
            expected = element_records(
                each for place, added in self._offline.elements.items() if place[0] == partition for each in added
            )
            for key in held.keys() ^ expected.keys():
                self._say("state", f"partition {partition}: an element is {'too much' if key in held else 'missing'}")
            for key in held.keys() & expected.keys():
                if held[key] != expected[key]:
                    self._say("state", f"partition {partition}: an element has another value")

    def _earliest(self) -> None:
        """The changelog, compacted, tells for each session and name the earliest turn of all; the plan alone says."""
        told: dict[tuple[int, str, str], Any] = {}
        for record in {(each.partition, each.key): each for each in self.books.changelog}.values():
            if record.value is not None:
                (session, name, offset), value = json.loads(record.key), json.loads(record.value)
                key = natural_key(value[0]), offset
                told[record.partition, session, name] = min(told.get((record.partition, session, name), key), key)
        wanted: dict[tuple[int, str, str], Any] = {}
        for (partition, offset), (line, _) in self._lines.items():
            for name in {nfc(each) for each in line.turn.get("named_entities") or () if each.strip()}:
                place = partition, line.turn["session_id"], name
                wanted[place] = min(wanted.get(place, (line.key, offset)), (line.key, offset))
        for place in told.keys() | wanted.keys():
            if told.get(place) != wanted.get(place):
                self._say("state", f"partition {place[0]}: not the earliest turn of a name")

    def _counts(self, ended: Sequence[Ended]) -> None:
        """Where a worker ended cleanly, it completed by outcome what it consumed."""
        for worker in ended:
            if worker.code == 0 and worker.counts is None:
                self._say("counts", "a worker that ended cleanly did not say what it counted")
            elif worker.counts is not None and worker.code == 0 and worker.counts[0] != sum(worker.counts[1:]):
                self._say("counts", f"a worker consumed and did not complete: {worker.counts}")
        # What a new generation took away may have been written and is counted by nobody.
        clean = [worker.counts for worker in ended if worker.code == 0 and worker.counts]
        if len(clean) == len(ended) and not any(each.abandoned for each in clean):
            sums = sum(each.judged for each in clean), sum(each.dead_letters for each in clean)
            written = len(self.books.verdicts), len(self.books.letters)
            if sums != written:
                self._say("counts", f"all workers together counted {sums} and wrote {written}")


def _place(record: Any) -> Place:
    return record.partition, int(headers(record)["offset"])


def _identity(record: Any) -> tuple[Place, str, str]:
    found = headers(record)
    return _place(record), found.get("verdict_id", ""), found.get("reason", "")


def _sessions(elements: dict[Place, tuple[Element, ...]]) -> dict[int, dict[str, Namings]]:
    """All elements of each partition: a turn sees of them what has a smaller offset."""
    sessions: dict[int, dict[str, Namings]] = defaultdict(dict)
    for (partition, _), added in elements.items():
        for each in added:
            namings = sessions[partition].setdefault(each.session_id, {})
            namings[each.name] = (*namings.get(each.name, ()), each)
    return sessions


def _lines(turns: Iterable[Any], results: dict[Place, Accepted | DeadLetter]) -> dict[Place, tuple[Line, list[Line]]]:
    """By place of a turn that decodes: its line for the oracle, and all lines of its session in its partition."""
    lines: dict[Place, tuple[Line, list[Line]]] = {}
    sessions: dict[tuple[int, str], list[Line]] = defaultdict(list)
    for record in turns:
        place = record.partition, record.offset
        result = results.get(place)
        if result is None or result.turn is None:
            continue
        line = Line(natural_key(result.turn.turn_id), record.offset, _row(result.turn))
        of_session = sessions[record.partition, result.turn.session_id]
        of_session.append(line)
        lines[place] = line, of_session
    return lines


def _row(turn: Turn) -> Row:
    row: Row = json.loads(encode(turn._asdict()))
    return row
