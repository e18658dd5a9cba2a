"""Both sides of a change: what turns are judged by before and after it, or verdicts and those of an earlier run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from rules.hangul import is_syllable
from schemas.nfc import nfc
from schemas.profile import Ending, ExtendedProfile, Says
from service.decode import Caps
from service.errors import OperatorError
from service.evaluate.judging import Identity, Judged
from service.files.readers import Refused, read_cards, read_lexicon
from service.profiles import AnyProfile, read_profiles
from service.snapshot import Snapshot, snapshot

# A turn before and after; None where that side does not have it.
Sides = tuple[Judged | None, Judged | None]


class Changes(NamedTuple):
    """What is changed: cards, the lexicon and the profile's words by file, endings added to it, or another profile."""

    cards: Sequence[str] = ()
    lexicon: str | None = None
    endings: Sequence[str] = ()
    profile: str | None = None
    profile_file: Path | None = None

    def said(self) -> tuple[str, ...]:
        """Say what is changed, a line a thing."""
        lines = [f"카드 {PurePath(path).name}" for path in self.cards]
        lines += [f"사전 {PurePath(self.lexicon).name}"] if self.lexicon else []
        lines += [f"프로필 {self.profile}"] if self.profile else []
        lines += [f"프로필 파일 {self.profile_file.name}"] if self.profile_file else []
        return (*lines, *(f"종결 어미 「{ending}」 더함" for ending in self.endings))


class BothSides(NamedTuple):
    """Snapshots before and after a change, and the rows of their files that were refused."""

    before: Snapshot
    after: Snapshot
    refused: tuple[Refused, ...]


def both_sides(cards: str, lexicon: str, profile: tuple[str, Path | None], changes: Changes, caps: Caps) -> BothSides:
    """Read cards and lexicon, and what is to change; `profile` is a name and the file of its words.

    A changed card stands for the one with its character_id; a changed lexicon, or file of words, for the whole.

    Raises:
        OperatorError: a file is missing, or an ending is not Hangul.
    """
    old_cards, old_entries = read_cards(cards, caps), read_lexicon(lexicon, caps)
    refused = old_cards.refused + old_entries.refused
    by_id = {card.character_id: card for card in old_cards.records}
    for path in changes.cards:
        taken = read_cards(path, caps)
        refused += taken.refused
        by_id.update((card.character_id, card) for card in taken.records)
    entries = old_entries.records
    if changes.lexicon:
        new_entries = read_lexicon(changes.lexicon, caps)
        refused += new_entries.refused
        entries = new_entries.records
    name, words = profile
    changed = (
        _with_endings(each, changes.endings)
        for each in read_profiles(changes.profile or name, changes.profile_file or words)
    )
    before = snapshot(old_cards.records, old_entries.records, *read_profiles(name, words))
    return BothSides(before, snapshot(by_id.values(), entries, *changed), refused)


def _with_endings(profile: AnyProfile, endings: Sequence[str]) -> AnyProfile:
    folded = tuple(dict.fromkeys(nfc(ending).strip() for ending in endings))
    for ending in folded:
        if not ending or not all(map(is_syllable, ending)):
            raise OperatorError("--add-ending: expected an ending in Hangul syllables, as in 습니까")
    if not folded:
        return profile
    if isinstance(profile, ExtendedProfile):
        rows = (Ending(Says.POLITE, folded), *profile.speech.endings)
        return profile._replace(speech=profile.speech._replace(endings=rows))
    polite = profile.polite + tuple(ending for ending in folded if ending not in profile.polite)
    return profile._replace(polite=polite)


def against(earlier: Mapping[Identity, Judged], rows: Iterable[Judged | Refused]) -> Iterator[Sides | Refused]:
    """Yield each turn with its earlier verdict, then the earlier ones that no turn met."""
    met: set[Identity] = set()
    for row in rows:
        if isinstance(row, Refused):
            yield row
        else:
            met.add(row.identity)
            yield earlier.get(row.identity), row
    for identity, judged in earlier.items():
        if identity not in met:
            yield judged, None
