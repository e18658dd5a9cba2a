"""What the reviews so far propose: names for cards, endings for a profile file, and from whose answers (issue 8)."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection

from rules.profile import SEED
from schemas.words import AddedEnding
from service.decode import Caps
from service.metrics import ReviewQueue
from service.review.bench import Bench
from service.review.patching.cards import Patch, patched
from service.review.patching.endings import ending, profile_of, with_endings
from service.review.store import reference
from service.review.store.names import name_of
from service.review.store.outcomes import Outcome, outcomes
from service.snapshot import Snapshot, snapshot


class ForCard(NamedTuple):
    """What was decided about the names of a character; `patch` is None where there is no card to put them on.

    `blocked` stay off canon, `split` are those about which two reviewers said otherwise. `who` answered, in `samples`.
    """

    character_id: str
    patch: Patch | None
    added: tuple[str, ...]
    blocked: tuple[str, ...]
    split: tuple[str, ...]
    who: tuple[str, ...]
    samples: tuple[int, ...]


class ForProfile(NamedTuple):
    """An ending that reviewers add: by whom, and in which turns (character, session and turn) they heard it."""

    ending: AddedEnding
    who: tuple[str, ...]
    turns: tuple[tuple[str, str, str], ...]


def for_cards(connection: Connection, caps: Caps) -> list[ForCard]:
    """Return what was decided about names, by character."""
    by_character: dict[str, list[Outcome]] = {}
    for each in outcomes(connection, ReviewQueue.OFF_CANON_NAMES):
        by_character.setdefault(name_of(each.key).character_id, []).append(each)
    return [_for_card(connection, caps, character, found) for character, found in sorted(by_character.items())]


def for_profile(connection: Connection) -> list[ForProfile]:
    """Return the endings that reviewers add, in the order they came; of one form the level that was said last."""
    by_form: dict[str, ForProfile] = {}
    for each in outcomes(connection, ReviewQueue.MIXED_SPEECH):
        turn = (each.character_id or "", each.session_id or "", each.turn_id or "")
        for form, level in (pair for extra in each.extras for pair in extra):
            added = ending(form, level)
            if added is None:
                continue
            known = by_form.get(form, ForProfile(added, (), ()))
            by_form[form] = ForProfile(added, _once(known.who, each.who), _once(known.turns, [turn]))
    return list(by_form.values())


def sides_of_patch(connection: Connection, patch: Patch, bench: Bench) -> tuple[Snapshot, Snapshot]:
    """Return what a character's turns are judged by, before a patch and after it."""
    entries = reference.present_lexicon(connection, bench.caps)
    return snapshot([patch.before], entries, *bench.profiles), snapshot([patch.after], entries, *bench.profiles)


def sides_of_endings(
    connection: Connection, characters: Iterable[str], added: Iterable[AddedEnding], bench: Bench
) -> tuple[Snapshot, Snapshot]:
    """Return what characters' turns are judged by under `extended`, by the present profile file and by the new one.

    A card that asks for `seed` stays with it.
    """
    entries = reference.present_lexicon(connection, bench.caps)
    cards = reference.present_cards_of(connection, characters, bench.caps)
    now, then = profile_of(bench.words), profile_of(with_endings(bench.words, added))
    return snapshot(cards, entries, now, SEED), snapshot(cards, entries, then, SEED)


def _for_card(connection: Connection, caps: Caps, character: str, found: list[Outcome]) -> ForCard:
    def named(answer: str | None) -> tuple[str, ...]:
        return tuple(name_of(each.key).name for each in found if each.answer == answer)

    card, added = reference.present_card(connection, character, caps), named("add")
    patch = None if card is None else patched(card, added)
    who = dict.fromkeys(each for one in found for each in one.who)
    samples = dict.fromkeys(one.sample_id for one in found)
    return ForCard(character, patch, added, named("block"), named(None), tuple(who), tuple(samples))


def _once(known: tuple[Any, ...], more: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys((*known, *more)))
