"""What a worker must answer: the step, run over the same records without Kafka; and the checks that it did."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from rules.profile import SEED
from schemas.card import Card
from schemas.element import Element, Namings, Position
from schemas.lexicon import Entry
from service.decode import Caps, decode_card, decode_entry
from service.snapshot import Snapshot, snapshot
from service.step import Accepted, DeadLetter, step, store
from service.stream.settings import WorkerSettings
from stream.world import Row, World, encode, headers

Place = tuple[int, int]
_CAPS = Caps()


class Offline(NamedTuple):
    """Results and elements by partition and offset."""

    results: dict[Place, Accepted | DeadLetter]
    elements: dict[Place, tuple[Element, ...]]


def snapshot_of(cards: Iterable[Row], lexicon: Iterable[Row]) -> Snapshot:
    """Build the snapshot of rows that are all good."""
    return snapshot(map(card_of, cards), map(entry_of, lexicon), SEED)


def card_of(row: Row) -> Card:
    """Return a row that is a good card as the worker reads it."""
    card = decode_card(encode(row), _CAPS, frozenset({SEED.name}))
    assert isinstance(card, Card)
    return card


def entry_of(row: Row) -> Entry:
    """Return a row that is good for a lexicon as the worker reads it."""
    entry = decode_entry(encode(row), _CAPS)
    assert isinstance(entry, Entry)
    return entry


def judged_offline(turns: Sequence[Any], known: Snapshot, settings: WorkerSettings) -> Offline:
    """Step through records of the source, partition by partition; null values are passed over."""
    sessions: dict[int, dict[str, Namings]] = defaultdict(dict)
    offline = Offline({}, {})
    for record in turns:
        if record.value is None:
            continue
        position = Position(record.offset, record.timestamp, settings.entity_ttl_s * 1000)
        result, elements = step(record.value, position, sessions[record.partition], known, settings.caps)
        store(sessions[record.partition], elements)
        offline.results[record.partition, record.offset] = result
        offline.elements[record.partition, record.offset] = elements
    return offline


def verdict_id(topic: str, record: Any, found: dict[str, str]) -> str:
    """Hash a turn's place, its bytes and the digests in a verdict's headers as design section 6 says."""
    fields = [topic.encode(), str(record.partition).encode()]
    fields += [found[name].encode() for name in ("ruleset", "profile", "lexicon", "card")]
    fields += [str(record.offset).encode(), record.value]
    return blake2b(b"".join(b"%d:%b" % (len(field), field) for field in fields), digest_size=16).hexdigest()


def check_outcomes(world: World, known: Snapshot) -> dict[str, int]:
    """Check every outcome against the step, copies included, and that none is missing; return how many there are."""
    topics = world.settings.topics
    turns = world.read(topics.chat_turns)
    by_place = {(record.partition, record.offset): record for record in turns}
    offline = judged_offline(turns, known, world.settings)
    verdicts, letters = world.read(topics.turn_verdicts), world.read(topics.turn_dead_letters)
    answered = set()
    copies: dict[str, tuple[bytes, bytes]] = {}
    for record in verdicts:
        found = headers(record)
        place = record.partition, int(found["offset"])
        result, turn = offline.results[place], by_place[place]
        assert isinstance(result, Accepted), (place, result)
        assert (record.key, record.value) == (result.turn.session_id.encode(), result.value)
        assert turn.timestamp <= int(found["judged_at"]) + 1_000
        assert found == expected_headers(topics.chat_turns, turn, found, result, known)
        assert copies.setdefault(found["verdict_id"], (record.key, record.value)) == (record.key, record.value)
        answered.add(place)
    for record in letters:
        found = headers(record)
        place = record.partition, int(found["offset"])
        result, turn = offline.results[place], by_place[place]
        assert isinstance(result, DeadLetter), (place, found, result)
        assert found["reason"] == result.reason
        assert record.key == turn.key
        assert record.value == turn.value or "truncated" in found
        answered.add(place)
    assert answered == offline.results.keys()
    return {"turns": len(offline.results), "verdicts": len(verdicts), "letters": len(letters)}


def expected_headers(topic: str, turn: Any, found: dict[str, str], result: Accepted, known: Snapshot) -> dict[str, str]:
    """Return all headers that a verdict of a turn has; when it was judged is taken from those that were found."""
    return {
        "verdict_id": verdict_id(topic, turn, found),
        "turn_id": result.turn.turn_id,
        "offset": str(turn.offset),
        "timestamp": str(turn.timestamp),
        "ruleset": known.ruleset,
        "card": known.characters[result.turn.character_id].digest,
        "lexicon": known.book.digest,
        "profile": known.profile_digest,
        "checks": "1111111111",
        "skipped": ",".join(result.codes),
        "judged_at": found["judged_at"],
    }


def element_records(elements: Iterable[Element]) -> dict[bytes, bytes]:
    """Return the changelog records of elements, key and value as design section 6 writes them."""
    return {
        encode_compact([each.session_id, each.name, each.offset]): encode_compact(
            [each.turn_id, each.reply_text, each.time_ms]
        )
        for each in elements
    }


def encode_compact(value: Any) -> bytes:
    """Write JSON without a space."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def changelog_state(records: Iterable[Any]) -> dict[bytes, bytes]:
    """Return what a changelog holds once it is compacted."""
    state: dict[bytes, bytes] = {}
    for record in records:
        if record.value is None:
            state.pop(record.key, None)
        else:
            state[record.key] = record.value
    return state
