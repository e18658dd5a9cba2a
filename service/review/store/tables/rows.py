"""What is read on the page: verdicts and refusals, what search and counts find them by, loads, letters, spikes.

`turn_rows` holds every verdict and every refusal that names a turn. Of the versions of one (session, turn) the newest
is the row: it alone has a `place`, the number of the row in the list. The other versions are its history, or belong to
a load that is not finished.
"""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    text,
)

from service.review.store.tables.columns import ID, METADATA, TEXT

_SHOWN: Final = text("place IS NOT NULL")
_PROMPTED: Final = text("place IS NOT NULL AND prompt_key IS NOT NULL")

LOADS: Final = Table(
    "loads",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("kind", TEXT, nullable=False),  # sample, upload
    Column("name", TEXT, nullable=False),
    Column("who", TEXT, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("beat_ms", BigInteger, nullable=False),  # last sign of life while it is loading
    Column("state", TEXT, nullable=False),  # LoadState
    Column("judged", BigInteger, nullable=False),
    Column("refused", BigInteger, nullable=False),
    Column("known", BigInteger, nullable=False),
    Column("ended_ms", BigInteger),
    Column("ended_by", TEXT),
)

TURN_ROWS: Final = Table(
    "turn_rows",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("place", BigInteger),
    Column("session_id", TEXT, nullable=False),
    Column("turn_id", TEXT, nullable=False),
    Column("turn_key", TEXT, nullable=False),  # natural order of turn_id, as a string
    Column("character_id", TEXT, nullable=False),
    Column("model_id", TEXT, nullable=False),
    Column("prompt_id", TEXT),
    Column("prompt_key", TEXT),  # the same for turns that answer one prompt; see `prompts`
    Column("occurred_ms", BigInteger),
    Column("state", TEXT, nullable=False),  # judged, refused
    Column("verdict", TEXT),
    Column("reason", TEXT),
    Column("detail", TEXT),
    Column("touched_topic", TEXT),
    Column("touched_term", TEXT),
    Column("hedge_codes", TEXT),  # separated by spaces; null where nothing was skipped
    Column("hedged", Integer, nullable=False),  # 1 where there are codes
    Column("off_canon", TEXT),  # JSON list
    Column("summary", TEXT),
    Column("record", TEXT),  # the verdict's JSON
    Column("turn", TEXT),  # the turn's JSON
    Column("verdict_id", TEXT, nullable=False),
    Column("judged_ms", BigInteger, nullable=False),
    Column("position", BigInteger, nullable=False),  # offset, or line of a file
    Column("card_digest", TEXT),
    Column("lexicon_digest", TEXT),
    Column("profile_digest", TEXT),
    Column("load_id", ID, ForeignKey("loads.id")),
    UniqueConstraint("verdict_id", name="turn_rows_verdict_id"),
    Index("turn_rows_place", "place", "occurred_ms", "hedged"),
    Index(
        "turn_rows_shown",
        "session_id",
        "turn_id",
        unique=True,
        sqlite_where=_SHOWN,
        postgresql_where=_SHOWN,
    ),
    Index("turn_rows_turn", "session_id", "turn_id"),
    Index("turn_rows_session", "session_id", "verdict", "place"),
    Index("turn_rows_verdict", "verdict", "place", "occurred_ms", "hedged"),
    Index("turn_rows_character", "character_id", "verdict", "place", "occurred_ms", "hedged"),
    Index("turn_rows_model", "model_id", "verdict", "place", "occurred_ms", "hedged"),
    Index("turn_rows_topic", "touched_topic", "verdict", "place", "occurred_ms", "hedged"),
    Index("turn_rows_reason", "reason", "place"),
    Index(
        "turn_rows_prompt",
        "prompt_key",
        "model_id",
        "turn_key",
        "place",
        "verdict",
        sqlite_where=_PROMPTED,
        postgresql_where=_PROMPTED,
    ),
    Index("turn_rows_load", "load_id"),
    Index("turn_rows_age", "occurred_ms", "load_id", "judged_ms"),
)

# How many rows are shown, by what a filter may ask for; '' where a column is null.
TALLIES: Final = Table(
    "tallies",
    METADATA,
    Column("character_id", TEXT, nullable=False),
    Column("model_id", TEXT, nullable=False),
    Column("touched_topic", TEXT, nullable=False),
    Column("verdict", TEXT, nullable=False),
    Column("hedged", Integer, nullable=False),
    Column("shown", BigInteger, nullable=False),
    PrimaryKeyConstraint("verdict", "character_id", "model_id", "touched_topic", "hedged"),
)

# How many rows are shown, by day in the page's time zone; '' where a column is null. `dated` is 0 where the day is
# the load's.
DAY_TALLIES: Final = Table(
    "day_tallies",
    METADATA,
    Column("day", BigInteger, nullable=False),
    Column("character_id", TEXT, nullable=False),
    Column("model_id", TEXT, nullable=False),
    Column("touched_topic", TEXT, nullable=False),
    Column("verdict", TEXT, nullable=False),
    Column("dated", Integer, nullable=False),
    Column("shown", BigInteger, nullable=False),
    PrimaryKeyConstraint("day", "character_id", "model_id", "touched_topic", "verdict", "dated"),
    Index("day_tallies_character", "character_id", "day"),
)

# The time zone that days are counted in: one row.
DAY_ZONE: Final = Table("day_zone", METADATA, Column("utc_offset_minutes", Integer, nullable=False))

# The turns whose row is being chosen; filled and emptied within one transaction.
SETTLING: Final = Table(
    "settling",
    METADATA,
    Column("session_id", TEXT, nullable=False),
    Column("turn_id", TEXT, nullable=False),
    Column("row_id", BigInteger),
    Column("place", BigInteger),
    PrimaryKeyConstraint("session_id", "turn_id"),
)

# The folded text of a turn. Its bigrams stand in the FTS5 table `grams`, or in a tsvector column `grams` here.
TEXTS: Final = Table(
    "texts",
    METADATA,
    Column("id", ID, ForeignKey("turn_rows.id"), primary_key=True, autoincrement=False),
    Column("folded", TEXT, nullable=False),
)

SUMMARIES: Final = Table(
    "summaries",
    METADATA,
    Column("verdict_id", TEXT, primary_key=True),
    Column("session_id", TEXT, nullable=False),
    Column("by", TEXT, nullable=False),
    Column("model", TEXT),
    Column("summary", TEXT, nullable=False),
    Column("reason", TEXT),
    Index("summaries_session", "session_id"),
)

# Records and rows that could not be judged and name no turn; their values are not kept.
LETTERS: Final = Table(
    "letters",
    METADATA,
    Column("letter_id", TEXT, primary_key=True),
    Column("reason", TEXT, nullable=False),
    Column("detail", TEXT, nullable=False),
    Column("source", TEXT, nullable=False),  # a file's name, or topic/partition
    Column("position", BigInteger, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("load_id", ID, ForeignKey("loads.id")),
    Index("letters_load", "load_id"),
    Index("letters_at", "at_ms"),
)

POSITIONS: Final = Table(
    "positions",
    METADATA,
    Column("topic", TEXT, nullable=False),
    Column("partition", Integer, nullable=False),
    Column("next_offset", BigInteger, nullable=False),
    PrimaryKeyConstraint("topic", "partition"),
)

# Spikes of forbidden topics, each as it stands; counts are of sessions.
SPIKES: Final = Table(
    "spikes",
    METADATA,
    Column("spike_id", TEXT, primary_key=True),
    Column("state", TEXT, nullable=False),  # SpikeState
    Column("topic", TEXT, nullable=False),
    Column("character_id", TEXT),
    Column("opened_ms", BigInteger, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("window_s", BigInteger, nullable=False),
    Column("observed", BigInteger, nullable=False),
    Column("exposure", BigInteger, nullable=False),
    Column("baseline_observed", BigInteger, nullable=False),
    Column("baseline_exposure", BigInteger, nullable=False),
    Column("ratio", Double),
    Column("p_value", Double, nullable=False),
    Index("spikes_state", "state", "opened_ms"),
)

# A few of the turns that touched a spike's topic, in the order they were named.
SPIKE_TURNS: Final = Table(
    "spike_turns",
    METADATA,
    Column("spike_id", TEXT, ForeignKey("spikes.spike_id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("session_id", TEXT, nullable=False),
    Column("turn_id", TEXT, nullable=False),
    PrimaryKeyConstraint("spike_id", "number"),
    Index("spike_turns_session", "session_id"),
)
