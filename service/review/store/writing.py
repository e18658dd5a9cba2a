"""Write rows, once each: whatever is written again, and in whatever order copies come, the same rows are shown.

A version is known by its `verdict_id`. The newest version of a (session, turn) is shown: by time of judging, then by
the position of the turn in its source, then by `verdict_id`. Copies of one version keep the earliest time of judging.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson
from sqlalchemy import Connection, bindparam, func, insert, select, update
from sqlalchemy import text as sql

from schemas.summary import SummaryRecord
from schemas.turn import Turn
from service.digest import digest
from service.records import card_record, entry_record
from service.review.store.adding import add, one_of, parts
from service.review.store.batch import Batch, CardChange, Judged, Letter, LexiconChange, RefusedTurn
from service.review.store.forgetting import without_forgotten
from service.review.store.keeping import clean, kept, text_key
from service.review.store.loads import retire_sample
from service.review.store.prompts import prompt_key
from service.review.store.searching import grams, searchable
from service.review.store.settling import are_known, settle, take_in
from service.review.store.spikes import write_spikes
from service.review.store.tables import (
    CARDS,
    LETTERS,
    LEXICONS,
    POSITIONS,
    SETTLING,
    SUMMARIES,
    TEXTS,
    TURN_ROWS,
)

_TOGETHER: Final = 1_000
_TEXTS: Final = """
    INSERT INTO texts (id, folded, grams)
    SELECT one.id, one.folded, array_to_tsvector(string_to_array(one.words, ' '))
    FROM json_to_recordset(CAST(:texts AS json)) AS one (id bigint, folded text, words text)
