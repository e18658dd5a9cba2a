"""Results of an earlier run, and what has changed since."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NamedTuple

from rules.oracle.case import CaseResult
from schemas.outcome import Word
from service.decode import Malformed, parse
from service.errors import OperatorError
from service.files.readers import opened, shown


class Change(StrEnum):
    """How a case came out now and before; SAME is neither failing now nor before."""

    NEWLY_FAILING = "newly_failing"
    FIXED = "fixed"
    STILL_FAILING = "still_failing"
    SAME = "same"


class Before(NamedTuple):
    """A case of the earlier run: its result and the digest of its criteria then."""

    word: Word
    digest: str | None


class Comparison(NamedTuple):
    """The change of every case, the cases whose criteria differ from the earlier ones, and the cases that are gone."""

    changes: dict[str, Change]
    before: dict[str, Before]
    differing: tuple[str, ...]
    gone: tuple[str, ...]

    def count(self, change: Change) -> int:
        """Return how many cases changed in a way."""
        return sum(each is change for each in self.changes.values())


def read_baseline(path: str) -> dict[str, Before]:
    """Read what `turnjudge oracle --format json` or `--format jsonl` wrote.

    Raises:
        OperatorError: the file cannot be read or is no such result.
    """
    with opened(path, again=False) as file:
        text = file.read()
    try:
        rows = _cases(text)
        return {row["id"]: Before(Word(row["result"]), row["data"].get("criteria_sha256")) for row in rows}
    except (Malformed, LookupError, TypeError, ValueError, AttributeError):
        expected = "the results of turnjudge oracle, as --format json or jsonl writes them"
        raise OperatorError(f"{shown(path)}: expected {expected}") from None


def _cases(text: bytes) -> list[dict[str, Any]]:
    try:
        whole = parse(text)
    except Malformed:
        rows = [parse(line) for line in text.splitlines() if line.strip()]
        head, cases = rows[0], [row for row in rows if row["kind"] == "case"]
    else:
        head, cases = whole, whole.get("cases", [])
    if head["command"] != "oracle":
        raise ValueError("another command's report")
    return cases


def compare(results: Iterable[CaseResult], digests: dict[str, str], before: dict[str, Before]) -> Comparison:
    """Hold results against those of an earlier run.

    A case that fails now and did not before is newly failing, also when it was not there or was an ERROR; one that
    failed and passes now is fixed. An ERROR is neither, now.
    """
    changes = {result.case_id: _change(result.word, before.get(result.case_id)) for result in results}
    known = [case_id for case_id in changes if case_id in before]
    differing = tuple(case_id for case_id in known if before[case_id].digest not in (None, digests[case_id]))
    return Comparison(changes, before, differing, tuple(case_id for case_id in before if case_id not in changes))


def _change(now: Word, before: Before | None) -> Change:
    failed = before is not None and before.word is Word.FAIL
    if now is Word.FAIL:
        return Change.STILL_FAILING if failed else Change.NEWLY_FAILING
    return Change.FIXED if failed and now is Word.PASS else Change.SAME
