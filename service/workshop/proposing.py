"""Propose how a term is to be searched for: as a word or anywhere, and where it is innocent (issue 5, item 1).

A term of a subject stands as a word. One that is meant wherever it stands, as an insult is, stands anywhere, unless it
sits inside two or more other words, or across a noun and its particle. Contexts come from the clean text and from the
table of homographs.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from ahocorasick_rs import AhoCorasick

from rules.extended.nouns import Followers, sound
from schemas.lexicon import Entry
from schemas.profile import NounTables
from service.workshop.concordance import Occurrence
from service.workshop.same import is_syllables, plain_form, unspaced
from service.workshop.words import homographs

WORD: Final = "word"
ANY: Final = "any"
# A topic whose name holds one of these is of things that are meant wherever they stand.
ANYWHERE: Final = ("욕", "비속어", "비하", "혐오", "모욕", "음담", "성희롱")
_FEW: Final = 2
_MOST_CONTEXTS: Final = 40


class Proposal(NamedTuple):
    """What a row should have: mode, contexts, and why, in Korean; `hosts` are the words that the term sits inside."""

    mode: str | None
    except_: tuple[str, ...]
    hosts: tuple[str, ...]
    reasons: tuple[str, ...]


def is_anywhere(topic: str, named: Iterable[str]) -> bool:
    """Tell whether a topic's terms are meant wherever they stand: one that is named, or whose name says so."""
    plain = plain_form(topic)
    return plain in {plain_form(name) for name in named} or any(mark in plain for mark in ANYWHERE)


def propose(
    entry: Entry, occurrences: Sequence[Occurrence], *, anywhere: bool, followers: Followers, nouns: Sequence[str]
) -> Proposal:
    """Propose for a row, by its occurrences in clean text and the nouns that its term sits inside.

    What the creator wrote stays: a mode is never changed, and contexts are only added.
    """
    term = plain_form(entry.term)
    if not is_syllables(term):
        return Proposal(entry.mode, tuple(entry.except_ or ()), (), ())
    known = homographs().get(term)
    contexts = known.contexts if known else ()
    hosts = Counter(_host(term, occurrence, followers) for occurrence in occurrences if occurrence.left)
    known_hosts = [unspaced(context) for context in contexts]
    inside = dict.fromkeys(
        host for host in (*hosts, *nouns) if not any(context in host or host in context for context in known_hosts)
    )
    mode = entry.mode or _mode(len(inside), anywhere=anywhere)
    shown = tuple(inside) if anywhere else tuple(host for host in inside if host in hosts)
    reasons = [] if entry.mode or mode is None else [_why_mode(mode, shown, anywhere=anywhere)]
    if mode == WORD:
        # Inside another word the term is not found anyway.
        contexts = tuple(context for context in contexts if _inner(term, context) is None)
    met = hosts if mode == ANY else Counter[str]()
    met = met + Counter(_starting(term, occurrences, followers, anywhere=anywhere))
    found = [host for host, _ in met.most_common(_MOST_CONTEXTS)]
    added = _new(entry, [*contexts, *found])
    if set(added) & set(found):
        reasons.append("본문에서 다른 낱말의 일부로 쓰인 문맥을 뺐습니다.")
    if known and set(added) & set(contexts):
        reasons.append(f"다른 뜻으로 쓰인 문맥을 뺐습니다: {known.sense}.")
    return Proposal(mode, (*(entry.except_ or ()), *added), tuple(inside), tuple(reasons))


def inside_nouns(terms: Sequence[str], tables: NounTables) -> dict[str, tuple[str, ...]]:
    """Return by term the listed nouns that hold it behind their first syllable, or, with a particle, across both."""
    forms = list(dict.fromkeys(filter(is_syllables, map(plain_form, terms))))
    if not forms:
        return {}
    matcher = AhoCorasick(forms, store_patterns=False)
    behind = (tables.after_vowel, tables.after_consonant, tables.after_consonant + tables.after_rieul)
    held: dict[str, dict[str, str]] = {}
    particles = [sorted(("", *tables.any_final, *each), key=len) for each in behind]
    for noun in tables.common:
        for particle in particles[sound(noun[-1])]:
            for index, start, end in matcher.find_matches_as_indexes(noun + particle, overlapping=True):
                if 0 < start < len(noun) and (end > len(noun) or end - start > 1):
                    held.setdefault(forms[index], {}).setdefault(noun, (noun + particle) if end > len(noun) else noun)
    return {term: tuple(nouns.values()) for term, nouns in held.items()}


def _mode(hosts: int, *, anywhere: bool) -> str:
    return ANY if anywhere and hosts < _FEW else WORD


def _why_mode(mode: str, inside: tuple[str, ...], *, anywhere: bool) -> str:
    shown = ", ".join(f"「{host}」" for host in inside[:3])
    if mode == ANY:
        return "그 밖에는 다른 낱말과 섞일 일이 드물어, 어디에 붙어 있어도 걸리게 했습니다."
    if inside and not anywhere:
        return f"낱말로 설 때만 걸리고 {shown}에서는 걸리지 않게 했습니다. 거기서도 막으려면 그 낱말을 사전에 더하세요."
    if inside:
        return f"{shown}처럼 다른 낱말 속에도 들어가서, 낱말로 설 때만 걸리게 했습니다."
    return "소재를 가리키는 낱말이라, 낱말로 설 때만 걸리게 했습니다."


def _starting(term: str, occurrences: Iterable[Occurrence], followers: Followers, *, anywhere: bool) -> Iterable[str]:
    """Yield the longer words that begin with the term; a compound of a subject is for the creator to judge."""
    for occurrence in occurrences:
        if occurrence.left or not is_syllables(occurrence.right) or len(term) == 1:
            continue
        if not followers.follows(term[-1], occurrence.right, len(term)):
            host = _host(term, occurrence, followers)
            beyond = host[len(term) :]
            if anywhere or beyond not in followers.suffixes:
                yield host


def _host(term: str, occurrence: Occurrence, followers: Followers) -> str:
    """Return the word that a term sits inside, without the particles behind it."""
    right = occurrence.right
    for length in range(len(right) + 1):
        word = occurrence.left + term + right[:length]
        if followers.is_particle(word[-1], right[length:]):
            return word
    return occurrence.left + term + right


def _inner(term: str, context: str) -> str | None:
    """Return the word of a context that holds a term behind its first syllable."""
    return next((word for word in context.split() if term in word[1:]), None)


def _new(entry: Entry, contexts: Iterable[str]) -> list[str]:
    """Return the contexts that a row does not have; one that another begins with or ends with is enough."""
    have = [unspaced(context) for context in entry.except_ or ()]
    added: list[str] = []
    for context in dict.fromkeys(contexts):
        form = unspaced(context)
        if not any(other in form for other in have):
            have.append(form)
            added.append(context)
    return added
