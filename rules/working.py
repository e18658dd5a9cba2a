"""How a verdict came about: what each check looked at and met, which one decided, and why the others did not.

A second look for people, run only where it is asked for. It takes the same reading as the judge and comes to the same
verdict and columns by its own way; a test holds the two together. Source: design sections 3 and 4, issue 8, item 1.
"""

from collections.abc import Callable
from enum import StrEnum
from itertools import groupby
from typing import Any, Final, NamedTuple

from rules.card import CardFacts, join_rule
from rules.catalogue import CHECKS
from rules.places import Piece, Places, Span, TermPlace
from rules.reading import Reader, Reading
from schemas.element import Namings, Position
from schemas.turn import Turn
from schemas.verdict import Observed, VerdictWord
from schemas.witness import Tier, Way


class State(StrEnum):
    """What became of a verdict: it stands, it holds but an earlier one stands, it does not hold, or was not compared.

    설정대로 말함 holds where nothing else does, so it never comes second.
    """

    DECIDED = "decided"
    HELD_LATER = "held_later"
    NOTHING = "nothing"
    NOT_COMPARED = "not_compared"


class Gap(StrEnum):
    """Why a check had nothing to compare."""

    NO_REPLY = "no_reply"
    NO_NAMES = "no_names"
    NO_HANGUL = "no_hangul"
    LEVEL_UNCLEAR = "level_unclear"
    NOT_ASKED = "not_asked"
    NO_MESSAGE = "no_message"
    NO_ROLE = "no_role"
    NOT_NAMED = "not_named"


class TermMet(NamedTuple):
    """A lexicon row whose term stands in the reply; `tier` is its surest place's, None where none counts."""

    term: str
    topic: str
    forbidden: bool
    tier: Tier | None
    places: tuple[TermPlace, ...]


class NameMet(NamedTuple):
    """A name of the turn, the canon name it names (None: off canon) and how, and its places in the reply."""

    name: str
    canon: str | None
    way: Way | None
    places: tuple[Span, ...]


class SpeechMet(NamedTuple):
    """The pieces of the reply, and what of level and first person differs; `person_compared` where both were there."""

    pieces: tuple[Piece, ...]
    level: str | None
    expected: str
    observed: str | None
    level_differs: bool
    person_compared: bool
    person_differs: bool


class RoleMet(NamedTuple):
    """A role that the message asks with, the first turn that named its entity, and where the reply names it (`said`).

    `unsure` tells that the reply may name the entity, which counts as an answer and stands in the hedge.
    """

    role: str
    entity: str
    way: Way
    asked: tuple[Span, ...]
    source_turn: str | None
    answered: bool
    unsure: bool
    said: tuple[Span, ...]


class Met(NamedTuple):
    """What the checks met: terms in the lexicon's order, names in the turn's, speech, roles in the card's.

    `terms` is None without a reply, `names` without a list of names, `roles` where no recall is compared.
    """

    terms: tuple[TermMet, ...] | None
    names: tuple[NameMet, ...] | None
    speech: SpeechMet
    roles: tuple[RoleMet, ...] | None

    @property
    def hits(self) -> list[TermMet]:
        """The terms that count."""
        return [term for term in self.terms or () if term.tier is Tier.HIT]

    @property
    def touched(self) -> TermMet | None:
        """The first forbidden term that counts, else the first that counts at all."""
        hits = self.hits
        return next((term for term in hits if term.forbidden), hits[0] if hits else None)

    @property
    def strangers(self) -> list[str]:
        """The names that the card does not know."""
        return [name.name for name in self.names or () if name.canon is None]

    @property
    def forgotten(self) -> RoleMet | None:
        """The first role whose entity an earlier turn named and the reply does not."""
        return next((role for role in self.roles or () if role.source_turn is not None and not role.answered), None)


class Result(NamedTuple):
    """What became of one verdict; `check` is None for 설정대로 말함, `gap` is there where nothing was compared."""

    check: str | None
    verdict: str
    state: State
    gap: Gap | None


class Working(NamedTuple):
    """The working of one verdict: `results` in the order they are asked, `columns` as the verdict has them."""

    verdict: str
    columns: dict[str, Any]
    results: tuple[Result, ...]
    met: Met


