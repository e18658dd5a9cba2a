"""The reviews: samples with their items, what was decided, and the cards that were published by it."""

from typing import Final

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, UniqueConstraint, text

from service.review.store.tables.columns import ID, METADATA, TEXT

_IN_FORCE: Final = text("undone_ms IS NULL")

# A sample of a review queue: what was asked for, and how it was drawn, so that it can be drawn again.
SAMPLES: Final = Table(
    "samples",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("queue", TEXT, nullable=False),  # ReviewQueue
    Column("seed", BigInteger, nullable=False),
    Column("size", Integer, nullable=False),
    Column("reviewers", Integer, nullable=False),  # how many answer each item
    Column("filters", TEXT, nullable=False),  # JSON of Filters
    Column("population", BigInteger, nullable=False),
    Column("last_row", BigInteger, nullable=False),  # the largest id of turn_rows when it was drawn
    Column("who", TEXT, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("closed_ms", BigInteger),
    Column("closed_by", TEXT),
    Column("by_hand", Integer, nullable=False),  # 1: its items were chosen one by one, and stand for no others
    Index("samples_queue", "queue", "id"),
)

# The items of a sample as they were drawn. An item that is about one turn names its session, turn and verdict.
SAMPLE_ITEMS: Final = Table(
    "sample_items",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("sample_id", ID, ForeignKey("samples.id"), nullable=False),
    Column("number", Integer, nullable=False),  # its place in the sample, from 1
    Column("key", TEXT, nullable=False),
    Column("character_id", TEXT),
    Column("session_id", TEXT),
    Column("turn_id", TEXT),
    Column("verdict_id", TEXT),
    Column("chosen_by", TEXT),  # null where it was drawn
    Column("chosen_ms", BigInteger),
    UniqueConstraint("sample_id", "number", name="sample_items_number"),
    Index("sample_items_session", "session_id"),
    Index("sample_items_character", "character_id"),
)

# What reviewers answered; of each there is one in force, the others were taken back.
DECISIONS: Final = Table(
    "decisions",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("item_id", ID, ForeignKey("sample_items.id"), nullable=False),
    Column("reviewer", TEXT, nullable=False),
    Column("answer", TEXT, nullable=False),
    Column("note", TEXT),
    Column("extra", TEXT),  # JSON of what the queue asks beside the answer
    Column("at_ms", BigInteger, nullable=False),
    Column("blind", Integer, nullable=False),  # 1: given without having seen another's answer
    Column("verdict_id", TEXT),
    Column("card_digest", TEXT),
    Column("lexicon_digest", TEXT),
    Column("profile_digest", TEXT),
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

# Cards that were published from the page, and whether that was taken back.
PUBLICATIONS: Final = Table(
    "publications",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("who", TEXT, nullable=False),
    Column("character_id", TEXT, nullable=False),
    Column("before", TEXT, nullable=False),  # JSON of the card
    Column("after", TEXT, nullable=False),
    Column("was_held", Integer, nullable=False),  # 1 where the topic held a card of the character before
    Column("made_from", TEXT, nullable=False),  # JSON: the names, and the samples they were decided in
    Column("state", TEXT, nullable=False),  # PublicationState
    Column("ended_ms", BigInteger),
    Column("ended_by", TEXT),
    Index("publications_character", "character_id"),
)
