"""Tell whether a sentence about a verdict says what the verdict says, and nothing else."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple
from unicodedata import category

from rules.verify.sides import stand_right
from rules.verify.text import cleaned
from rules.verify.vocabulary import BOTH_FORMS, CLAIMS, COUNTED, LEVEL_WORDS, NEVER, NUMBER, PHRASES, SLOT, TAIL, WORDS
from schemas.nfc import nfc
from schemas.verdict import VerdictWord

_QUOTED_CHAT: Final = 20  # code points of the chat that one quotation may hold
_UNQUOTED: Final = 12  # a longer value of the record must stand in quotes
_COPIED: Final = 12  # so many code points in a row are a copy of the chat
_PAIRS: Final = ("「」", "『』", "“”", "‘’", '""', "''")
_QUOTATION: Final = "|".join(f"{left}([^{left}{right}]*){right}" for left, right in _PAIRS)
_QUOTED: Final = re.compile("「([^「」]*)」")
_CHAT_FIELDS: Final = ("reply_text", "user_message")
_COLUMNS: Final = (
    *("rule_expected", "rule_observed", "touched_term", "touched_topic"),
    *("recall_target", "recall_source_turn", "turn_id"),
)
_HIDDEN: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_SPACES: Final = re.compile("[ ,·()]+")
_BOTH_FORMS: Final = re.compile("|".join(map(re.escape, BOTH_FORMS)))
_DIGITS: Final = re.compile("[0-9]+")
_COUNTING: Final = re.compile("(?<![가-힣0-9])[0-9]+(?=문장|개|번|가지|명|곳)")
_COUNT: Final = re.compile(rf"(?<![가-힣])({'|'.join(COUNTED)}) (?:문장|개|이름|가지|곳|번)")
_SAID: Final = re.compile("이?라(?:고|는 말)|처럼")  # behind a quotation of what was said
_RUN: Final = re.compile("[가-힣]*")


class Slotted(NamedTuple):
    """A sentence with a slot for each value of the record, and the values in the order of their slots."""

    text: str
    values: tuple[str, ...]


def is_grounded(summary: str, record: Mapping[str, Any]) -> bool:
    """Tell whether a summary rests on the record alone and says its verdict (issue 7, item 2).

    Every quotation and number stands in the record; every word is of the verdict's vocabulary or a value of the record;
    a value that the verdict rests on is named; the claim is the verdict's, without a no; levels and first persons stand
    on their own side; nothing of the chat is copied outside quotes.
    """
    text, verdict = nfc(summary), record["verdict"]
    if SLOT in text or NUMBER in text or any(word in text for word in VerdictWord if word != verdict):
        return False
    slotted = _slotted(text.removesuffix(".").removesuffix("。"), record)
    if slotted is None or _copies(slotted.text, record) or not _names(slotted, record):
        return False
    counted = _counted(slotted.text, record)
    if counted is None:
        return False
    told = Slotted(counted, slotted.values)
    return _is_worded(told.text, verdict) and stand_right(told.text, told.values, record)


def _slotted(text: str, record: Mapping[str, Any]) -> Slotted | None:
    """Put a slot for every quotation and value; None where a quotation, or a hidden character, is not the record's."""
    values = {cleaned(nfc(value)) for value in _values(record)}
    own = {quoted for said in (record["summary"], record["hedge"] or "") for quoted in _QUOTED.findall(nfc(said))}
    exact = sorted(values | own, key=len, reverse=True)
    quoted = "|".join(re.escape(left + value + right) for value in exact for left, right in _PAIRS)
    bare = "|".join(re.escape(value) for value in exact if 0 < len(value) <= _UNQUOTED and value not in LEVEL_WORDS)
    pattern = f"(?P<exact>{quoted})|{_QUOTATION}" + (rf"|(?<!\w)(?P<bare>{bare})" if bare else "")
    filled: list[str] = []
    parts: list[str] = []
    end = 0
    for match in re.finditer(pattern, text):
        value = match[0] if match.lastgroup == "bare" else match[0][1:-1]
        if match.lastgroup == "bare" and not TAIL.fullmatch(_RUN.match(text, match.end())[0]):  # type: ignore[index]
            continue
        if match.lastgroup is None and not _is_quotable(value, text[match.end() :], record):
            return None
        shown, value = _shown(value)
        parts += text[end : match.start()], shown
        filled += [value] if SLOT in shown else ()
        end = match.end()
    parts.append(text[end:])
    told = _BOTH_FORMS.sub(lambda match: match[0].partition("(")[0], "".join(parts))
    return Slotted(told, tuple(filled))


