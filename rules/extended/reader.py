"""The reader of the `extended` profile: speech, terms, names and roles as a Korean reader takes them (issue 5)."""

from collections.abc import Iterable
from typing import NamedTuple

from rules.card import CardFacts, read_card
from rules.earlier import earliest
from rules.extended.fold import Folded, Folding, without_case
from rules.extended.names import Naming
from rules.extended.nouns import Followers
from rules.extended.placing import placed
from rules.extended.roles import Asking, Kinship, RoleWords
from rules.extended.speech import UNSPOKEN, Hearing
from rules.extended.terms import NO_TERMS, TermIndex
from rules.places import Places
from rules.reading import Asked, Reading
from rules.text import is_blank, natural_key
from schemas.card import Card
from schemas.element import Element, Namings, Position
from schemas.lexicon import Entry
from schemas.nfc import nfc
from schemas.profile import ExtendedProfile
from schemas.turn import Turn
from schemas.witness import NameWitness, RoleWitness, Tier, Witnesses


class CardWords(NamedTuple):
    """What is kept of a card: its canon names as keys by their places, as they stand in speech, and its roles."""

    canon: tuple[str, ...]
    spoken: frozenset[str]
    roles: RoleWords


class Instruments(NamedTuple):
    """The tables of a profile, ready to be asked; they know no lexicon and serve every one."""

    folding: Folding
    followers: Followers
    hearing: Hearing
    naming: Naming
    kinship: Kinship


def instruments(profile: ExtendedProfile) -> Instruments:
    """Make the tables of a profile ready."""
    folding, followers = Folding(profile.fold), Followers(profile.nouns)
    naming, kinship = Naming(profile.names, folding, followers), Kinship(profile.kin, followers)
    return Instruments(folding, followers, Hearing(profile.speech), naming, kinship)


class ExtendedReader:
    """Reads turns by a lexicon and the tables of the profile."""

    def __init__(self, entries: Iterable[Entry], tables: Instruments) -> None:
        """Index rows given in the lexicon's order."""
        self._folding, followers, self._hearing, self._naming, self._kinship = tables
        self._terms = TermIndex(entries, self._folding, followers)

    def ready(self, card: Card) -> CardFacts:
        """Fold a card, and index its names and roles."""
        name_key, role_key = self._naming.key, self._folding.key
        facts = read_card(card, name_key, role_key)
        words = CardWords(
            tuple(map(name_key, card.canon_entities)),
            frozenset(self._folding.fold(name).text for name in card.canon_entities),
            self._kinship.words(tuple(role.role_folded for role in facts.roles)),
        )
        return facts._replace(words=words)

    def read(self, turn: Turn, card: CardFacts, namings: Namings, position: Position) -> Reading:
        """Read a turn, and keep the witness of everything that was found."""
        words = card.words
        assert isinstance(words, CardWords), "a card is read by the reader that made it ready"
        spoken, found, asked = UNSPOKEN, NO_TERMS, None
        reply = None
        if turn.reply_text is not None:
            folded = self._folding.fold(turn.reply_text)
            spoken = self._hearing.hear(folded, words.spoken)
            lower = without_case(folded)
            reply = lower.text
            found = self._terms.find(lower)
            if turn.user_asked_recall and turn.user_message is not None:
                asked = self._asked(turn, turn.user_message, lower, card, words, namings, position)
        first_person = turn.first_person
        if first_person is not None:
            first_person = None if is_blank(first_person) else nfc(first_person)
        names, known, name_witnesses = self._names(turn.named_entities, words)
        return Reading(
            turn=turn,
            card=card,
            reply=reply,
            speech=spoken.speech,
            honorific=None,
            first_person=first_person,
            hits=found.hits,
            names=names,
            known=known,
            asked=None if asked is None else _asked_roles(card, asked),
            overlap=None if asked is None else _overlap(card, asked),
            review=found.review,
            witnesses=Witnesses(spoken.witnesses, found.witnesses, name_witnesses, asked),
        )

    def places(self, reading: Reading) -> Places:
        """Find every place again that a reading of this reader rests on."""
        return placed(reading, self._folding, self._hearing, self._terms)

    def _names(
        self, named: list[str] | None, words: CardWords
    ) -> tuple[dict[str, str] | None, set[str], tuple[NameWitness, ...]]:
        """Return the names by their keys, the keys the card knows, and their witnesses."""
        names: dict[str, str] = {}
        known: set[str] = set()
        witnesses = []
        for place, name in enumerate(named or ()):
            key = self._naming.key(name)
            if not key or key in names:
                continue
            names[key] = name
            for canon, canon_key in enumerate(words.canon):
                way = self._naming.match(key, canon_key)
                if way is not None:
                    known.add(key)
                    witnesses.append(NameWitness(place, canon, way))
                    break
        return None if named is None else names, known, tuple(witnesses)

    def _asked(
        self,
        turn: Turn,
        message: str,
        reply: Folded,
        card: CardFacts,
        words: CardWords,
        namings: Namings,
        position: Position,
    ) -> tuple[RoleWitness, ...]:
        """Return the roles asked with, each with its source and what the reply says of its entity."""
        roles = self._kinship.asked(without_case(self._folding.fold(message)), words.roles)
        if not roles:
            return ()
        session = [(self._naming.key(name), name) for name in namings]
        return tuple(
            self._role(asking, card.roles[asking.place].entity_folded, session, reply, turn, namings, position)
            for asking in roles
        )

    def _role(
        self,
        asking: Asking,
        entity: str,
        session: list[tuple[str, str]],
        reply: Folded,
        turn: Turn,
        namings: Namings,
        position: Position,
    ) -> RoleWitness:
        source: Element | None = None
        for key, name in session:
            if self._naming.match(key, entity) is not None:
                element = earliest(name, turn.turn_id, namings, position)
                if element is not None and (source is None or _is_before(element, source)):
                    source = element
        mention = self._naming.mention(reply, entity)
        if mention is None:
            return RoleWitness(*asking, source, None, 0, 0)
        return RoleWitness(*asking, source, mention.tier, mention.start, mention.end)


def _is_before(one: Element, other: Element) -> bool:
    return (natural_key(one.turn_id), one.offset) < (natural_key(other.turn_id), other.offset)


def _asked_roles(card: CardFacts, asked: tuple[RoleWitness, ...]) -> tuple[Asked, ...]:
    """Put the roles in words of the checks; of roles that one place asks for, one answer answers all."""
    answered = {witness.start for witness in asked if witness.mention is Tier.HIT}
    unsure = {witness.start for witness in asked if witness.mention is Tier.REVIEW} - answered
    return tuple(
        Asked(
            card.roles[witness.place],
            witness.source,
            witness.start in answered or witness.start in unsure,
            witness.start in unsure,
        )
        for witness in asked
    )


def _overlap(card: CardFacts, asked: tuple[RoleWitness, ...]) -> tuple[str, str] | None:
    """Return the first two different roles that one place of the message asks for."""
    first: dict[int, RoleWitness] = {}
    for witness in asked:
        other = first.setdefault(witness.start, witness)
        one, two = card.roles[other.place], card.roles[witness.place]
        if one.role_folded != two.role_folded:
            return one.role, two.role
    return None