"""


class Written(NamedTuple):
    """How many versions were new, and how many were there already."""

    new: int
    known: int


def write(connection: Connection, batch: Batch, load_id: int | None = None) -> Written:
    """Write a batch within the caller's transaction (`opening.writing`).

    Rows that are new come into the list by time of judging and position, whatever kind they are.
    Rows of a load are not shown before `loads.finish`; those of no load are shown at once. Old records of sessions
    that were forgotten are passed over.
    """
    if load_id is None:
        batch = without_forgotten(connection, batch)
    versions: dict[str, dict[str, Any]] = {}
    rows = [*(_refused(each, load_id) for each in batch.refused), *(_judged(each, load_id) for each in batch.judged)]
    for row in sorted(rows, key=lambda one: (one["judged_ms"], one["position"])):
        twin = versions.setdefault(row["verdict_id"], row)
        twin["judged_ms"] = min(twin["judged_ms"], row["judged_ms"])
    if load_id is None and versions:
        retire_sample(connection, max(row["judged_ms"] for row in versions.values()))
    known = 0
    for chunk in parts(list(versions.values()), _TOGETHER):
        known += _write_versions(connection, chunk, shown=load_id is None)
    _write_letters(connection, batch.letters, load_id)
    _write_summaries(connection, batch.summaries)
    for change in batch.cards:
        _write_card(connection, change, load_id)
    for lexicon in batch.lexicons:
        _write_lexicon(connection, lexicon, load_id)
    write_spikes(connection, batch.spikes)
    _write_positions(connection, batch.positions)
    return Written(len(versions) - known, known)


def _write_versions(connection: Connection, rows: Sequence[dict[str, Any]], *, shown: bool) -> int:
    ids = [row["verdict_id"] for row in rows]
    statement = select(TURN_ROWS.c.verdict_id, TURN_ROWS.c.judged_ms).where(
        one_of(connection, TURN_ROWS.c.verdict_id, ids)
    )
    there = {one.verdict_id: one.judged_ms for one in connection.execute(statement)}
    new = [row for row in rows if row["verdict_id"] not in there]
    earlier = [row for row in rows if row["judged_ms"] < there.get(row["verdict_id"], row["judged_ms"])]
    turns = {(row["session_id"], row["turn_id"]) for row in (*new, *earlier)}
    if shown and turns:
        add(connection, SETTLING, [{"session_id": session, "turn_id": turn} for session, turn in sorted(turns)])
    if earlier:
        at = update(TURN_ROWS).where(TURN_ROWS.c.verdict_id == bindparam("same"))
        times = [{"same": row["verdict_id"], "earlier_ms": row["judged_ms"]} for row in earlier]
        connection.execute(at.values(judged_ms=bindparam("earlier_ms")), times)
    if shown and new and len(turns) == len(new) and not earlier and not are_known(connection):
        # Almost always: turns that are new, once each. They get their places here, and are written once.
        newest = connection.scalar(select(func.max(TURN_ROWS.c.place))) or 0
        for place, row in enumerate(new, start=newest + 1):
            row["place"] = place
        take_in(connection, *_insert(connection, new))
        return len(rows) - len(new)
    if new:
        _insert(connection, new)
    if shown and turns:
        settle(connection)
    return len(rows) - len(new)


def _insert(connection: Connection, rows: list[dict[str, Any]]) -> tuple[int, int]:
    """Add versions and their texts, and return the first and the last id; with one writer at a time, ids of ours."""
    first = (connection.scalar(select(func.max(TURN_ROWS.c.id))) or 0) + 1
    texts = []
    for number, row in enumerate(rows, start=first):
        row["id"] = number
        folded = row.pop("folded")
        texts.append({"id": number, "folded": folded, "words": " ".join(grams(folded))})
    add(connection, TURN_ROWS, rows)
    if connection.dialect.name == "sqlite":
        connection.execute(insert(TEXTS), texts)
        connection.execute(sql("INSERT INTO grams (rowid, words) VALUES (:id, :words)"), texts)
    else:
        connection.execute(sql(_TEXTS), {"texts": orjson.dumps(texts).decode()})
    return first, first + len(rows) - 1


def _judged(judged: Judged, load_id: int | None) -> dict[str, Any]:
    record = orjson.loads(judged.record)
    off_canon = record.get("off_canon_entities")
    return _row(judged.turn, judged.verdict_id, judged.judged_ms, judged.position, judged.occurred_ms, load_id) | {
        "state": "judged",
        "verdict": record["verdict"],
        "touched_topic": kept(record.get("touched_topic")),
        "touched_term": kept(record.get("touched_term")),
        "hedge_codes": " ".join(judged.codes) or None,
        "hedged": int(bool(judged.codes)),
        "off_canon": None if off_canon is None else orjson.dumps(off_canon).decode(),
        "summary": clean(record["summary"]),
        "record": judged.record.decode(),
        "card_digest": judged.card_digest,
        "lexicon_digest": judged.lexicon_digest,
        "profile_digest": judged.profile_digest,
    }


def _refused(refused: RefusedTurn, load_id: int | None) -> dict[str, Any]:
    row = _row(refused.turn, refused.verdict_id, refused.judged_ms, refused.position, refused.occurred_ms, load_id)
    return row | {"state": "refused", "reason": refused.reason.value, "detail": clean(refused.detail)}


def _row(
    turn: Turn, verdict_id: str, judged_ms: int, position: int, occurred_ms: int | None, load_id: int | None
) -> dict[str, Any]:
    empty = dict.fromkeys(str(column.name) for column in TURN_ROWS.columns)
    return empty | {
        "session_id": kept(turn.session_id),
        "turn_id": kept(turn.turn_id),
        "turn_key": text_key(turn.turn_id),
        "character_id": kept(turn.character_id),
        "model_id": kept(turn.model_id),
        "prompt_id": kept(turn.prompt_id),
        "prompt_key": prompt_key(turn, of_file=load_id is not None),
        "occurred_ms": occurred_ms,
        "hedged": 0,
        "turn": orjson.dumps(turn._asdict()).decode(),
        "verdict_id": verdict_id,
        "judged_ms": judged_ms,
        "position": position,
        "load_id": load_id,
        "folded": searchable(turn.user_message, turn.reply_text),
    }


def _write_letters(connection: Connection, letters: Sequence[Letter], load_id: int | None) -> None:
    rows = [each._asdict() | {"reason": each.reason.value, "load_id": load_id} for each in letters]
    for row in rows:
        row |= {"detail": clean(row["detail"]), "source": kept(row["source"])}
    _add_new(connection, LETTERS, "letter_id", rows)


def _write_summaries(connection: Connection, summaries: Sequence[SummaryRecord]) -> None:
    rows = [
        {
            "verdict_id": each["verdict_id"],
            "session_id": kept(each["session_id"]),
            "by": each["by"],
            "model": clean(each["model"]),
            "summary": clean(each["summary"]),
            "reason": clean(each["reason"]),
        }
        for each in summaries
        if each["verdict_id"]
    ]
    _add_new(connection, SUMMARIES, "verdict_id", rows)


def _add_new(connection: Connection, table: Any, key: str, rows: Iterable[dict[str, Any]]) -> None:
    by_key = {row[key]: row for row in rows}
    for chunk in parts(list(by_key.values()), _TOGETHER):
        there = set(
            connection.scalars(
                select(table.c[key]).where(one_of(connection, table.c[key], [row[key] for row in chunk]))
            )
        )
        new = [row for row in chunk if row[key] not in there]
        if new:
            add(connection, table, new)


def _write_card(connection: Connection, change: CardChange, load_id: int | None) -> None:
    record = None if change.card is None else (card_record(change.card).value or b"").decode()
    row = {
        "character_id": kept(change.character_id),
        "digest": "" if change.card is None else digest(change.card),
        "changed_ms": change.changed_ms,
        "load_id": load_id,
    }
    same = [CARDS.c[name] == value for name, value in row.items()]
    if connection.execute(select(CARDS.c.id).where(*same)).first() is None:
        connection.execute(insert(CARDS), row | {"record": record})


def _write_lexicon(connection: Connection, change: LexiconChange, load_id: int | None) -> None:
    records = b",".join(entry_record(entry).value or b"" for entry in change.entries)
    row = {"digest": change.digest, "changed_ms": change.changed_ms, "load_id": load_id}
    same = [LEXICONS.c[name] == value for name, value in row.items()]
    if connection.execute(select(LEXICONS.c.id).where(*same)).first() is None:
        connection.execute(insert(LEXICONS), row | {"records": f"[{records.decode()}]"})


def _write_positions(connection: Connection, positions: Mapping[tuple[str, int], int]) -> None:
    for (topic, partition), next_offset in positions.items():
        here = (POSITIONS.c.topic == topic) & (POSITIONS.c.partition == partition)
        at = connection.scalar(select(POSITIONS.c.next_offset).where(here))
        if at is None:
            row = {"topic": topic, "partition": partition, "next_offset": next_offset}
            connection.execute(insert(POSITIONS), row)
        elif at < next_offset:
            connection.execute(update(POSITIONS).where(here).values(next_offset=next_offset))