def _shown(value: str) -> tuple[str, str]:
    """Return what stands for a value, and the value in its slot: a level stays, so that its side can be told."""
    level, _, person = value.partition(" · ")
    if level not in LEVEL_WORDS:
        return SLOT, value
    return (f"{level} {SLOT}", person) if person else (level, "")


def _values(record: Mapping[str, Any]) -> Iterator[str]:
    for row in record["evidence"]:
        if row["field"] not in _CHAT_FIELDS and isinstance(row["value"], str):
            yield row["value"]
    for column in _COLUMNS:
        if isinstance(record[column], str):
            yield record[column]
    yield from record["off_canon_entities"] or ()


def _chat(record: Mapping[str, Any]) -> Iterator[str]:
    for row in record["evidence"]:
        if row["field"] in _CHAT_FIELDS and isinstance(row["value"], str):
            yield nfc(row["value"])


def _is_quotable(quoted: str, behind: str, record: Mapping[str, Any]) -> bool:
    """Tell whether words of the chat may stand in quotes: where they could pass for a value, only around one."""
    if not 0 < len(quoted) <= _QUOTED_CHAT or any(category(character) in _HIDDEN for character in quoted):
        return False
    word = record["verdict"]
    if word in (VerdictWord.FORBIDDEN, VerdictWord.OFF_CANON) and not any(map(quoted.__contains__, _rests(record))):
        return False
    if word == VerdictWord.FORGOT and _SAID.match(behind) is None:
        return False
    return any(quoted in each for each in _chat(record))


def _copies(text: str, record: Mapping[str, Any]) -> bool:
    """Tell whether a run of a text, outside its slots, stands in the chat."""
    chat = tuple(_chat(record))
    runs = (
        part[start : start + _COPIED] for part in text.split(SLOT) for start in range(max(0, len(part) - _COPIED + 1))
    )
    return any(run in each for run in runs for each in chat)


def _names(slotted: Slotted, record: Mapping[str, Any]) -> bool:
    """Tell whether a value is named that the verdict rests on; a value that cannot be shown need not be."""
    rests = _rests(record)
    if record["verdict"] in (VerdictWord.SPEECH_BROKEN, VerdictWord.KEPT):
        rests = {*_persons(record)}
        if record["rule_observed"] is None or any(level in slotted.text for level in LEVEL_WORDS):
            return True
    return not rests or not rests.isdisjoint(slotted.values)


def _rests(record: Mapping[str, Any]) -> set[str]:
    """Return the values a verdict rests on as they can be shown; none where that is a level."""
    word = record["verdict"]
    rests: list[Any] = []
    if word == VerdictWord.FORBIDDEN:
        rests.append(record["touched_term"])
    elif word == VerdictWord.OFF_CANON:
        rests += record["off_canon_entities"] or ()
    elif word == VerdictWord.FORGOT:
        rests += [row["value"] for row in record["evidence"] if row["field"] == "entity_roles"]
        rests.append(record["recall_target"])
    return {cleaned(nfc(value)) for value in rests if isinstance(value, str)} - {""}


def _persons(record: Mapping[str, Any]) -> Iterator[str]:
    for column in ("rule_expected", "rule_observed"):
        _, _, person = (record[column] or "").partition(" · ")
        if person:
            yield cleaned(nfc(person))


def _counted(text: str, record: Mapping[str, Any]) -> str | None:
    """Put a mark for every number; None where one is not the record's. 1인칭 is a word."""
    own = " ".join((record["summary"], record["hedge"] or ""))
    known = {*_DIGITS.findall(own), *(COUNTED[word] for word in _COUNT.findall(own))}
    if record["off_canon_entities"]:
        known.add(str(len(record["off_canon_entities"])))
    plain = text.replace("1인칭", "인칭")
    words = {COUNTED[word] for word in _COUNT.findall(plain)}
    if not known.issuperset(_DIGITS.findall(plain)) or not words <= known | {"1"}:
        return None
    marked = _COUNTING.sub(NUMBER, plain)
    return None if _DIGITS.search(marked) else marked


def _is_worded(text: str, verdict: str) -> bool:
    """Tell whether a sentence claims the verdict, and is made of its words and phrases alone."""
    if CLAIMS[verdict].search(text) is None:
        return False
    rest = PHRASES[verdict].sub(" ", text)
    if NEVER[verdict].search(rest) is not None:
        return False
    return all(WORDS[verdict].fullmatch(word) for word in _SPACES.split(rest) if word)
