"""Check witnesses one by one against the original text and the tables."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple
from unicodedata import combining, normalize

from rules.verify.tables import LONGEST_WORD, Keys, Tables
from rules.verify.text import starts
from schemas.lexicon import Entry
from schemas.profile import Says
from schemas.witness import NameWitness, RoleWitness, TermWitness, Tier, Told, Way, WordWitness

_LETTERS: Final = dict(
    zip(
        [chr(code) for code in (*range(0x1100, 0x1113), *range(0x1161, 0x1176), *range(0x11A8, 0x11C3))],
        "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
        "ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ",
        strict=True,
    )
)
# What each letter is typed with, case aside: the Korean standard keyboard (두벌식, KS X 5002).
_KEYBOARD: Final = (
    "ㄱ:r ㄲ:r ㄴ:s ㄷ:e ㄸ:e ㄹ:f ㅁ:a ㅂ:q ㅃ:q ㅅ:t ㅆ:t ㅇ:d ㅈ:w ㅉ:w ㅊ:c ㅋ:z ㅌ:x ㅍ:v ㅎ:g "
    "ㅏ:k ㅐ:o ㅑ:i ㅒ:o ㅓ:j ㅔ:p ㅕ:u ㅖ:p ㅗ:h ㅛ:y ㅜ:n ㅠ:b ㅡ:m ㅣ:l ㅘ:hk ㅙ:ho ㅚ:hl ㅝ:nj ㅞ:np ㅟ:nl ㅢ:ml "
    "ㄳ:rt ㄵ:sw ㄶ:sg ㄺ:fr ㄻ:fa ㄼ:fq ㄽ:ft ㄾ:fx ㄿ:fv ㅀ:fg ㅄ:qt"
)
_TYPED: Final = dict(pair.split(":") for pair in _KEYBOARD.split())
_APART: Final = re.compile(r"[가-힣](?:(?:[~.\-_*^·,!@#/|+=]{1,3}|\s{1,2})[가-힣])+")
_SYLLABLES: Final = re.compile("[가-힣]+")
_is_hangul: Final = _SYLLABLES.fullmatch
_OPENERS: Final = re.compile(r"[*(\[]")
_NEAR: Final = 12
_SOFT: Final = (Says.POLITE, Says.LEANING)
_FAR: Final = 200
_CONTEXT: Final = 24


class Placed(NamedTuple):
    """A folded text, and the places in it of offsets of the original; no map where they are the same."""

    text: str
    at: dict[int, int] | None

    def find(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the folded place of a stretch of the original that is not empty, or None."""
        if self.at is not None:
            start, end = self.at.get(start, -1), self.at.get(end, -1)
        return (start, end) if 0 <= start < end <= len(self.text) else None


def placed(text: str, offsets: Iterable[int], keys: Keys) -> Placed:
    """Fold a text from offset to offset, so that the folded place of each is known."""
    folded = keys.in_place(text)
    if folded is not None:
        return Placed(folded, None)
    at: dict[int, int] = {}
    parts: list[str] = []
    length = last = 0
    for offset in sorted({*offsets, len(text)}):
        if last <= offset <= len(text):
            parts.append(keys.fold(text[last:offset]))
            length += len(parts[-1])
            at[offset], last = length, offset
    return Placed("".join(parts), at)


def is_word_told(witness: WordWitness, reply: Placed, narrated: list[tuple[int, int]], tables: Tables) -> bool:
    """Tell whether a word stands where its witness says, outside narration, and tells what it says."""
    place = reply.find(witness.start, witness.end)
    if place is None or (narrated and any(start < place[1] and place[0] < end for start, end in narrated)):
        return False
    start, end = place
    text = reply.text
    word = text[start:end].replace("**", "")
    before, after = text[start - 1 : start], text[end : end + 1]
    if witness.told is Told.ENDING:
        if _is_syllable(before) or _is_syllable(after) or not _is_hangul(word):
            return False
        return tables.endings.says(word[-LONGEST_WORD:]) == witness.says
    if witness.told is Told.JAMO:
        return witness.says == Says.PLAIN and word in tables.jamo
    if not _is_hangul(word) or _is_syllable(before):
        return False
    if witness.told is Told.ADDRESS:
        return witness.says == Says.OLD and word in tables.old_words
    if _is_syllable(after):
        return False
    if witness.told is Told.INSIDE:
        return witness.says == Says.POLITE and tables.endings.says(word[-LONGEST_WORD:]) in _SOFT
    if witness.told is Told.CRIED:
        cried = not tables.cries.isdisjoint(_SYLLABLES.findall(text[max(0, start - _FAR) : start]))
        return witness.says == Says.MUSING and cried and tables.endings.says(word[-LONGEST_WORD:]) == Says.PLAIN
    if witness.told is Told.STRONG:
        return tables.strong.says(word[-LONGEST_WORD:]) == witness.says
    return witness.says == Says.POLITE and word in (tables.answers if witness.told is Told.ANSWER else tables.humble)


