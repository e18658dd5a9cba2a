"""How a term is spelled to slip past a list: as single jamo, half so, or on a Latin keyboard."""

from typing import Final

from rules.hangul import is_syllable, jamo

# The keys of the Korean standard keyboard (두벌식, KS X 5002).
_LETTERS: Final = (
    "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣㄳㄵㄶㄺㄻㄼㄽㄾㄿㅀㅄ"
)
_TYPED: Final = (
    "r R s e E f a q Q t T d w W c z x v g k o i O j p u P h hk ho hl y n nj np nl b m ml l "
    "rt sw sg fr fa fq ft fx fv fg qt"
)
_KEYS: Final = dict(zip(_LETTERS, _TYPED.split(), strict=True))
_SYLLABLES: Final = range(2, 5)
_FEWEST_KEYS: Final = 4


def spellings(term: str, *, as_word: bool) -> frozenset[str]:
    """Return other spellings of a term of two to four syllables; of any other none.

    A term that must stand as a word has but one: nobody writes all its jamo apart by accident.
    """
    if len(term) not in _SYLLABLES or not all(map(is_syllable, term)):
        return frozenset()
    apart = [jamo(syllable) for syllable in term]
    if as_word:
        return frozenset({"".join(apart)})
    keys = "".join(_KEYS[letter] for letters in apart for letter in letters).casefold()
    found = {"".join(apart)} | ({keys} if len(keys) >= _FEWEST_KEYS else set())
    found.update(term[:place] + letters[0] + term[place + 1 :] for place, letters in enumerate(apart))
    return frozenset(found)
