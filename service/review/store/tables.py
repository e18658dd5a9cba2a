"""The tables, as SQLAlchemy sees them; `migrations` make them, and a test holds the two together.

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
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

# Compared by code point in both databases.
_TEXT: Final = Text().with_variant(Text(collation="C"), "postgresql")
_ID: Final = BigInteger().with_variant(Integer, "sqlite")
_SHOWN: Final = text("place IS NOT NULL")
_PROMPTED: Final = text("place IS NOT NULL AND prompt_key IS NOT NULL")
_IN_FORCE: Final = text("undone_ms IS NULL")

METADATA: Final = MetaData()

LOADS: Final = Table(
    "loads",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("kind", _TEXT, nullable=False),  # sample, upload
    Column("name", _TEXT, nullable=False),
    Column("who", _TEXT, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("beat_ms", BigInteger, nullable=False),  # last sign of life while it is loading
    Column("state", _TEXT, nullable=False),  # LoadState
    Column("judged", BigInteger, nullable=False),
    Column("refused", BigInteger, nullable=False),
    Column("known", BigInteger, nullable=False),
    Column("ended_ms", BigInteger),
    Column("ended_by", _TEXT),
)

TURN_ROWS: Final = Table(
    "turn_rows",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("place", BigInteger),
    Column("session_id", _TEXT, nullable=False),
    Column("turn_id", _TEXT, nullable=False),
    Column("turn_key", _TEXT, nullable=False),  # natural order of turn_id, as a string
    Column("character_id", _TEXT, nullable=False),
    Column("model_id", _TEXT, nullable=False),
    Column("prompt_id", _TEXT),
    Column("prompt_key", _TEXT),  # the same for turns that answer one prompt; see `prompts`
    Column("occurred_ms", BigInteger),
    Column("state", _TEXT, nullable=False),  # judged, refused
    Column("verdict", _TEXT),
    Column("reason", _TEXT),
    Column("detail", _TEXT),
    Column("touched_topic", _TEXT),
    Column("touched_term", _TEXT),
    Column("hedge_codes", _TEXT),  # separated by spaces; null where nothing was skipped
    Column("hedged", Integer, nullable=False),  # 1 where there are codes
    Column("off_canon", _TEXT),  # JSON list
    Column("summary", _TEXT),
    Column("record", _TEXT),  # the verdict's JSON
    Column("turn", _TEXT),  # the turn's JSON
    Column("verdict_id", _TEXT, nullable=False),
    Column("judged_ms", BigInteger, nullable=False),
    Column("position", BigInteger, nullable=False),  # offset, or line of a file
    Column("card_digest", _TEXT),
    Column("lexicon_digest", _TEXT),
    Column("profile_digest", _TEXT),
    Column("load_id", _ID, ForeignKey("loads.id")),
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
    Column("character_id", _TEXT, nullable=False),
    Column("model_id", _TEXT, nullable=False),
    Column("touched_topic", _TEXT, nullable=False),
    Column("verdict", _TEXT, nullable=False),
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
    Column("character_id", _TEXT, nullable=False),
    Column("model_id", _TEXT, nullable=False),
    Column("touched_topic", _TEXT, nullable=False),
    Column("verdict", _TEXT, nullable=False),
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
    Column("session_id", _TEXT, nullable=False),
    Column("turn_id", _TEXT, nullable=False),
    Column("row_id", BigInteger),
    Column("place", BigInteger),
    PrimaryKeyConstraint("session_id", "turn_id"),
)

# The folded text of a turn. Its bigrams stand in the FTS5 table `grams`, or in a tsvector column `grams` here.
TEXTS: Final = Table(
    "texts",
    METADATA,
    Column("id", _ID, ForeignKey("turn_rows.id"), primary_key=True, autoincrement=False),
    Column("folded", _TEXT, nullable=False),
)

SUMMARIES: Final = Table(
    "summaries",
    METADATA,
    Column("verdict_id", _TEXT, primary_key=True),
    Column("session_id", _TEXT, nullable=False),
    Column("by", _TEXT, nullable=False),
    Column("model", _TEXT),
    Column("summary", _TEXT, nullable=False),
    Column("reason", _TEXT),
    Index("summaries_session", "session_id"),
)

# Every version of a card that was seen; a verdict names its own by digest.
CARDS: Final = Table(
    "cards",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("character_id", _TEXT, nullable=False),
    Column("digest", _TEXT, nullable=False),
    Column("record", _TEXT),  # null: the card was removed
    Column("changed_ms", BigInteger, nullable=False),
    Column("load_id", _ID, ForeignKey("loads.id")),
    Index("cards_character", "character_id", "changed_ms"),
    Index("cards_digest", "digest"),
    Index("cards_load", "load_id"),
)

# Every lexicon that was seen, whole: a JSON list of its rows in order.
LEXICONS: Final = Table(
    "lexicons",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("digest", _TEXT, nullable=False),
    Column("records", _TEXT, nullable=False),
    Column("changed_ms", BigInteger, nullable=False),
    Column("load_id", _ID, ForeignKey("loads.id")),
    Index("lexicons_digest", "digest"),
    Index("lexicons_load", "load_id"),
)

# Records and rows that could not be judged and name no turn; their values are not kept.
LETTERS: Final = Table(
    "letters",
    METADATA,
    Column("letter_id", _TEXT, primary_key=True),
    Column("reason", _TEXT, nullable=False),
    Column("detail", _TEXT, nullable=False),
    Column("source", _TEXT, nullable=False),  # a file's name, or topic/partition
    Column("position", BigInteger, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("load_id", _ID, ForeignKey("loads.id")),
    Index("letters_load", "load_id"),
    Index("letters_at", "at_ms"),
)

POSITIONS: Final = Table(
    "positions",
    METADATA,
    Column("topic", _TEXT, nullable=False),
    Column("partition", Integer, nullable=False),
    Column("next_offset", BigInteger, nullable=False),
    PrimaryKeyConstraint("topic", "partition"),
)

# Who saw whose chats, and when.
ACCESSES: Final = Table(
    "accesses",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("who", _TEXT, nullable=False),
    Column("what", _TEXT, nullable=False),
    Column("session_id", _TEXT),
    Index("accesses_at", "at_ms"),
    Index("accesses_session", "session_id", "id"),
)

# Reports of `turnjudge evaluate` that somebody loaded, newest last.
EVALUATIONS: Final = Table(
    "evaluations",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("who", _TEXT, nullable=False),
    Column("report", _TEXT, nullable=False),
)

# A sample of a review queue: what was asked for, and how it was drawn, so that it can be drawn again.
SAMPLES: Final = Table(
    "samples",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("queue", _TEXT, nullable=False),  # ReviewQueue
    Column("seed", BigInteger, nullable=False),
    Column("size", Integer, nullable=False),
    Column("reviewers", Integer, nullable=False),  # how many answer each item
    Column("filters", _TEXT, nullable=False),  # JSON of Filters
    Column("population", BigInteger, nullable=False),
    Column("last_row", BigInteger, nullable=False),  # the largest id of turn_rows when it was drawn
    Column("who", _TEXT, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("closed_ms", BigInteger),
    Column("closed_by", _TEXT),
    Index("samples_queue", "queue", "id"),
)

# The items of a sample as they were drawn. An item that is about one turn names its session, turn and verdict.
SAMPLE_ITEMS: Final = Table(
    "sample_items",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("sample_id", _ID, ForeignKey("samples.id"), nullable=False),
    Column("number", Integer, nullable=False),  # its place in the sample, from 1
    Column("key", _TEXT, nullable=False),
    Column("character_id", _TEXT),
    Column("session_id", _TEXT),
    Column("turn_id", _TEXT),
    Column("verdict_id", _TEXT),
    UniqueConstraint("sample_id", "number", name="sample_items_number"),
    Index("sample_items_session", "session_id"),
    Index("sample_items_character", "character_id"),
)

# What reviewers answered; of each there is one in force, the others were taken back.
DECISIONS: Final = Table(
    "decisions",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("item_id", _ID, ForeignKey("sample_items.id"), nullable=False),
    Column("reviewer", _TEXT, nullable=False),
    Column("answer", _TEXT, nullable=False),
    Column("note", _TEXT),
    Column("extra", _TEXT),  # JSON of what the queue asks beside the answer
    Column("at_ms", BigInteger, nullable=False),
    Column("blind", Integer, nullable=False),  # 1: given without having seen another's answer
    Column("verdict_id", _TEXT),
    Column("card_digest", _TEXT),
    Column("lexicon_digest", _TEXT),
    Column("profile_digest", _TEXT),
    Column("undone_ms", BigInteger),
    Index(
        "decisions_in_force",
        "item_id",
        "reviewer",
        unique=True,
        sqlite_where=_IN_FORCE,
        postgresql_where=_IN_FORCE,
    ),
    Index("decisions_item", "item_id"),
    Index("decisions_reviewer", "reviewer"),
)

# What was taken out of the page as a file, by whom and why; `rows` and `ended_ms` are null while it is being sent.
EXPORTS: Final = Table(
    "exports",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("who", _TEXT, nullable=False),
    Column("reason", _TEXT, nullable=False),
    Column("form", _TEXT, nullable=False),  # csv, jsonl
    Column("filters", _TEXT, nullable=False),  # JSON
    Column("rows", BigInteger),
    Column("ended_ms", BigInteger),
    Column("whole", Integer),  # 1 where all of it was sent
)

# Spikes of forbidden topics, each as it stands; counts are of sessions.
SPIKES: Final = Table(
    "spikes",
    METADATA,
    Column("spike_id", _TEXT, primary_key=True),
    Column("state", _TEXT, nullable=False),  # SpikeState
    Column("topic", _TEXT, nullable=False),
    Column("character_id", _TEXT),
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
    Column("spike_id", _TEXT, ForeignKey("spikes.spike_id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("session_id", _TEXT, nullable=False),
    Column("turn_id", _TEXT, nullable=False),
    PrimaryKeyConstraint("spike_id", "number"),
    Index("spike_turns_session", "session_id"),
)

# Cards that were published from the page, and whether that was taken back.
PUBLICATIONS: Final = Table(
    "publications",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("who", _TEXT, nullable=False),
    Column("character_id", _TEXT, nullable=False),
    Column("before", _TEXT, nullable=False),  # JSON of the card
    Column("after", _TEXT, nullable=False),
    Column("was_held", Integer, nullable=False),  # 1 where the topic held a card of the character before
    Column("made_from", _TEXT, nullable=False),  # JSON: the names, and the samples they were decided in
    Column("state", _TEXT, nullable=False),  # PublicationState
    Column("ended_ms", BigInteger),
    Column("ended_by", _TEXT),
    Index("publications_character", "character_id"),
)

# Sessions that were forgotten, by salted hash, so that old records of theirs that come again are known.
FORGOTTEN: Final = Table(
    "forgotten",
    METADATA,
    Column("session_hash", _TEXT, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
)

# The salt of those hashes: one row, made when it is first needed.
FORGETTING_SALT: Final = Table(
    "forgetting_salt",
    METADATA,
    Column("salt", _TEXT, primary_key=True),
)

# What was forgotten, when and by whom, as JSON without the session's id.
RECEIPTS: Final = Table(
    "receipts",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("who", _TEXT, nullable=False),
    Column("character_id", _TEXT),  # null: one session was asked for
    Column("report", _TEXT, nullable=False),
)