def narrations(text: str) -> list[tuple[int, int]]:
    """Return the stretches between asterisks and in brackets, read from left to right and each within its line."""
    opener = _OPENERS.search(text)
    if opener is None:
        return []
    found: list[tuple[int, int]] = []
    text = text.replace("**", "\x00\x00")
    opener = _OPENERS.search(text)
    while opener:
        start = opener.start()
        closer, bars = {"*": ("*", "\n"), "(": (")", "(\n"), "[": ("]", "[\n")}[opener[0]]
        end = start + 1
        while end < len(text) and text[end] != closer and text[end] not in bars:
            end += 1
        if end < len(text) and text[end] == closer:
            found.append((start, end + 1))
            opener = _OPENERS.search(text, end + 1)
        else:
            opener = _OPENERS.search(text, start + 1)
    return found


class Book:
    """A lexicon as the checks of its witnesses ask it."""

    def __init__(self, entries: tuple[Entry, ...], tables: Tables) -> None:
        """Fold rows given in the lexicon's order."""
        keys = tables.keys
        self.terms = tuple(keys.fold(entry.term.strip()) for entry in entries)
        self._nouns = tables.nouns
        modes: dict[str, str] = {}
        contexts: dict[str, set[str]] = {}
        for term, entry in zip(self.terms, entries, strict=True):
            if entry.mode:
                modes.setdefault(term, entry.mode)
            contexts.setdefault(term, set()).update("".join(keys.fold(each).split()) for each in entry.except_ or ())
        default = {term: "word" if _SYLLABLES.fullmatch(term) else "any" for term in self.terms}
        self._modes, self._contexts = default | modes, contexts

    def is_found(self, witness: TermWitness, reply: Placed) -> bool:
        """Tell whether a term stands where its witness says, in that way and in that tier."""
        place = reply.find(witness.start, witness.end)
        if place is None or not 0 <= witness.rank < len(self.terms):
            return False
        start, end = place
        term, text = self.terms[witness.rank], reply.text
        # A letter that was composed comes from its whole cluster, and marks may stand behind it there.
        while end - start > len(term) and reply.at is not None and combining(text[end - 1]):
            end -= 1
        found = text[start:end]
        if witness.way is Way.SPACED:
            joined = "".join(_SYLLABLES.findall(found))
            return witness.tier is Tier.HIT and joined == term and _APART.fullmatch(found) is not None
        if self._is_innocent(term, text, start, end):
            return False
        if witness.way is Way.SPELLED:
            return witness.tier is Tier.HIT and _is_spelled(found, term, only_jamo=self._modes[term] == "word")
        if witness.way is not Way.WHOLE or found != term:
            return False
        if self._modes[term] == "any" or not _SYLLABLES.fullmatch(term):
            return witness.tier is Tier.HIT and _stands_alone(term, text[start - 1 : start], text[end : end + 1])
        return witness.tier is self._as_word(term, text, start, end)

    def _as_word(self, term: str, text: str, start: int, end: int) -> Tier | None:
        left, right = _beside(text, start, end)
        if len(term) == 1:
            return Tier.HIT if not left and self._nouns.after_one(term, right) else None
        if left and not (len(left) > 1 and self._is_noun(left)):
            return None
        fits = self._nouns.after(term[-1], right) or self._nouns.after_suffix(right, self._is_noun)
        return Tier.HIT if fits else Tier.REVIEW

    def _is_noun(self, word: str) -> bool:
        return word in self._nouns.common or word in self._modes

    def _is_innocent(self, term: str, text: str, start: int, end: int) -> bool:
        contexts = self._contexts[term]
        if not contexts:
            return False
        found = text[start:end]
        left = "".join(text[max(0, start - _CONTEXT) : start].split())
        near = left + found + "".join(text[end : end + _CONTEXT].split())
        return any(
            near.startswith(context, len(left) - step)
            for context in contexts
            for step in range(min(len(context), len(left) + 1))
            if context.startswith(found, step)
        )


