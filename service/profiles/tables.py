"""Read the tables of the `extended` profile from the data files beside this module."""

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any

from rules.hangul import FINALS, INITIALS, VOWELS
from rules.profile import EXTENDED_NAME
from schemas.profile import (
    Ending,
    ExtendedProfile,
    FoldTable,
    KinTables,
    NameTables,
    NounTables,
    Says,
    SpeechTables,
)


@lru_cache(1)
def shipped() -> ExtendedProfile:
    """Return the profile as it is shipped; the files are read once."""
    names, kin = _table("names")["names"], _table("kinship")["kinship"]
    return ExtendedProfile(
        name=EXTENDED_NAME,
        fold=_fold(_table("fold")),
        speech=_speech(_table("speech")),
        nouns=_nouns(_table("nouns"), _table("common_nouns")),
        names=NameTables(*(_words(names[key]) for key in NameTables._fields)),
        kin=KinTables(
            classes=_lines(kin["classes"]),
            kinds=tuple((narrow, wide) for narrow, wide in _lines(kin["kinds"])),
            owners=_words(kin["owners"]),
            asking=_words(kin["asking"]),
        ),
    )


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.split()))


def _lines(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(line.split()) for line in text.splitlines() if line.strip())


def _fold(table: dict[str, Any]) -> FoldTable:
    dropped = ""
    for span in table["dropped"].split():
        first, _, last = span.partition("-")
        dropped += "".join(map(chr, range(int(first, 16), int(last or first, 16) + 1)))
    wide = [(chr(0xFF01 + place), chr(0x21 + place)) for place in range(94)] + [("\u3000", " "), ("\u00a0", " ")]
    jamo = [
        (chr(first + place), letter)
        for first, letters in ((0x1100, INITIALS), (0x1161, VOWELS), (0x11A8, FINALS.strip()))
        for place, letter in enumerate(letters)
    ]
    pairs = [(pair[0], pair[1]) for pair in table["mapped"].split()]
    return FoldTable(dropped, tuple(wide + jamo + pairs))


def _speech(table: dict[str, Any]) -> SpeechTables:
    words, drawn = table["words"], table["drawn"]
    return SpeechTables(
        endings=tuple(map(_ending, table["endings"])),
        strong=tuple(map(_ending, table["strong"])),
        cry_syllables=words["cry_syllables"],
        **{name: _words(text) for name, text in words.items() if name not in ("source", "cry_syllables")},
        drawn=drawn["vowels"],
        drawn_after=drawn["after"],
        coda=drawn["coda"],
        coda_not=drawn["coda_not"],
        playful=drawn["playful"],
    )


def _ending(row: dict[str, Any]) -> Ending:
    return Ending(
        Says(row["says"]),
        _words(row.get("forms", "")),
        row.get("after", ""),
        row.get("finals", ""),
        row.get("longer", 0),
        _words(row.get("words", "")),
    )


def _nouns(table: dict[str, Any], common: dict[str, Any]) -> NounTables:
    particles, followers = table["particles"], table["followers"]
    return NounTables(
        **{
            name: _words(particles[name])
            for name in ("any_final", "after_vowel", "after_consonant", "after_rieul", "auxiliary")
        },
        verbal=_words(followers["verbal"]),
        verbal_one=_words(followers["verbal_one"]),
        suffixes=_words(followers["suffixes"]),
        common=_words(common["common"]["nouns"]),
    )
