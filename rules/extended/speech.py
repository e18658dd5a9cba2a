"""The speech level of a reply: existing polite, plain, mixed, 하오체, unclear, or none for want of Hangul (issue 5)."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from rules.extended.endings import LONGEST, Endings
from rules.extended.fold import Folded, without
from rules.hearing import UNHEARD, Speech
from schemas.profile import Says, SpeechTables
from schemas.verdict import Level, Observed
from schemas.witness import Told, WordWitness

_POLITE, _LEANING, _OLD = Says.POLITE.value, Says.LEANING.value, Says.OLD.value
_PLAIN, _MUSING = Says.PLAIN.value, Says.MUSING.value
_DECIDED: Final = (_POLITE, _LEANING, _OLD)
_SOFT: Final = (_POLITE, _LEANING)
_COUNTED: Final = (_POLITE, _LEANING, _PLAIN, _MUSING, _OLD)
_PLAINLY: Final = (_PLAIN, _MUSING)
# A sentence that begins with a cry and ends so is said to oneself: 와 진짜 멋있다, 아 맞다 숙제가 있었지.
_SHORT: Final = 200
_CRIED: Final = frozenset("다네지군나")
_POLITE_LEVEL, _PLAIN_LEVEL, _MIXED_LEVEL = Level.POLITE.value, Level.PLAIN.value, Observed.MIXED.value
# The last syllables of polite endings as they are written with care.
_INNER: Final = frozenset("요죠다까쇼오")

_words = re.compile("[가-힣]+").findall
_has_word = re.compile("[가-힣]").search
_each_word = re.compile("[가-힣]+").finditer
# Sentences end at marks, line breaks, runs of jamo (ㅋㅋ), ^^ and emoji.
_breaks = re.compile(r"([.?!\n\r~]+|[ㄱ-ㅣ]{2,}|\^\^|[\u2600-\u27bf\U0001F000-\U0001FAFF])").split
_url = re.compile(r"(?:https?://|www\.)\S+").sub
_narration = re.compile(r"\*[^*\n]*\*|\([^()\n]*\)|\[[^\[\]\n]*\]").sub
# Doubled marks are what a cell of CSV leaves of a quotation.
_QUOTES: Final = r'""[^"\n]+""|"[^"\n]*"|“[^“”\n]*”|「[^「」\n]*」|『[^『』\n]*』'
_cited = re.compile(rf"(?:{_QUOTES})(?=[가-힣]| ?이?라[고는며던니] ?| ?하[고며] )").sub
_quoted = re.compile(r'["“「『]([^"“”「」『』\n]*)["”」』]').finditer
_SPOKEN_MARKS: Final = (".", "?", "!", "~")


class _Clue(NamedTuple):
    """A word of a sentence, by its number, and what it tells."""

    word: int
    says: str
    told: Told


class Spoken(NamedTuple):
    """What was heard, and the words it was heard in."""

    speech: Speech
    witnesses: tuple[WordWitness, ...]


UNSPOKEN: Final = Spoken(UNHEARD, ())


class Hearing:
    """Hears replies by a profile's tables."""

    def __init__(self, tables: SpeechTables) -> None:
        """Index the tables."""
        self._endings = Endings(tables.endings, tables)
        self._strong = Endings(tables.strong, tables)
        self._answers, self._cries = frozenset(tables.answers), frozenset(tables.cries)
        self._cry_syllables, self._trailing = tables.cry_syllables, frozenset(tables.trailing)
        self._humble = frozenset(tables.humble)
        self._citing, self._citing_deeds = tables.citing, tables.citing_deeds
        self._citing_back = frozenset(tables.citing_back)
        self._citing_starts = self._citing_back.union(tables.citing_with)
        old = "|".join(map(re.escape, tables.old_words))
        old_not = "|".join(map(re.escape, tables.old_not)) or "(?!)"
        self._old_address = re.compile(f"(?<![가-힣])(?!{old_not})(?:{old})").search
        jamo = "|".join(map(re.escape, tables.jamo_plain))
        self._plain_jamo = re.compile(f"(?<![ㄱ-ㅣ])(?:{jamo})(?![ㄱ-ㅣ])").search

    def hear(self, folded: Folded, names: frozenset[str] = frozenset()) -> Spoken:
        """Hear a reply; a sentence that ends in one of `names` says nothing of its level."""
        spoken = self._spoken(folded)
        clues: list[tuple[str, Told, int, int]] = []
        place, sentences, before = 0, 0, 0
        for number, part in enumerate(_breaks(spoken.text)):
            if number % 2 == 0 and (words := _words(part)):
                if words[0] in self._citing_starts and self._cites(words):
                    del clues[before:]
                before = len(clues)
                if words[-1] not in names:
                    clues += [_placed(clue, words, part, place) for clue in self._sentence(words, len(part))]
                sentences += 1
            place += len(part)
        return self._level(spoken, clues, sentences, hangul=bool(sentences or _has_word(folded.text)))

    def sentences(self, folded: Folded) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """Yield the place in the original of every sentence a reply speaks, and of its last word."""
        spoken, place = self._spoken(folded), 0
        for number, part in enumerate(_breaks(spoken.text)):
            if number % 2 == 0 and (words := _words(part)):
                first, last = place + part.find(words[0]), place + part.rfind(words[-1])
                end = last + len(words[-1])
                yield spoken.span(first, end), spoken.span(last, end)
            place += len(part)

    def _spoken(self, folded: Folded) -> Folded:
        """Blank what is not said to the other: addresses, narration, citations, and what stands around speech."""
        text = folded.text
        if "www" in text or "://" in text:
            text = _url(_blank, text)
        if "*" in text or "(" in text or "[" in text:
            if "**" in text:
                folded = without(folded._replace(text=text), "**")
                text = folded.text
            text = _narration(_blank, text)
        if '"' in text or "“" in text or "「" in text or "『" in text:
            text = _cited(_blank, text)
            said = [match.span(1) for match in _quoted(text) if self._is_sentence(match[1])]
            if said:
                text = _only(text, said)
        return folded if text is folded.text else folded._replace(text=text)

    def _is_sentence(self, quoted: str) -> bool:
        words = _words(quoted)
        if not words:
            return False
        return quoted.rstrip().endswith(_SPOKEN_MARKS) or self._endings.told(words[-1][-LONGEST:]) is not None

    def _sentence(self, words: list[str], length: int) -> tuple[_Clue, ...]:
        """Return the words that tell a sentence's level: none, one, or a polite and a plain one."""
        end = len(words) - 1
        last = words[end]
        if end < 2 and all(word in self._answers for word in words):
            return (_Clue(end, _POLITE, Told.ANSWER),)
        if last in self._cries and all(word in self._cries for word in words):
            return ()
        if not end and not last.strip(self._cry_syllables):
            return ()
        told = self._endings.told
        says, place = told(last[-LONGEST:]), end
        if says is None and end and last in self._trailing:
            says, place = told(words[end - 1][-LONGEST:]), end - 1
        if says in _DECIDED:
            return (_Clue(place, says, Told.ENDING),)
        if end:
            inner = self._inside(words, end)
            if inner is not None:
                polite = _Clue(inner, _POLITE, Told.INSIDE)
                mixed = says in _PLAINLY and last[-1] not in "야아" and inner < end - 1
                return (polite, _Clue(place, says or _PLAIN, Told.ENDING)) if mixed else (polite,)
        if says is not None:
            if says == _PLAIN and length < _SHORT and words[0] in self._cries and last[-1] in _CRIED:
                return (_Clue(place, _MUSING, Told.CRIED),)
            return (_Clue(place, says, Told.ENDING),)
        strong = self._strong.told
        for number in range(end):
            if strong(words[number][-LONGEST:]):
                return (_Clue(number, _PLAIN, Told.STRONG),)
        return ()

    def _cites(self, words: list[str]) -> bool:
        """Tell whether a sentence that begins like a citation cites the one before it: 뭐 해? 라고 물었어요."""
        return words[0] in self._citing_back or (len(words) > 1 and words[1].startswith(self._citing_deeds))

    def _inside(self, words: list[str], end: int) -> int | None:
        """Return the number of the first word before the last that is polite and not cited, or None."""
        for number in range(end):
            word = words[number]
            # Only these end a sentence inside another; the spellings of chat are too short to be sure there.
            if word[-1] in _INNER and word not in self._answers:
                says = self._endings.told(word[-LONGEST:])
                if says in _SOFT and not words[number + 1].startswith(self._citing):
                    return number
        return None

    def _level(
        self, spoken: Folded, clues: list[tuple[str, Told, int, int]], sentences: int, *, hangul: bool
    ) -> Spoken:
        says = [clue[0] for clue in clues]
        polite, leaning, plain, musing, old = map(says.count, _COUNTED)
        if leaning and not polite and not old and (match := self._old_address(spoken.text)):
            old = 1
            clues.append((_OLD, Told.ADDRESS, *match.span()))
        if not sentences and (match := self._plain_jamo(spoken.text)):
            plain = 1
            clues.append((_PLAIN, Told.JAMO, *match.span()))
        is_humble = False
        if not (polite or leaning or plain or old) and (humble := self._humble_word(spoken.text)):
            is_humble = True
            clues.append((_POLITE, Told.HUMBLE, *humble.span()))
        if musing:
            if polite or leaning or is_humble:
                clues = [clue for clue in clues if clue[0] != _MUSING]
            else:
                plain += musing
        if old and not polite:
            speech = Speech(Observed.OLD.value, 0, plain, suspect=False, old=old + leaning)
        elif polite or leaning:
            level = _MIXED_LEVEL if plain else _POLITE_LEVEL
            silent = polite + leaning + plain < sentences
            speech = Speech(level, polite + leaning, plain, suspect=False, silent=silent)
        elif plain:
            speech = Speech(_PLAIN_LEVEL, 0, plain, suspect=False, silent=plain < sentences)
        elif is_humble:
            speech = Speech(_POLITE_LEVEL, 0, 0, suspect=False)
        else:
            return Spoken(Speech(None, 0, 0, suspect=False, unclear=hangul), ())
        if spoken.starts is None:
            return Spoken(speech, tuple([WordWitness(*clue) for clue in clues]))
        return Spoken(
            speech, tuple(WordWitness(why, told, *spoken.span(start, end)) for why, told, start, end in clues)
        )

    def _humble_word(self, text: str) -> re.Match[str] | None:
        return next((match for match in _each_word(text) if match[0] in self._humble), None)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _only(text: str, spans: list[tuple[int, int]]) -> str:
    """Keep some stretches of a text in their places, and let nothing but line breaks stand between them."""
    kept, place = [], 0
    for start, end in spans:
        kept += ["\n" * (start - place), text[start:end]]
        place = end
    return "".join([*kept, "\n" * (len(text) - place)])


def _placed(clue: _Clue, words: list[str], part: str, place: int) -> tuple[str, Told, int, int]:
    """Give a clue its place in the text."""
    word = words[clue.word]
    if clue.word == len(words) - 1:
        start = part.rfind(word)
    else:
        start = next(match.start() for number, match in enumerate(_each_word(part)) if number == clue.word)
    return clue.says, clue.told, place + start, place + start + len(word)