def is_same_name(witness: NameWitness, names: list[str], canon: tuple[str, ...], tables: Tables) -> bool:
    """Tell whether a name of the turn names the canon entity its witness says, in that way."""
    if not (0 <= witness.place < len(names) and 0 <= witness.canon < len(canon)):
        return False
    key = tables.keys.name_key
    return tables.names_same(key(names[witness.place]), key(canon[witness.canon])) is witness.way


def is_asked(witness: RoleWitness, message: Placed, role: str, tables: Tables) -> bool:
    """Tell whether a message asks with a role (a key) where its witness says."""
    place = message.find(witness.start, witness.end)
    if place is None:
        return False
    left, right = _beside(message.text, *place)
    word, kin = message.text[place[0] : place[1]], tables.profile.kin
    follows = tables.nouns.after(word[-1], right) or right.startswith(kin.asking)
    return (not left or left in kin.owners) and follows and tables.asks(word, role) is witness.way


def is_said(witness: RoleWitness, reply: Placed, entity: str, tables: Tables) -> bool:
    """Tell whether a reply names an entity (a key) as its witness says; where it says not, that its name is no word."""
    if witness.mention is None:
        return not any(_stands_as_name(reply.text, start, entity, tables) for start in starts(reply.text, entity))
    place = reply.find(witness.said_start, witness.said_end)
    if place is None:
        return False
    left, right = _beside(reply.text, *place)
    said = reply.text[place[0] : place[1]]
    is_whole = said == entity
    if not is_whole and not (len(entity) == 3 and said == entity[1:] and entity[0] in tables.surnames):
        return False
    if right and not tables.after_name(said, right):
        return False
    if witness.mention is Tier.REVIEW:
        return True
    behind = right or _apart_honorific(reply.text, place[1], tables)
    called = behind in tables.profile.names.calling or any(map(behind.startswith, tables.honorifics))
    marked = called or (len(right) > 1 and right[0] == "이")
    own = not left or left in tables.profile.names.before
    return own and (marked or (is_whole and said not in tables.nouns.common))


def _stands_as_name(text: str, start: int, name: str, tables: Tables) -> bool:
    left, right = _beside(text, start, start + len(name))
    own = not left or left in tables.profile.names.before or left in tables.surnames
    return own and (not right or tables.after_name(name, right))


def _apart_honorific(text: str, end: int, tables: Tables) -> str:
    if text[end : end + 1] != " ":
        return ""
    word = _SYLLABLES.match(text, end + 1)
    return word[0] if word and tables.honoured(word[0]) else ""


def _is_syllable(character: str) -> bool:
    return "가" <= character <= "힣"


def _is_letter(character: str) -> bool:
    return _is_syllable(character) or "ㄱ" <= character <= "ㅣ"


def _beside(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the syllables on both sides of a stretch, a dozen at most."""
    left = text[max(0, start - _NEAR) : start]
    right = _SYLLABLES.match(text[end : end + _NEAR])
    runs = _SYLLABLES.findall(left)
    return (runs[-1] if runs and left.endswith(runs[-1]) else ""), (right[0] if right else "")


def _stands_alone(term: str, before: str, after: str) -> bool:
    """Tell whether a Latin term is a whole token, or a single jamo apart from others; any other term may stand so."""
    if term.isascii():
        return not any(side.isascii() and side.isalnum() for side in (before, after))
    if len(term) == 1 and "ㄱ" <= term <= "ㅣ":
        return not (_is_letter(before) or _is_letter(after))
    return True


def _is_spelled(found: str, term: str, *, only_jamo: bool) -> bool:
    """Tell whether a text is another spelling of a term: all jamo, one syllable by its first letter, or typed keys."""
    letters = [_LETTERS.get(part, "") for part in normalize("NFD", term)]
    if found == "".join(letters):
        return True
    if only_jamo:
        return False
    if found == "".join(_TYPED.get(letter, "") for letter in letters):
        return True
    if len(found) != len(term):
        return False
    odd = [(one, other) for one, other in zip(found, term, strict=True) if one != other]
    return len(odd) == 1 and odd[0][0] == _LETTERS.get(normalize("NFD", odd[0][1])[0])
