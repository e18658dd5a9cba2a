"""An output against groups and banned words: what was met by which words where, what was missed, what is banned."""

from typing import NamedTuple

from rules.folding import Folded
from rules.oracle.criteria import Criteria
from rules.oracle.matcher import Matcher, Places


class Place(NamedTuple):
    """A stretch of the output as it came: code points from `start` up to `end`, and how it reads."""

    start: int
    end: int
    text: str


class Found(NamedTuple):
    """An entry as it is written, and where it stands: the first places, from left to right, and if there are more."""

    entry: str
    places: tuple[Place, ...]
    are_more: bool


class Met(NamedTuple):
    """A group, and those of its entries that stand in the output; it is missed when there are none."""

    group: tuple[str, ...]
    by: tuple[Found, ...]


class Words(NamedTuple):
    """Every group in the order of the criteria, and the banned entries that stand in the output."""

    groups: tuple[Met, ...]
    banned: tuple[Found, ...]

    @property
    def missed(self) -> tuple[int, ...]:
        """The places of the groups that nothing met, from 0."""
        return tuple(place for place, met in enumerate(self.groups) if not met.by)

    @property
    def hold(self) -> bool:
        """Whether every group is met and nothing is banned; a banned entry fails though all groups are met."""
        return not self.banned and all(met.by for met in self.groups)


def find_words(criteria: Criteria, matcher: Matcher, output: Folded) -> Words:
    """Hold an output against groups and banned words, both of which `matcher` was built of (spec 001, 1 and 2)."""
    standing = {entry: _found(entry, places, output) for entry, places in matcher.scan(output.text).items()}
    return Words(
        tuple([Met(group, _among(group, standing)) for group in criteria.groups]), _among(criteria.banned, standing)
    )


def _among(entries: tuple[str, ...], standing: dict[str, Found]) -> tuple[Found, ...]:
    if standing.keys().isdisjoint(entries):
        return ()
    return tuple([standing[entry] for entry in dict.fromkeys(entries) if entry in standing])


def _found(entry: str, places: Places, output: Folded) -> Found:
    return Found(entry, tuple([Place(*output.quote(start, end)) for start, end in places.spans]), places.are_more)
