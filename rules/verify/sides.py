"""Tell whether levels, first persons and what was not compared stand on their own side in a sentence."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rules.verify.text import cleaned
from rules.verify.vocabulary import LEVEL_WORDS, SLOT
from schemas.nfc import nfc
from schemas.verdict import Observed, VerdictWord

_LEVEL: Final = f"(?:{'|'.join(LEVEL_WORDS)})"
_ASKED: Final = ("카드", "설정", "규칙", "정한", "요구")
_ANSWERED: Final = ("답장", "답변", "대답", "응답", "말끝", "어미", "실제")
_NEAR: Final = re.compile(f"{'|'.join((*_ASKED, *_ANSWERED))}|{_LEVEL}")
_SPEAKING: Final = re.compile(
    "로 (?:[가-힣]{1,4} )?"
    "(?:답[하한했해](?!야|도록)|끝[나났난내낸냈맺]|말[한했해](?!야)|대답|응답|들[리려렸린]|이어|맺)"
)
_RULING: Final = re.compile("[을를인]? ?(?:카드|규칙|설정)|[을를로]? ?(?:정[한해했하]|요구)")
_USED: Final = re.compile(f"{SLOT}(?:[을를로]|으로) (?:써|쓰|썼|쓴|사용|말[한했해])")
_NOT_THIS: Final = re.compile(f"{SLOT}[이가]? (?:아니라|아닌)")
_AGREES: Final = re.compile("같|맞|일치|지[켜켰키킨]|따[랐르른]|유지|대로")
# Of a forgotten name: who lacks it. What is only said of the name goes first.
_OF_THE_NAME: Final = re.compile(
    f"(?:앞선|앞|이전|지난) (?:회차|대화)(?: {SLOT})?(?:에서|에|에서도|에도)(?: 이미)? "
    "(?:나온|나왔던|언급된|언급한|등장한|말한)|앞서 (?:나온|언급된|말한)"
)
_WHO: Final = re.compile(
    "(답장|답변|대답|응답|답[하한했해]|캐릭터|이번)|카드|설정|앞선?|이전|지난|유저|사용자|"
    "없|않|못|잊|빠|놓[친쳐쳤]|모[른릅]|몰[라랐]"
)
_ASKED_FOR: Final = re.compile(f"{SLOT}[을를]? ?(?:이름을 )?[물묻]")
_ABSENT: Final = re.compile(f"{SLOT}(?:이?라는 이름)?[이가은는] (?:[^,{SLOT}]{{1,12}} ?)?[없않빠]")
_LACKS: Final = frozenset("없않못잊빠놓모몰")
_LEFT_OUT: Final = re.compile("비어|건너|못")
_NAMES: Final = re.compile("이름|세계관|고유명사")


def stand_right(text: str, values: Sequence[str], record: Mapping[str, Any]) -> bool:
    """Tell whether a slotted sentence puts what the card asks and what the reply does each on its own side."""
    verdict = record["verdict"]
    if verdict == VerdictWord.FORGOT and not (_reply_lacks(text) and _asks_role(text, values, record)):
        return False
    if verdict not in (VerdictWord.SPEECH_BROKEN, VerdictWord.KEPT):
        return not any(level in text for level in LEVEL_WORDS)
    asked, asked_person = _parts(record["rule_expected"])
    heard, heard_person = _parts(record["rule_observed"])
    if not _levels(text, asked, heard):
        return False
    if verdict == VerdictWord.SPEECH_BROKEN:
        if "카드대로" in text and asked != heard and heard != Observed.OLD:
            return False
        return _persons(text, values, asked_person, heard_person)
    left_out = _LEFT_OUT.search(text) is not None
    if "인칭" in text and not left_out and (not asked_person or asked_person != heard_person):
        return False
    if _NAMES.search(text) and not left_out and record["off_canon_entities"] is None:
        return False
    return bool(heard) or _AGREES.search(text) is None


def _reply_lacks(text: str) -> bool:
    """Tell whether it is this reply, and nothing else, that lacks the name."""
    answering = False
    for match in _WHO.finditer(_OF_THE_NAME.sub(" ", text)):
        if match[0][0] not in _LACKS:
            answering = match[1] is not None
        elif not answering:
            return False
    return True


def _asks_role(text: str, values: Sequence[str], record: Mapping[str, Any]) -> bool:
    """Tell whether it is not the name that was asked for, and not the role that is absent."""
    target = cleaned(nfc(record["recall_target"] or ""))
    roles = {row["value"] for row in record["evidence"] if row["field"] == "entity_roles"}
    shown = {cleaned(nfc(role)) for role in roles if isinstance(role, str)} - {target}
    return all(_at(text, values, match) != target or not shown for match in _ASKED_FOR.finditer(text)) and all(
        _at(text, values, match) not in shown for match in _ABSENT.finditer(text)
    )


def _parts(rule: str | None) -> tuple[str, str]:
    level, _, person = (rule or "").partition(" · ")
    return level, cleaned(nfc(person))


def _levels(text: str, asked: str, heard: str) -> bool:
    """Hold every level against its side: the word around it tells, or else the last one before it."""
    both = heard == Observed.MIXED
    anchor = ""
    for match in _NEAR.finditer(text):
        word = match[0]
        if word not in LEVEL_WORDS:
            anchor = word
            continue
        if _SPEAKING.match(text, match.end()):
            fits = both or word == heard
        elif _RULING.match(text, match.end()) or anchor in _ASKED:
            fits = word == asked
        elif anchor in _ANSWERED:
            fits = both or word == heard
        else:
            fits = both or word in (asked, heard)
        if not fits:
            return False
        anchor = anchor if both and anchor in _ANSWERED else ""
    return True


def _persons(text: str, values: Sequence[str], asked: str, heard: str) -> bool:
    """Tell whether the first person said to be used is the turn's, and the one said to be missed the card's."""
    if not asked or not heard or asked == heard:
        return "인칭" not in text or _LEFT_OUT.search(text) is not None or asked == heard
    return all(_at(text, values, match) != asked for match in _USED.finditer(text)) and all(
        _at(text, values, match) != heard for match in _NOT_THIS.finditer(text)
    )


def _at(text: str, values: Sequence[str], match: "re.Match[str]") -> str:
    return values[text.count(SLOT, 0, match.start())]
