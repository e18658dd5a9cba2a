"""The relations of a card that a user's message asks with: by the longest word, and by words of one meaning."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from rules.extended.fold import Folded
from rules.extended.nouns import Followers, around, either
from schemas.profile import KinTables
from schemas.witness import Way


class Asking(NamedTuple):
    """A role of the card, by its place, and where the message asks with it."""

    place: int
    way: Way
    start: int
    end: int


class RoleWords(NamedTuple):
    """The roles of one card, folded, and what finds them and all words for relations in a message."""

    roles: tuple[str, ...]
    each: Callable[[str], Iterator[re.Match[str]]]


class Kinship:
    """The table of words for relations, ready to be asked."""

    def __init__(self, tables: KinTables, followers: Followers) -> None:
        """Index the table."""
        self._followers = followers
        self._class_of = {word: number for number, words in enumerate(tables.classes) for word in words}
        self._kinds = frozenset(tables.kinds)
        self._owners = frozenset(("", *tables.owners))
        self._asking = tables.asking
        self._all = re.compile(either(self._class_of)).finditer

    def words(self, roles: tuple[str, ...]) -> RoleWords:
        """Make a card's roles ready, given as keys of terms."""
        if all(role in self._class_of for role in roles):
            return RoleWords(roles, self._all)
        # Of a role that shows nothing no letter is left, and nothing would be found everywhere.
        return RoleWords(roles, re.compile(either({*self._class_of, *filter(None, roles)})).finditer)

    def asked(self, message: Folded, words: RoleWords) -> tuple[Asking, ...]:
        """Return the roles a message (without case) asks with, each once, in the card's order."""
        found: dict[int, Asking] = {}
        for match in words.each(message.text):
            left, right = around(message.text, match.start(), match.end())
            if left in self._owners and self._may_follow(match[0], right):
                for place, way in self._meant(match[0], words.roles):
                    found.setdefault(place, Asking(place, way, *message.span(*match.span())))
        return tuple(found[place] for place in sorted(found))

    def _may_follow(self, word: str, rest: str) -> bool:
        return self._followers.follows(word[-1], rest, 2) or rest.startswith(self._asking)

    def _meant(self, word: str, roles: tuple[str, ...]) -> list[tuple[int, Way]]:
        """Return the roles of a card that a word asks for; a wider or narrower one only where there is no other."""
        number = self._class_of.get(word, -1)
        same = [
            (place, Way.WHOLE if role == word else Way.CLASS)
            for place, role in enumerate(roles)
            if role == word or self._class_of.get(role, -2) == number
        ]
        return same or [
            (place, Way.KIND)
            for place, role in enumerate(roles)
            if (role, word) in self._kinds or (word, role) in self._kinds
        ]
