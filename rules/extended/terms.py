"""Lexicon terms in a reply, each as a hit or for review (issue 5).

A term of mode `word` stands as a word of its own, with what Korean writes on to a noun; one of mode `any` stands
anywhere, also in other spellings. Both are seen through marks and spaces put between single syllables.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from ahocorasick_rs import BytesAhoCorasick

from rules.extended.fold import Folded, Folding
from rules.extended.nouns import Followers, around, suffix_then
from rules.extended.spelling import spellings
from rules.hangul import is_syllable
from rules.lexicon import Hit
from rules.places import Span, TermPlace, Unmet
from schemas.lexicon import Entry
from schemas.nfc import nfc
from schemas.witness import TermWitness, Tier, Way

_MARKS: Final = r"[~.\-_*^·,!@#/|+=]"
_marked = re.compile(f"(?<![가-힣])[가-힣](?:{_MARKS}{{1,3}}[가-힣](?![가-힣]))*{_MARKS}{{1,3}}[가-힣]+").finditer
_spaced = re.compile(r"(?<![가-힣])[가-힣](?:\s{1,2}[가-힣](?![가-힣]))+").finditer
_has_marked = re.compile(f"[가-힣]{_MARKS}{{1,3}}[가-힣]").search
_has_spaced = re.compile(r"\b[가-힣]\s{1,2}[가-힣]\b").search
_spaces = re.compile(r"\s+").sub
_WORD: Final = "word"
# How far an innocent context may reach to either side of a term.
_CONTEXT: Final = 24


class _Term(NamedTuple):
    """A folded term: its lexicon rows, whether it must be a word, and contexts in which it is innocent."""

    text: str
    hits: tuple[Hit, ...]
    as_word: bool
    innocent: tuple[str, ...]


class _Pattern(NamedTuple):
    """What is searched for: a term or a spelling of it."""

    text: str
    term: _Term
    way: Way
    kind: int


_HANGUL, _LATIN, _ONE_JAMO, _OTHER = range(4)


class Found(NamedTuple):
    """The rows found in a reply, in the lexicon's order: hits, those for review, and the witness of each."""

    hits: tuple[Hit, ...]
    review: tuple[Hit, ...]
    witnesses: tuple[TermWitness, ...]


NO_TERMS: Final = Found((), (), ())


