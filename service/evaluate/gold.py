"""Gold: turns that people read and marked with one of the five words (spec 000, 평가 러너 item 1).

A row holds `turn_id` and `verdict`, and may hold `session_id`, `marker` (who marked it) and `note`. A row without a
verdict is a turn not marked yet. Several markers of one turn decide by majority.
"""

from collections import Counter
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ValidationError

from rules.text import is_blank
from schemas.fields import WIRE, NonBlank
from schemas.nfc import nfc
from schemas.refusal import Reason, Refusal
from schemas.verdict import VerdictWord
from service.decode import Caps, parsed
from service.evaluate.report.showing import one_line, shortened
from service.files.readers import Refused, Say, opened, raw_rows, say_on_stderr, shown
from service.files.sheets import Columns

WORDS: Final = tuple(word.value for word in VerdictWord)
# How many turns the specification asks a person to mark.
ENOUGH_TURNS: Final = 120
_COLUMNS: Final = Columns(
    dict.fromkeys(("turn_id", "session_id", "verdict", "marker", "note"), str), ("turn_id", "verdict")
)


class GoldRow(BaseModel):
    """A row as it stands in the file."""

    model_config = WIRE

    turn_id: NonBlank
    session_id: str | None = None
    verdict: str | None = None
    marker: str | None = None
    note: str | None = None


class Vote(NamedTuple):
    """What one marker said of a turn, and on which line."""

    line: int
    marker: str | None
    word: str | None
    note: str | None


class GoldTurn(NamedTuple):
    """A turn that stands in the gold; `word` is None where it has no verdict, and `why` then says why."""

    turn_id: str
    session_id: str | None
    word: str | None
    why: str
    votes: tuple[Vote, ...]

    @property
    def line(self) -> int:
        """The line of its first row."""
        return self.votes[0].line


class Repeat(NamedTuple):
    """A further row of one marker for one turn, which does not count again."""

    line: int
    turn_id: str
    session_id: str | None
    first_line: int
    same: bool


class Gold(NamedTuple):
    """A gold file: its turns in the order of their first rows, rows that repeat, and how many markers there are."""

    name: str
    turns: tuple[GoldTurn, ...]
    repeats: tuple[Repeat, ...]
    markers: tuple[str, ...]


def read_gold(path: str, caps: Caps, say: Say = say_on_stderr) -> Gold | tuple[Refused, ...]:
    """Read a gold file, or return every row that keeps it from being read: one wrong word refuses the whole.

    Raises:
        OperatorError: the file is missing or cannot be read, or is CSV without the columns.
    """
    taken: list[tuple[int, GoldRow]] = []
    refused: list[Refused] = []
    with opened(path, again=False) as file:
        for line, value in raw_rows(file, path, _COLUMNS, caps, say)():
            row = value if isinstance(value, Refusal) else _row(value, caps)
            if isinstance(row, Refusal):
                refused.append(Refused(shown(path), line, row))
            else:
                taken.append((line, row))
    return tuple(refused) or _gathered(shown(path), taken)


def _row(value: bytes, caps: Caps) -> GoldRow | Refusal:
    given = parsed(value, caps.max_record_bytes)
    if isinstance(given, Refusal):
        return given
    try:
        row = GoldRow.model_validate(given)
    except ValidationError as error:
        return Refusal(Reason.SCHEMA_INVALID, "; ".join(map(_problem, error.errors(include_input=False))))
    if row.verdict is None or is_blank(row.verdict):
        return row.model_copy(update={"verdict": None})
    word = nfc(row.verdict).strip()
    if word not in WORDS:
        return Refusal(Reason.SCHEMA_INVALID, f"verdict: expected one of {', '.join(WORDS)}; got {_unknown(word)}")
    return row.model_copy(update={"verdict": word})


def _problem(error: Any) -> str:
    field = str(error["loc"][0]) if error["loc"] else "row"
    if error["type"] == "missing":
        return f"{field}: expected to be there"
    if error["type"] == "string_pattern_mismatch":
        return f"{field}: expected text that is not blank"
    return f"{field}: expected {'text or null' if error['loc'] else 'object'}"


def _unknown(word: str) -> str:
    close = get_close_matches(word.replace(" ", "")[:64], [known.replace(" ", "") for known in WORDS], n=1, cutoff=0.6)
    meant = next((known for known in WORDS if close and known.replace(" ", "") == close[0]), None)
    return f"「{shortened(one_line(word))}」" + (f", meant {meant}?" if meant else "")


def _gathered(name: str, taken: list[tuple[int, GoldRow]]) -> Gold:
    by_turn: dict[tuple[str, str | None], list[Vote]] = {}
    repeats: list[Repeat] = []
    spoiled: set[tuple[str, str | None, str | None]] = set()
    for line, row in taken:
        session = None if row.session_id is None or is_blank(row.session_id) else row.session_id
        marker = None if row.marker is None or is_blank(row.marker) else row.marker.strip()
        votes = by_turn.setdefault((row.turn_id, session), [])
        before = next((vote for vote in votes if vote.marker == marker), None)
        if before is None:
            votes.append(Vote(line, marker, row.verdict, row.note))
            continue
        same = before.word == row.verdict
        repeats.append(Repeat(line, row.turn_id, session, before.line, same))
        if not same:
            spoiled.add((row.turn_id, session, marker))
    turns = [
        _decided(turn_id, session, votes, {marker for *key, marker in spoiled if key == [turn_id, session]})
        for (turn_id, session), votes in by_turn.items()
    ]
    markers = sorted({vote.marker for turn in turns for vote in turn.votes if vote.marker is not None})
    return Gold(name, tuple(turns), tuple(repeats), tuple(markers))


def _decided(turn_id: str, session: str | None, votes: list[Vote], spoiled: set[str | None]) -> GoldTurn:
    """Decide a turn by more than half of its votes; a marker who gave it two words has no vote on it."""
    counted = tuple(vote._replace(word=None) if vote.marker in spoiled else vote for vote in votes)
    words = Counter(vote.word for vote in counted if vote.word is not None)
    if not words:
        why = "한 사람이 서로 다른 판정을 두 번 적었습니다" if spoiled else "아직 표시하지 않았습니다"
        return GoldTurn(turn_id, session, None, why, counted)
    word, most = words.most_common(1)[0]
    if most * 2 <= words.total():
        return GoldTurn(turn_id, session, None, "표시한 사람들의 과반이 모인 판정이 없습니다", counted)
    return GoldTurn(turn_id, session, word, "", counted)
