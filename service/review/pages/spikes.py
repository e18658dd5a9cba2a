"""The banner: forbidden topics that are touched in far more sessions than before, with a way to the turns."""

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

from sqlalchemy import Connection

from schemas.verdict import VerdictWord
from service.review.pages.links import Form, list_href, turn_href
from service.review.pages.times import Zone
from service.review.store.spikes import OpenSpike, open_spikes
from service.review.words import said

MOST: Final = 3


class Example(NamedTuple):
    """A turn that touched the topic."""

    turn_id: str
    href: str


class Banner(NamedTuple):
    """A spike as it is shown: what rose and how far, since when, and ways to its turns."""

    spike_id: str
    words: str
    since: str
    href: str
    examples: list[Example]


class Banners(NamedTuple):
    """The newest spikes that go on, and how many more there are."""

    shown: Sequence[Banner]
    more: int


def banners(connection: Connection, zone: Zone, language: str, now_ms: int) -> Banners:
    """Return the spikes that go on."""
    found, count = open_spikes(connection, MOST, now_ms)
    return Banners([banner(each, zone, language) for each in found], count - len(found))


def banner(spike: OpenSpike, zone: Zone, language: str) -> Banner:
    """Return a spike as it is shown; its list begins with the day on which its window began."""
    t = partial(said, language)
    begun_ms = spike.opened_ms - spike.window_s * 1000
    asked = Form(
        character=spike.character_id or "",
        topic=spike.topic,
        since=zone.day(begun_ms),
        verdict=VerdictWord.FORBIDDEN.value,
    )
    words = t(
        "spike_said" if spike.ratio is not None else "spike_said_new",
        topic=spike.topic,
        minutes=max(1, round(spike.window_s / 60)),
        observed=spike.observed,
        exposure=spike.exposure,
        ratio=spike.ratio or 0.0,
    )
    if spike.character_id is not None:
        words = f"{spike.character_id}: {words}"
    examples = [Example(turn, turn_href(session, turn, asked)) for session, turn in spike.turns]
    since = t("spike_since", when=zone.time(spike.opened_ms))
    return Banner(spike.spike_id, words, since, list_href(asked), examples)