class TermIndex:
    """A lexicon, ready to be searched for."""

    def __init__(self, entries: Iterable[Entry], folding: Folding, followers: Followers) -> None:
        """Index rows given in the lexicon's order."""
        self._followers = followers
        self._terms = {term.text: term for term in _terms(entries, folding)}
        self._nouns = (followers.common, frozenset(self._terms))
        patterns: dict[str, _Pattern] = {}
        for term in self._terms.values():
            patterns[term.text] = _Pattern(term.text, term, Way.WHOLE, _kind(term.text))
        for term in self._terms.values():
            for text in sorted(spellings(term.text, as_word=term.as_word)):
                patterns.setdefault(text, _Pattern(text, term, Way.SPELLED, _kind(text)))
        self._patterns = tuple(patterns.values())
        texts = [pattern.text.encode() for pattern in self._patterns]
        self._search = BytesAhoCorasick(texts).find_matches_as_indexes if texts else None

    def find(self, folded: Folded) -> Found:
        """Search a folded reply without case."""
        text = folded.text
        best: dict[str, tuple[Tier, Way, int, int]] = {}
        for pattern, start, end in self._matches(text):
            known = best.get(pattern.term.text)
            if known is None or known[0] is Tier.REVIEW:
                tier = self._tier(text, pattern, start, end)
                if tier is not None and (known is None or tier is Tier.HIT):
                    best[pattern.term.text] = tier, pattern.way, start, end
        for pattern, start, end in self._all_apart(text):
            known = best.get(pattern.term.text)
            if known is None or known[0] is Tier.REVIEW:
                best[pattern.term.text] = Tier.HIT, Way.SPACED, start, end
        if not best:
            return NO_TERMS
        rows = sorted(
            (hit, TermWitness(hit.rank, tier, way, *folded.span(start, end)))
            for text, (tier, way, start, end) in best.items()
            for hit in self._terms[text].hits
        )
        return Found(
            tuple(hit for hit, witness in rows if witness.tier is Tier.HIT),
            tuple(hit for hit, witness in rows if witness.tier is Tier.REVIEW),
            tuple(witness for _, witness in rows),
        )

    def _matches(self, text: str) -> Iterator[tuple[_Pattern, int, int]]:
        """Yield what the automaton finds, in the order of ends; it counts bytes, we count code points."""
        raw = text.encode()
        found = self._search(raw, True) if self._search else None
        if not found:
            return
        counted = place = 0
        for number, _, end in found:
            if end > counted:
                place += len(raw[counted:end].decode())
                counted = end
            pattern = self._patterns[number]
            yield pattern, place - len(pattern.text), place

    def _tier(self, text: str, pattern: _Pattern, start: int, end: int) -> Tier | None:
        term = pattern.term
        if term.innocent and _is_innocent(text, pattern.text, start, end, term.innocent):
            return None
        before, after = text[start - 1 : start] if start else "", text[end : end + 1]
        if pattern.kind == _LATIN:
            return None if _is_latin(before) or _is_latin(after) else Tier.HIT
        if pattern.kind == _ONE_JAMO:
            return None if _is_hangul(before) or _is_hangul(after) else Tier.HIT
        if pattern.way is Way.SPELLED and (_is_jamo(before) or _is_jamo(after)):
            return None
        if not term.as_word or pattern.kind != _HANGUL:
            return Tier.HIT
        return self._as_word(text, pattern.text, start, end)

    def _as_word(self, text: str, term: str, start: int, end: int) -> Tier | None:
        """Judge by what stands on both sides in the same word."""
        left, right = around(text, start, end)
        if len(term) == 1:
            return Tier.HIT if not left and self._followers.follows(term, right, 1) else None
        if left and not (len(left) > 1 and any(left in nouns for nouns in self._nouns)):
            return None
        follows = self._followers.follows(term[-1], right, len(term))
        return Tier.HIT if follows or suffix_then(self._followers, self._nouns, right) else Tier.REVIEW

    def _apart(self, runs: Iterator[re.Match[str]], *, spaced: bool) -> Iterator[tuple[_Pattern, int, int]]:
        """Yield the terms whose syllables stand apart in a run; they are hits where they stand."""
        for run in runs:
            places = [place for place, character in enumerate(run[0], run.start()) if is_syllable(character)]
            joined = "".join(map(run.string.__getitem__, places))
            for pattern, start, end in self._matches(joined):
                if end - start < 2 or pattern.way is Way.SPELLED or _touch(places[start:end]):
                    continue
                whole = start == 0 and self._followers.follows(joined[end - 1], joined[end:], 2)
                if spaced or whole:
                    yield pattern, places[start], places[end - 1] + 1

    def _all_apart(self, text: str) -> Iterator[tuple[_Pattern, int, int]]:
        if _has_marked(text):
            yield from self._apart(_marked(text), spaced=False)
        if _has_spaced(text):
            yield from self._apart(_spaced(text), spaced=True)

    def places(self, folded: Folded) -> tuple[TermPlace, ...]:
        """Return every place of every term in a folded reply without case, also where it does not count.

        Rows stand in the lexicon's order, places of one row in the text's.
        """
        text, places = folded.text, []
        for pattern, start, end in self._matches(text):
            tier = self._tier(text, pattern, start, end)
            unmet = None
            if tier is None:
                innocent = _is_innocent(text, pattern.text, start, end, pattern.term.innocent)
                unmet = Unmet.EXCEPT if innocent else Unmet.PART
            place = Span(*folded.span(start, end))
            places += [TermPlace(hit, place, pattern.way, tier, unmet) for hit in pattern.term.hits]
        for pattern, start, end in self._all_apart(text):
            place = Span(*folded.span(start, end))
            places += [TermPlace(hit, place, Way.SPACED, Tier.HIT) for hit in pattern.term.hits]
        return tuple(sorted(places, key=lambda place: (place.hit, place.place)))


def _touch(places: list[int]) -> bool:
    """Tell whether some of the places are neighbours, so that the syllables there do not stand apart."""
    return any(after - before == 1 for before, after in pairwise(places))


def _terms(entries: Iterable[Entry], folding: Folding) -> Iterator[_Term]:
    hits: dict[str, list[Hit]] = {}
    modes: dict[str, bool] = {}
    innocent: dict[str, list[str]] = {}
    for rank, entry in enumerate(entries):
        text = folding.key(entry.term.strip())
        if text:
            hits.setdefault(text, []).append(Hit(rank, entry, nfc(entry.topic)))
            # Of rows with one term the first that has a mode decides.
            if entry.mode is not None:
                modes.setdefault(text, entry.mode == _WORD)
            innocent.setdefault(text, []).extend(_spaces("", folding.key(each)) for each in entry.except_ or ())
    for text, rows in hits.items():
        as_word = modes.get(text, all(map(is_syllable, text)))
        yield _Term(text, tuple(rows), as_word, tuple(dict.fromkeys(innocent[text])))


def _kind(text: str) -> int:
    if all(map(is_syllable, text)):
        return _HANGUL
    if text.isascii():
        return _LATIN
    return _ONE_JAMO if len(text) == 1 and _is_jamo(text) else _OTHER


def _is_latin(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _is_jamo(character: str) -> bool:
    return "ㄱ" <= character <= "ㅣ"


def _is_hangul(character: str) -> bool:
    return "가" <= character <= "힣" or _is_jamo(character)


def _is_innocent(text: str, found: str, start: int, end: int, contexts: tuple[str, ...]) -> bool:
    """Tell whether a context covers a match; spaces do not count."""
    left = _spaces("", text[max(0, start - _CONTEXT) : start])
    right = _spaces("", text[end : end + _CONTEXT])
    for context in contexts:
        place = context.find(found)
        while place >= 0:
            if left.endswith(context[:place]) and right.startswith(context[place + len(found) :]):
                return True
            place = context.find(found, place + 1)
    return False
