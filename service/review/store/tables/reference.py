"""What verdicts are read beside: cards and lexicons as they were, and reports that somebody loaded."""

from typing import Final

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Table

from service.review.store.tables.columns import ID, METADATA, TEXT

# Every version of a card that was seen; a verdict names its own by digest.
CARDS: Final = Table(
    "cards",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("character_id", TEXT, nullable=False),
    Column("digest", TEXT, nullable=False),
    Column("record", TEXT),  # null: the card was removed
    Column("changed_ms", BigInteger, nullable=False),
    Column("load_id", ID, ForeignKey("loads.id")),
    Index("cards_character", "character_id", "changed_ms"),
    Index("cards_digest", "digest"),
    Index("cards_load", "load_id"),
)

# Every lexicon that was seen, whole: a JSON list of its rows in order.
LEXICONS: Final = Table(
    "lexicons",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("digest", TEXT, nullable=False),
    Column("records", TEXT, nullable=False),
    Column("changed_ms", BigInteger, nullable=False),
    Column("load_id", ID, ForeignKey("loads.id")),
    Index("lexicons_digest", "digest"),
    Index("lexicons_load", "load_id"),
)

# Reports of `turnjudge evaluate` that somebody loaded, newest last.
EVALUATIONS: Final = Table(
    "evaluations",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("who", TEXT, nullable=False),
    Column("report", TEXT, nullable=False),
)