def working(turn: Turn, card: CardFacts, reader: Reader, namings: Namings, position: Position) -> Working:
    """Work out how a turn's verdict comes about; the arguments are those of `rules.judge.judge`."""
    reading = reader.read(turn, card, namings, position)
    met = _met(reading, reader.places(reading))
    verdict, results = VerdictWord.KEPT.value, []
    for check in CHECKS:
        gap, holds = _GAPS[check.verdict](reading), _HOLDS[check.verdict](met)
        state = State.NOTHING if gap is None else State.NOT_COMPARED
        if holds:
            state, gap = State.HELD_LATER, None
            if verdict == VerdictWord.KEPT.value:
                verdict, state = check.verdict, State.DECIDED
        results.append(Result(check.name, check.verdict, state, gap))
    is_kept = verdict == VerdictWord.KEPT.value
    results.append(
        Result(None, VerdictWord.KEPT.value, State.DECIDED if is_kept else State.NOTHING, None),
    )
    return Working(verdict, _columns(met), tuple(results), met)


def _met(reading: Reading, places: Places) -> Met:
    return Met(
        None if reading.reply is None else _terms(reading, places),
        None if reading.names is None else _names(reading, places),
        _speech(reading, places),
        None if reading.asked is None else _roles(reading, places),
    )


def _terms(reading: Reading, places: Places) -> tuple[TermMet, ...]:
    met = []
    for hit, group in groupby(places.terms, key=lambda place: place.hit):
        found = tuple(group)
        tiers = {place.tier for place in found}
        tier = Tier.HIT if Tier.HIT in tiers else Tier.REVIEW if Tier.REVIEW in tiers else None
        is_forbidden = hit.topic_folded in reading.card.forbidden
        met.append(TermMet(hit.entry.term, hit.entry.topic, is_forbidden, tier, found))
    return tuple(met)


def _names(reading: Reading, places: Places) -> tuple[NameMet, ...]:
    names = (reading.names or {}).values()
    return tuple(NameMet(name, *place) for name, place in zip(names, places.names, strict=True))


def _speech(reading: Reading, places: Places) -> SpeechMet:
    level, card, turn = reading.speech.level, reading.card, reading.turn
    compared = level is not None and reading.first_person is not None and card.first_person is not None
    return SpeechMet(
        places.pieces,
        level,
        join_rule(card.card.honorific_rule, card.card.first_person),
        None if level is None else join_rule(level, turn.first_person),
        level not in (None, card.card.honorific_rule, Observed.OLD.value),
        compared,
        compared and reading.first_person != card.first_person,
    )


def _roles(reading: Reading, places: Places) -> tuple[RoleMet, ...]:
    return tuple(
        RoleMet(
            asked.role.role,
            asked.role.entity,
            place.way,
            place.asked,
            None if asked.source is None else asked.source.turn_id,
            bool(place.said),
            asked.unsure,
            place.said,
        )
        for asked, place in zip(reading.asked or (), places.roles, strict=True)
    )


def _columns(met: Met) -> dict[str, Any]:
    touched, forgotten = met.touched, met.forgotten
    return {
        "rule_expected": met.speech.expected,
        "rule_observed": met.speech.observed,
        "off_canon_entities": None if met.names is None else met.strangers,
        "touched_term": None if touched is None else touched.term,
        "touched_topic": touched.topic if touched is not None and touched.forbidden else None,
        "recall_target": None if forgotten is None else forgotten.entity,
        "recall_source_turn": None if forgotten is None else forgotten.source_turn,
    }


_HOLDS: Final[dict[str, Callable[[Met], bool]]] = {
    VerdictWord.FORBIDDEN.value: lambda met: met.touched is not None and met.touched.forbidden,
    VerdictWord.OFF_CANON.value: lambda met: bool(met.strangers),
    VerdictWord.SPEECH_BROKEN.value: lambda met: met.speech.level_differs or met.speech.person_differs,
    VerdictWord.FORGOT.value: lambda met: met.forgotten is not None,
}


def _speech_gap(reading: Reading) -> Gap | None:
    if reading.reply is None:
        return Gap.NO_REPLY
    if reading.speech.level is not None:
        return None
    return Gap.LEVEL_UNCLEAR if reading.speech.unclear else Gap.NO_HANGUL


def _recall_gap(reading: Reading) -> Gap | None:
    if not reading.turn.user_asked_recall:
        return Gap.NOT_ASKED
    if reading.turn.user_message is None:
        return Gap.NO_MESSAGE
    if reading.reply is None:
        return Gap.NO_REPLY
    if not reading.asked:
        return Gap.NO_ROLE
    return Gap.NOT_NAMED if all(asked.source is None for asked in reading.asked) else None


_GAPS: Final[dict[str, Callable[[Reading], Gap | None]]] = {
    VerdictWord.FORBIDDEN.value: lambda reading: Gap.NO_REPLY if reading.reply is None else None,
    VerdictWord.OFF_CANON.value: lambda reading: Gap.NO_NAMES if reading.names is None else None,
    VerdictWord.SPEECH_BROKEN.value: _speech_gap,
    VerdictWord.FORGOT.value: _recall_gap,
}
