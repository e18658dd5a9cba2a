"""Names that name the same: with particles, with honorifics, with and without a surname; and names in a text."""

import re
from typing import NamedTuple

from rules.extended.fold import Folded, Folding
from rules.extended.nouns import Followers, around, either, sound
from rules.places import occurrences
from schemas.profile import NameTables
from schemas.witness import Tier, Way

_spaces = re.compile(r"\s+").sub
_QUOTES = "\"'“”‘’"
# A name is matched by its beginning only when it is this long.
_FEWEST = 2
_FULL_NAME = 3


class Mention(NamedTuple):
    """Where a text names somebody, and how sure that is."""

    tier: Tier
    start: int
    end: int


class Naming:
    """The tables of names, ready to be asked."""

    def __init__(self, tables: NameTables, folding: Folding, followers: Followers) -> None:
        """Compile the tables."""
        self._folding, self._followers = folding, followers
        self._surnames = frozenset(tables.surnames)
        self._before = frozenset(("", *tables.before))
        self._calling = frozenset(tables.calling)
        self._honour = re.compile(f" ?({either(tables.honorifics)})").match

    def key(self, name: str) -> str:
        """Return a name as names are compared."""
        return _spaces("", self._folding.key(name)).strip(_QUOTES)

    def match(self, name: str, canon: str) -> Way | None:
        """Tell how a name names a canon entity, both as keys; None when it does not.

        Nothing is stripped blindly: the canon name is tried as the beginning.
        """
        if name == canon:
            return Way.WHOLE
        if len(canon) >= _FEWEST and name.startswith(canon) and self._may_follow(canon, name[len(canon) :]):
            return Way.TAIL
        longer, shorter = (name, canon) if len(name) > len(canon) else (canon, name)
        if len(shorter) >= _FEWEST and longer.endswith(shorter) and longer[: -len(shorter)] in self._surnames:
            return Way.SURNAME
        return None

    def _may_follow(self, name: str, rest: str) -> bool:
        if self._followers.is_particle(name[-1], rest):
            return True
        if sound(name[-1]) and rest[0] == "이" and self._followers.is_particle("이", rest[1:]):
            return True
        honour = self._honour(rest)
        return honour is not None and self._followers.is_particle(rest[honour.end() - 1], rest[honour.end() :])

    def mention(self, text: Folded, name: str) -> Mention | None:
        """Return the surest place where a text (without case) names somebody, given as a key.

        It is for review where the name is also a common noun and nothing marks a person, where a surname stands
        before it, or where only the given part of a full name stands.
        """
        weak: Mention | None = None
        given = name[1:] if len(name) == _FULL_NAME and name[0] in self._surnames else None
        found = ((form, *place) for form in (name, given) if form is not None for place in occurrences(text.text, form))
        for form, start, end in found:
            left, right = around(text.text, start, end)
            if not right:
                right = self._honour_apart(text.text, end)
            tier = self._tier(left, form, right, is_whole=form == name)
            if tier is Tier.HIT:
                return Mention(tier, *text.span(start, end))
            if tier is not None and weak is None:
                weak = Mention(tier, *text.span(start, end))
        return weak

    def _honour_apart(self, text: str, end: int) -> str:
        """Return an honorific that stands behind a name and a space, with what follows it; else nothing."""
        honour = self._honour(text, end) if text[end : end + 1] == " " else None
        if honour is None:
            return ""
        rest = around(text, *honour.span(1))[1]
        return honour[1] + rest if self._followers.is_particle(honour[0][-1], rest) else ""

    def _tier(self, left: str, form: str, right: str, *, is_whole: bool) -> Tier | None:
        if not (not right or self._may_follow(form, right)):
            return None
        if left in self._surnames:
            return Tier.REVIEW
        if left not in self._before:
            return None
        is_common = form in self._followers.common
        marked = (
            right in self._calling
            or (len(right) > 1 and right[0] == "이" and sound(form[-1]) > 0)
            or (right and self._honour(right) is not None)
        )
        if marked or (is_whole and not is_common):
            return Tier.HIT
        return Tier.REVIEW if is_whole or not is_common else None
