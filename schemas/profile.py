"""The shapes of the judging profiles: the tables that a reading of a turn rests on."""

from enum import StrEnum
from typing import NamedTuple


class Profile(NamedTuple):
    """The tables a reading of speech rests on under `seed`.

    `marks` end a piece; `polite` are endings of a last word, Hangul syllables only; `honorific` are last-word forms
    that sound polite though `polite` lacks them, `honorific_after_bieup` the same after a syllable with final ㅂ
    (design sections 3 and 4).
    """

    name: str
    marks: str
    polite: tuple[str, ...]
    honorific: tuple[str, ...]
    honorific_after_bieup: tuple[str, ...]


class Says(StrEnum):
    """What an ending says of the speech level.

    `leaning` is polite unless the reply speaks in 하오체; `musing` is said to oneself or left hanging, and plain only
    where nothing in the reply is polite; `nothing` keeps a word from being read by a later row.
    """

    POLITE = "polite"
    LEANING = "leaning"
    PLAIN = "plain"
    MUSING = "musing"
    OLD = "old"
    NOTHING = "nothing"


class Ending(NamedTuple):
    """A row of the table of endings; the first row that a word fits decides.

    A word fits when it is one of `words`, or ends in one of `forms` and what stands before the form fits: a syllable
    of `after`, one whose final consonant is in `finals`, and at least `longer` syllables.
    """

    says: Says
    forms: tuple[str, ...] = ()
    after: str = ""
    finals: str = ""
    longer: int = 0
    words: tuple[str, ...] = ()


class FoldTable(NamedTuple):
    """Characters that a comparison leaves out, and those it takes for another (single characters, after NFC)."""

    dropped: str
    mapped: tuple[tuple[str, str], ...]


class SpeechTables(NamedTuple):
    """How a reply's words tell its level.

    `endings` of a sentence, `strong` ones that tell 반말 also inside it; words that answer alone, cry out, trail behind
    an ending, humble the speaker, or address in 하오체 (`old_words`, less `old_not`); `jamo_plain` are jamo that answer
    in 반말; `citing` starts a word after what is cited. A sentence cites the one before it when it begins with a word
    of `citing_back`, or with one of `citing_with` and a word that begins like `citing_deeds`. The rest says how an
    ending is drawn out.
    """

    endings: tuple[Ending, ...]
    strong: tuple[Ending, ...]
    answers: tuple[str, ...]
    cries: tuple[str, ...]
    cry_syllables: str
    trailing: tuple[str, ...]
    humble: tuple[str, ...]
    old_words: tuple[str, ...]
    old_not: tuple[str, ...]
    jamo_plain: tuple[str, ...]
    citing: tuple[str, ...]
    citing_back: tuple[str, ...]
    citing_with: tuple[str, ...]
    citing_deeds: tuple[str, ...]
    drawn: str
    drawn_after: str
    coda: str
    coda_not: str
    playful: str


class NounTables(NamedTuple):
    """What may follow a noun: particles by the final sound before them, auxiliaries, verbs, suffixes; common nouns.

    `verbal_one` are verbs behind a noun of one syllable, `verbal` those behind longer ones.
    """

    any_final: tuple[str, ...]
    after_vowel: tuple[str, ...]
    after_consonant: tuple[str, ...]
    after_rieul: tuple[str, ...]
    auxiliary: tuple[str, ...]
    verbal: tuple[str, ...]
    verbal_one: tuple[str, ...]
    suffixes: tuple[str, ...]
    common: tuple[str, ...]


class NameTables(NamedTuple):
    """Surnames, what honours a name behind it, what calls it, and what stands before it in one word."""

    surnames: tuple[str, ...]
    honorifics: tuple[str, ...]
    calling: tuple[str, ...]
    before: tuple[str, ...]


class KinTables(NamedTuple):
    """Words for relations: classes of one meaning, kinds (narrow, wide), owners before and what is asked behind."""

    classes: tuple[tuple[str, ...], ...]
    kinds: tuple[tuple[str, str], ...]
    owners: tuple[str, ...]
    asking: tuple[str, ...]


class ExtendedProfile(NamedTuple):
    """The tables of the `extended` profile (issue 5)."""

    name: str
    fold: FoldTable
    speech: SpeechTables
    nouns: NounTables
    names: NameTables
    kin: KinTables
