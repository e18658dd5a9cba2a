"""What a try of a lexicon says, in Korean: a paragraph for each term that was met, and the rows as proposed."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import Any, Final

import orjson

from rules.wording import quote
from schemas.lexicon import Entry
from service.files.readers import is_sheet
from service.workshop.concordance import commonest
from service.workshop.trying import Tried, with_proposal

_CONTEXTS: Final = 5
_EXAMPLES: Final = 3
_SHOWN_EXCEPT: Final = 6
_EXAMPLE_LENGTH: Final = 60
_COLUMNS: Final = ("term", "topic", "position", "mode", "except", "why")
# Spreadsheets take a UTF-8 table for one only by this mark.
_MARK: Final = "\ufeff"


def in_words(tried: Sequence[Tried], lines: Sequence[str], name: str) -> Iterator[str]:
    """Yield the lines of the report: the terms met most often first, then a summary."""
    met = [one for one in tried if one.now.letters or one.now.hits or one.now.review]
    for one in sorted(met, key=lambda one: -len(one.now.letters)):
        yield from _paragraph(one, lines)
        yield ""
    still = sum(1 for one in met if one.then.hits)
    yield f"{name} {len(lines):,}줄에서 낱말 {len(tried):,}개 가운데 {len(met):,}개가 나왔습니다."
    letters = _union(one.now.letters for one in met)
    now, then = _union(one.now.hits for one in met), _union(one.then.hits for one in met)
    yield (
        f"글자로는 {letters:,}줄에 들어 있고, extended 프로필로는 {now:,}줄이 걸립니다. "
        f"제안대로 고치면 {then:,}줄이 걸립니다."
    )
    if still:
        yield f"제안대로 해도 걸리는 낱말이 {still:,}개 있습니다. 「남는 줄」을 읽고 소재가 맞는지 정하세요."


def _paragraph(one: Tried, lines: Sequence[str]) -> Iterator[str]:
    entry, now, then = one.entry, one.now, one.then
    yield f"{quote(entry.term)}({entry.topic})"
    review = f"(확인할 줄 {len(now.review)})" if now.review else ""
    yield f"  줄 수: 글자로 {len(now.letters)}, 지금 {len(now.hits)}{review}, 제안대로 {len(then.hits)}"
    contexts = commonest(one.occurrences, _CONTEXTS)
    for head, counted in (("앞", contexts.left), ("뒤", contexts.right)):
        if counted:
            yield f"  {head}: " + ", ".join(f"{context} {count}" for context, count in counted)
    for number in now.letters[:_EXAMPLES]:
        yield f"  보기: {_cut(lines[number])}"
    change = _change(one)
    yield f"  제안: {change}" if change else "  제안: 그대로 둡니다."
    for reason in one.proposal.reasons if change else ():
        yield f"  까닭: {reason}"
    for number in then.hits[:_EXAMPLES]:
        yield f"  남는 줄: {_cut(lines[number])}"


def _change(one: Tried) -> str:
    entry, proposal = one.entry, one.proposal
    parts = [f"mode {proposal.mode}"] if proposal.mode != entry.mode else []
    added = proposal.except_[len(entry.except_ or ()) :]
    if added:
        more = f" 밖에 {len(added) - _SHOWN_EXCEPT}개" if len(added) > _SHOWN_EXCEPT else ""
        parts.append(f"except {'|'.join(added[:_SHOWN_EXCEPT])}{more}")
    return ", ".join(parts)


def _cut(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= _EXAMPLE_LENGTH else line[:_EXAMPLE_LENGTH] + "…"


def _union(numbers: Iterable[Iterable[int]]) -> int:
    return len({number for some in numbers for number in some})


def in_rows(tried: Sequence[Tried]) -> Iterator[dict[str, Any]]:
    """Yield what was found as JSON records, a term each."""
    for one in tried:
        contexts = commonest(one.occurrences, _CONTEXTS)
        yield {
            "term": one.entry.term,
            "topic": one.entry.topic,
            "lines": {"letters": len(one.now.letters), "now": len(one.now.hits), "review": len(one.now.review)},
            "lines_as_proposed": {"hits": len(one.then.hits), "review": len(one.then.review)},
            "left": dict(contexts.left),
            "right": dict(contexts.right),
            "mode": one.proposal.mode,
            "except": one.proposal.except_,
            "why": " ".join(one.proposal.reasons),
        }


def proposed(tried: Sequence[Tried], path: str) -> bytes:
    """Return the lexicon as proposed, in its own order: CSV where the name ends so, else JSONL.

    The column `why` is for the creator; readers of lexicons pass over it.
    """
    rows = [(with_proposal(one.entry, one.proposal), " ".join(one.proposal.reasons)) for one in tried]
    if is_sheet(path):
        return _sheet(rows)
    return b"".join(orjson.dumps(_row(entry, why), option=orjson.OPT_APPEND_NEWLINE) for entry, why in rows)


def _row(entry: Entry, why: str) -> dict[str, Any]:
    row: dict[str, Any] = {"term": entry.term, "topic": entry.topic, "position": entry.position}
    row |= {"mode": entry.mode} if entry.mode else {}
    row |= {"except": entry.except_} if entry.except_ else {}
    return row | ({"why": why} if why else {})


def _sheet(rows: Iterable[tuple[Entry, str]]) -> bytes:
    text = StringIO(newline="")
    sheet = csv.DictWriter(text, _COLUMNS, lineterminator="\r\n")
    sheet.writeheader()
    for entry, why in rows:
        contexts = "|".join(entry.except_ or ())
        sheet.writerow(_row(entry, why) | {"except": contexts, "why": why})
    return (_MARK + text.getvalue()).encode()
