"""Try a lexicon on clean chat: what each term meets, as it is and as it is proposed to be (issue 5, item 3)."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from rules.extended.nouns import Followers
from schemas.lexicon import Entry
from schemas.profile import ExtendedProfile
from service.errors import OperatorError
from service.files.readers import opened, say_on_stderr, shown
from service.workshop.concordance import Occurrence, concordance
from service.workshop.instruments import Instrument, extended
from service.workshop.proposing import Proposal, inside_nouns, is_anywhere, propose
from service.workshop.same import plain_form

_ENCODINGS: Final = ("utf-8-sig", "cp949")


class Lines(NamedTuple):
    """Numbers of lines that a row meets: to the letter, as a hit, and for review."""

    letters: tuple[int, ...]
    hits: tuple[int, ...]
    review: tuple[int, ...]


class Tried(NamedTuple):
    """A row with its occurrences, what it meets now, what is proposed, and what it would meet then."""

    entry: Entry
    occurrences: tuple[Occurrence, ...]
    now: Lines
    proposal: Proposal
    then: Lines


def read_text(path: str) -> tuple[str, list[str]]:
    """Read clean chat, a line each, and return its name in reports and the lines that are not blank.

    Raises:
        OperatorError: it is missing, cannot be read, or is neither UTF-8 nor CP949.
    """
    with opened(path, again=False) as file:
        raw = file.read()
    for encoding in _ENCODINGS:
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding != _ENCODINGS[0]:
            say_on_stderr(f"{shown(path)}: not UTF-8, read as CP949")
        return shown(path), [line for line in text.splitlines() if line.strip()]
    raise OperatorError(f"{shown(path)}: expected text in UTF-8 or CP949")


def try_lexicon(
    entries: Sequence[Entry], lines: Sequence[str], profile: ExtendedProfile, anywhere: Iterable[str] = ()
) -> list[Tried]:
    """Try rows on clean chat; `anywhere` names topics whose terms are meant wherever they stand."""
    named = tuple(anywhere)
    instrument, followers = extended(profile), Followers(profile.nouns)
    terms = [entry.term for entry in entries]
    occurrences, nouns = concordance(terms, lines), inside_nouns(terms, profile.nouns)
    proposals = [
        propose(
            entry,
            found,
            anywhere=is_anywhere(entry.topic, named),
            followers=followers,
            nouns=nouns.get(plain_form(entry.term), ()),
        )
        for entry, found in zip(entries, occurrences, strict=True)
    ]
    changed = [with_proposal(entry, proposal) for entry, proposal in zip(entries, proposals, strict=True)]
    now, then = _met(instrument, entries, occurrences, lines), _met(instrument, changed, occurrences, lines)
    return [
        Tried(entry, tuple(found), before, proposal, after)
        for entry, found, before, proposal, after in zip(entries, occurrences, now, proposals, then, strict=True)
    ]


def with_proposal(entry: Entry, proposal: Proposal) -> Entry:
    """Return a row as it is proposed to be."""
    return entry._replace(mode=proposal.mode, except_=proposal.except_ or None)


def _met(
    instrument: Instrument,
    entries: Sequence[Entry],
    occurrences: Sequence[Sequence[Occurrence]],
    lines: Sequence[str],
) -> list[Lines]:
    meets = instrument.search(entries)
    hits: list[list[int]] = [[] for _ in entries]
    review: list[list[int]] = [[] for _ in entries]
    for number, line in enumerate(lines):
        met = meets(line)
        for place in met.hits:
            hits[place].append(number)
        for place in met.review:
            review[place].append(number)
    letters = (tuple(dict.fromkeys(occurrence.line for occurrence in found)) for found in occurrences)
    return [Lines(stands, tuple(hit), tuple(unsure)) for stands, hit, unsure in zip(letters, hits, review, strict=True)]
