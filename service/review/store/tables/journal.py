"""Who saw and took out what, and what was forgotten."""

from typing import Final

from sqlalchemy import BigInteger, Column, Index, Integer, Table

from service.review.store.tables.columns import ID, METADATA, TEXT

# Who saw whose chats, and when.
ACCESSES: Final = Table(
    "accesses",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("who", TEXT, nullable=False),
    Column("what", TEXT, nullable=False),
    Column("session_id", TEXT),
    Index("accesses_at", "at_ms"),
    Index("accesses_session", "session_id", "id"),
)

# What was taken out of the page as a file, by whom and why; `rows` and `ended_ms` are null while it is being sent.
EXPORTS: Final = Table(
    "exports",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("who", TEXT, nullable=False),
    Column("reason", TEXT, nullable=False),
    Column("form", TEXT, nullable=False),  # csv, jsonl
    Column("filters", TEXT, nullable=False),  # JSON
    Column("rows", BigInteger),
    Column("ended_ms", BigInteger),
    Column("whole", Integer),  # 1 where all of it was sent
)

# Sessions that were forgotten, by salted hash, so that old records of theirs that come again are known.
FORGOTTEN: Final = Table(
    "forgotten",
    METADATA,
    Column("session_hash", TEXT, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
)

# The salt of those hashes: one row, made when it is first needed.
FORGETTING_SALT: Final = Table(
    "forgetting_salt",
    METADATA,
    Column("salt", TEXT, primary_key=True),
)

# What was forgotten, when and by whom, as JSON without the session's id.
RECEIPTS: Final = Table(
    "receipts",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("who", TEXT, nullable=False),
    Column("character_id", TEXT),  # null: one session was asked for
    Column("report", TEXT, nullable=False),
)
