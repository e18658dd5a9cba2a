"""What a public list of terms meets in clean chat and in abusive comments, by profile and by how it is written."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from rules.hangul import jamo
from rules.profile import EXTENDED_NAME, SEED
from schemas.lexicon import Entry
from schemas.profile import ExtendedProfile
from service.workshop.accuracy_measures import Share
from service.workshop.accuracy_sets import Sets, is_in
from service.workshop.instruments import Instrument, Meets, extended, seed
from service.workshop.proposing import ANY, WORD
from service.workshop.same import is_syllables, plain_form, unspaced
from service.workshop.trying import try_lexicon, with_proposal
from service.workshop.words import everyday_chat

PROPOSED: Final = "proposed by lexicon try"
AS_GIVEN: Final = "as given"
_SEPARATORS: Final = ("~", ".", "-", "*", " ", "\n", "   ", "\u200b", "\u3164")
_SHORT: Final = range(2, 5)

Error = dict[str, Any]


class Written(NamedTuple):
    """A way of writing the list: which profile reads it, how its rows are made, whether with the contexts."""

    profile: str
    modes: str
    with_contexts: bool


class TermsMet(NamedTuple):
    """Lines met: of clean chat (false), of abusive comments (wanted), of comments marked as not abusive."""

    written: Written
    clean: Share
    abusive: Share
    civil: Share


class Evasion(NamedTuple):
    """The share of terms found in an evading spelling."""

    spelling: str
    seed: Share
    extended: Share


class Terms(NamedTuple):
    """What was measured of the list; contexts of the half that are flagged without being listed themselves."""

    met: tuple[TermsMet, ...]
    evasions: tuple[Evasion, ...]
    contexts: tuple[tuple[str, Share], ...]


def measure_terms(sets: Sets, profile: ExtendedProfile, errors: list[Error]) -> Terms | None:
    """Measure both profiles; None where a set is missing. Lines of clean chat that are met go to `errors`."""
    if sets.terms is None or sets.clean is None or sets.abusive is None or sets.civil is None:
        return None
    instruments = {each.name: each for each in (seed(), extended(profile))}
    lists = _lists(sets.terms, profile)
    met = []
    for written in _ways(sets.contexts):
        entries = lists[written.modes]
        if written.with_contexts:
            entries = with_contexts(entries, sets.contexts or ())
        meets = instruments[written.profile].search(entries)
        clean = _met(meets, sets.clean)
        for text, places in clean:
            terms = [entries[place].term for place in sorted(places)]
            errors.append({"part": "terms", **written._asdict(), "terms": terms, "text": text})
        met.append(
            TermsMet(
                written, Share(len(clean), len(sets.clean)), _share(meets, sets.abusive), _share(meets, sets.civil)
            )
        )
    return Terms(tuple(met), tuple(_evasions(sets, instruments)), tuple(_held_out(sets, instruments, lists)))


def with_contexts(entries: Sequence[Entry], contexts: Sequence[str]) -> list[Entry]:
    """Return rows with the contexts that hold their term, besides those they have."""
    forms = [(context, unspaced(context)) for context in contexts]
    changed = []
    for entry in entries:
        term = unspaced(entry.term)
        own = [context for context, form in forms if term and term in form]
        changed.append(entry._replace(except_=(*(entry.except_ or ()), *own) or None))
    return changed


def _lists(terms: Sequence[tuple[str, str]], profile: ExtendedProfile) -> dict[str, list[Entry]]:
    given = [Entry(term, topic, place) for place, (term, topic) in enumerate(terms, start=1)]
    topics = {topic for _, topic in terms}
    tried = try_lexicon(given, everyday_chat(), profile, topics)
    return {
        AS_GIVEN: given,
        ANY: [entry._replace(mode=ANY) for entry in given],
        WORD: [entry._replace(mode=WORD) for entry in given],
        PROPOSED: [with_proposal(one.entry, one.proposal) for one in tried],
    }


def _ways(contexts: Sequence[str] | None) -> Iterator[Written]:
    yield Written(SEED.name, AS_GIVEN, with_contexts=False)
    for modes in (AS_GIVEN, WORD, ANY, PROPOSED):
        for with_them in (False, True) if contexts else (False,):
            yield Written(EXTENDED_NAME, modes, with_them)


def _met(meets: Meets, texts: Sequence[str]) -> list[tuple[str, frozenset[int]]]:
    found = ((text, meets(text).hits) for text in texts)
    return [(text, hits) for text, hits in found if hits]


def _share(meets: Meets, texts: Sequence[str]) -> Share:
    return Share(len(_met(meets, texts)), len(texts))


def _evasions(sets: Sets, instruments: dict[str, Instrument]) -> Iterator[Evasion]:
    """Hide the list's terms of the half, of two to four syllables, in ten ways."""
    forms = dict.fromkeys(plain_form(term) for term, _ in sets.terms or ())
    held = [form for form in forms if len(form) in _SHORT and is_syllables(form) and is_in(form, sets.half)]
    entries = [Entry(form, "욕설", place, ANY) for place, form in enumerate(held)]
    meets = {name: instrument.search(entries) for name, instrument in instruments.items()}
    for spelling, hide in _HIDING:
        shares = [
            Share(sum(place in meets[name](f"아 {hide(form)} 진짜").hits for place, form in enumerate(held)), len(held))
            for name in (SEED.name, EXTENDED_NAME)
        ]
        yield Evasion(spelling, *shares)


def _apart(separator: str) -> Callable[[str], str]:
    return lambda term: separator.join(term)


def _initials(term: str) -> str:
    return "".join(jamo(syllable)[0] for syllable in term)


_HIDING: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    *((f"{name} between", _apart(separator)) for name, separator in zip(
        ("~", ".", "-", "*", "a space", "a line break", "three spaces", "a zero-width space", "a Hangul filler"),
        _SEPARATORS, strict=True,
    )),
    ("single jamo", lambda term: "".join(map(jamo, term))),
    ("first syllable half", lambda term: jamo(term[0])[0] + term[1:]),
    ("a digit between", _apart("1")),
    ("an emoji between", _apart("😊")),
    ("initials only", _initials),
)  # fmt: skip


def _held_out(
    sets: Sets, instruments: dict[str, Instrument], lists: dict[str, list[Entry]]
) -> Iterator[tuple[str, Share]]:
    """Flag the contexts of the half, which are innocent, with those of the other half as `except`."""
    contexts = [context for context in sets.contexts or () if is_in(context, sets.half)]
    others = [context for context in sets.contexts or () if not is_in(context, sets.half)]
    letters = instruments[SEED.name].search(lists[AS_GIVEN])
    holding = [context for context in contexts if letters(context).hits]
    for modes in (WORD, ANY, PROPOSED):
        for name, entries in (
            (modes, lists[modes]),
            (f"{modes}, others as except", with_contexts(lists[modes], others)),
        ):
            yield name, _share(instruments[EXTENDED_NAME].search(entries), holding)
