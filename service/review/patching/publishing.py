"""Publish a patched card to its topic, and take it back; the topic's present card is always looked at first.

Whoever asks has seen a preview made from a card: where the topic holds another by now, nothing is sent.
"""

from typing import Any

import orjson
from sqlalchemy import Engine

from schemas.card import Card
from service.decode import decode_card
from service.errors import OperatorError
from service.load import publish_records
from service.profiles import KNOWN
from service.records import Record, card_record
from service.review.clock import now_ms
from service.review.patching.cards import Patch
from service.review.store import publications
from service.review.store.batch import Batch, CardChange
from service.review.store.opening import writing
from service.review.store.publications import Publication, PublicationState
from service.review.store.writing import write
from service.scan import held
from service.settings import KafkaSettings


class CardMoved(OperatorError):
    """The topic holds another card than the one that the patch was made from."""


class NothingToUndo(OperatorError):
    """There is no such publication, or it was taken back already."""


def publish(engine: Engine, settings: KafkaSettings, patch: Patch, made_from: Any, who: str) -> int:
    """Publish a patched card, and return the number of the publication; `made_from` is kept as JSON.

    A topic that holds no card of the character gets one. One that holds the patched card already is left alone.

    Raises:
        PublicationBusy: another of this character is under way.
        CardMoved: the topic holds another card.
        OperatorError: the brokers cannot be reached, or did not take it; it may have arrived all the same.
    """
    before, after = _text(patch.before), _text(patch.after)
    with writing(engine) as connection:
        origin = orjson.dumps(made_from).decode()
        number = publications.begin(connection, patch.character_id, (before, after), origin, who, now_ms())
    try:
        present = _present(settings, patch.before, patch.after)
        with writing(engine) as connection:
            publications.note_held(connection, number, was_held=present is not None)
        if present != patch.after:
            _send(settings, card_record(patch.after))
    except BaseException:
        _end(engine, number, PublicationState.FAILED)
        raise
    _end(engine, number, PublicationState.SENT, patch.after)
    return number


def undo(engine: Engine, settings: KafkaSettings, number: int, who: str) -> None:
    """Publish the card that was there before; a card that the topic did not hold before is removed from it.

    Raises:
        NothingToUndo: there is no such publication, or it was taken back.
        PublicationBusy: another of this character is under way.
        CardMoved: the topic holds another card by now.
        OperatorError: the brokers cannot be reached, or did not take it.
    """
    with writing(engine) as connection:
        found = publications.begin_undo(connection, number, who, now_ms())
    if found is None:
        raise NothingToUndo("there is no such publication, or it was taken back already")
    before, after = _card(found.before, settings), _card(found.after, settings)
    try:
        # A publication that broke off may have left the topic as it was.
        if _present(settings, after, before) == after:
            _send(settings, card_record(before) if found.was_held else Record(card_record(before).key, None))
    except BaseException:
        # As it stood: what was not taken back stands.
        _end(engine, number, PublicationState.FAILED if _was_failed(found) else PublicationState.SENT)
        raise
    _end(engine, number, PublicationState.UNDONE, before)


def _present(settings: KafkaSettings, *known: Card) -> Card | None:
    """Return the card that the topic holds now; None where it holds none.

    Raises:
        CardMoved: it holds one that is none of those known.
    """
    topic = settings.topics.character_cards
    value = held(settings, topic).get(card_record(known[0]).key)
    if value is None:
        return None
    card = decode_card(value, settings.caps, KNOWN)
    if not isinstance(card, Card) or card not in known:
        raise CardMoved(f"{topic}: the card has changed meanwhile")
    return card


def _send(settings: KafkaSettings, record: Record) -> None:
    publish_records(settings, settings.topics.character_cards, [record])


def _end(engine: Engine, number: int, state: PublicationState, card: Card | None = None) -> None:
    """Write down the outcome, and the card that stands by it, in one transaction."""
    at_ms = now_ms()
    with writing(engine) as connection:
        publications.end(connection, number, state, at_ms)
        if card is not None:
            write(connection, Batch(cards=[CardChange(card.character_id, card, at_ms)]))


def _was_failed(found: Publication) -> bool:
    return found.state in (PublicationState.FAILED, PublicationState.SENDING)


def _card(record: str, settings: KafkaSettings) -> Card:
    card = decode_card(record.encode(), settings.caps, KNOWN)
    assert isinstance(card, Card), "it was written from a card"
    return card


def _text(card: Card) -> str:
    return (card_record(card).value or b"").decode()
