"""The first version: verdicts, what they were judged by, loads, and what search finds them by."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0001"
down_revision: Final = None

_TEXT: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_ID: Final = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_SHOWN: Final = sa.text("place IS NOT NULL")
_PROMPTED: Final = sa.text("place IS NOT NULL AND prompt_key IS NOT NULL")
_IN_FORCE: Final = sa.text("undone_ms IS NULL")


def upgrade() -> None:
    """Make the tables."""
    _accesses()
    _evaluations()
    _loads()
    _positions()
    _settling()
    _spikes()
    _summaries()
    _tallies()
    _days()
    _exports()
    _cards()
    _letters()
    _lexicons()
    _turn_rows()
    _turn_row_indexes()
    _texts()
    _grams()
    _samples()
    _sample_items()
    _forgetting()
    _decisions()
    _publications()


def _accesses() -> None:
    op.create_table(
        "accesses",
        sa.Column("id", _ID, nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("who", _TEXT, nullable=False),
        sa.Column("what", _TEXT, nullable=False),
        sa.Column("session_id", _TEXT),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("accesses_at", "accesses", ["at_ms"])
    op.create_index("accesses_session", "accesses", ["session_id", "id"])


def _evaluations() -> None:
    op.create_table(
        "evaluations",
        sa.Column("id", _ID, nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("who", _TEXT, nullable=False),
        sa.Column("report", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )


def _loads() -> None:
    op.create_table(
        "loads",
        sa.Column("id", _ID, nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("who", _TEXT, nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("beat_ms", sa.BigInteger(), nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("judged", sa.BigInteger(), nullable=False),
        sa.Column("refused", sa.BigInteger(), nullable=False),
        sa.Column("known", sa.BigInteger(), nullable=False),
        sa.Column("ended_ms", sa.BigInteger()),
        sa.Column("ended_by", _TEXT),
        sa.PrimaryKeyConstraint("id"),
    )


def _positions() -> None:
    op.create_table(
        "positions",
        sa.Column("topic", _TEXT, nullable=False),
        sa.Column("partition", sa.Integer(), nullable=False),
        sa.Column("next_offset", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("topic", "partition"),
    )


def _settling() -> None:
    op.create_table(
        "settling",
        sa.Column("session_id", _TEXT, nullable=False),
        sa.Column("turn_id", _TEXT, nullable=False),
        sa.Column("row_id", sa.BigInteger()),
        sa.Column("place", sa.BigInteger()),
        sa.PrimaryKeyConstraint("session_id", "turn_id"),
    )


def _spikes() -> None:
    op.create_table(
        "spikes",
        sa.Column("spike_id", _TEXT, nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("topic", _TEXT, nullable=False),
        sa.Column("character_id", _TEXT),
        sa.Column("opened_ms", sa.BigInteger(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("window_s", sa.BigInteger(), nullable=False),
        sa.Column("observed", sa.BigInteger(), nullable=False),
        sa.Column("exposure", sa.BigInteger(), nullable=False),
        sa.Column("baseline_observed", sa.BigInteger(), nullable=False),
        sa.Column("baseline_exposure", sa.BigInteger(), nullable=False),
        sa.Column("ratio", sa.Double()),
        sa.Column("p_value", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("spike_id"),
    )
    op.create_index("spikes_state", "spikes", ["state", "opened_ms"])
    op.create_table(
        "spike_turns",
        sa.Column("spike_id", _TEXT, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("session_id", _TEXT, nullable=False),
        sa.Column("turn_id", _TEXT, nullable=False),
        sa.ForeignKeyConstraint(["spike_id"], ["spikes.spike_id"]),
        sa.PrimaryKeyConstraint("spike_id", "number"),
    )
    op.create_index("spike_turns_session", "spike_turns", ["session_id"])


def _summaries() -> None:
    op.create_table(
        "summaries",
        sa.Column("verdict_id", _TEXT, nullable=False),
        sa.Column("session_id", _TEXT, nullable=False),
        sa.Column("by", _TEXT, nullable=False),
        sa.Column("model", _TEXT),
        sa.Column("summary", _TEXT, nullable=False),
        sa.Column("reason", _TEXT),
        sa.PrimaryKeyConstraint("verdict_id"),
    )
    op.create_index("summaries_session", "summaries", ["session_id"])


def _tallies() -> None:
    op.create_table(
        "tallies",
        sa.Column("character_id", _TEXT, nullable=False),
        sa.Column("model_id", _TEXT, nullable=False),
        sa.Column("touched_topic", _TEXT, nullable=False),
        sa.Column("verdict", _TEXT, nullable=False),
        sa.Column("hedged", sa.Integer(), nullable=False),
        sa.Column("shown", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("verdict", "character_id", "model_id", "touched_topic", "hedged"),
    )


def _days() -> None:
    op.create_table(
        "day_tallies",
        sa.Column("day", sa.BigInteger(), nullable=False),
        sa.Column("character_id", _TEXT, nullable=False),
        sa.Column("model_id", _TEXT, nullable=False),
        sa.Column("touched_topic", _TEXT, nullable=False),
        sa.Column("verdict", _TEXT, nullable=False),
        sa.Column("dated", sa.Integer(), nullable=False),
        sa.Column("shown", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("day", "character_id", "model_id", "touched_topic", "verdict", "dated"),
    )
    op.create_index("day_tallies_character", "day_tallies", ["character_id", "day"])
    zone = op.create_table("day_zone", sa.Column("utc_offset_minutes", sa.Integer(), nullable=False))
    op.bulk_insert(zone, [{"utc_offset_minutes": 540}])


def _exports() -> None:
    op.create_table(
        "exports",
        sa.Column("id", _ID, nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("who", _TEXT, nullable=False),
        sa.Column("reason", _TEXT, nullable=False),
        sa.Column("form", _TEXT, nullable=False),
        sa.Column("filters", _TEXT, nullable=False),
        sa.Column("rows", sa.BigInteger()),
        sa.Column("ended_ms", sa.BigInteger()),
        sa.Column("whole", sa.Integer()),
        sa.PrimaryKeyConstraint("id"),
    )


def _cards() -> None:
    op.create_table(
        "cards",
        sa.Column("id", _ID, nullable=False),
        sa.Column("character_id", _TEXT, nullable=False),
        sa.Column("digest", _TEXT, nullable=False),
        sa.Column("record", _TEXT),
        sa.Column("changed_ms", sa.BigInteger(), nullable=False),
        sa.Column("load_id", _ID),
        sa.ForeignKeyConstraint(["load_id"], ["loads.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("cards_character", "cards", ["character_id", "changed_ms"])
    op.create_index("cards_digest", "cards", ["digest"])
    op.create_index("cards_load", "cards", ["load_id"])


def _letters() -> None:
    op.create_table(
        "letters",
        sa.Column("letter_id", _TEXT, nullable=False),
        sa.Column("reason", _TEXT, nullable=False),
        sa.Column("detail", _TEXT, nullable=False),
        sa.Column("source", _TEXT, nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("load_id", _ID),
        sa.ForeignKeyConstraint(["load_id"], ["loads.id"]),
        sa.PrimaryKeyConstraint("letter_id"),
    )
    op.create_index("letters_at", "letters", ["at_ms"])
    op.create_index("letters_load", "letters", ["load_id"])


def _lexicons() -> None:
    op.create_table(
        "lexicons",
        sa.Column("id", _ID, nullable=False),
        sa.Column("digest", _TEXT, nullable=False),
        sa.Column("records", _TEXT, nullable=False),
        sa.Column("changed_ms", sa.BigInteger(), nullable=False),
        sa.Column("load_id", _ID),
        sa.ForeignKeyConstraint(["load_id"], ["loads.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("lexicons_digest", "lexicons", ["digest"])
    op.create_index("lexicons_load", "lexicons", ["load_id"])


def _turn_rows() -> None:
    op.create_table(
        "turn_rows",
        sa.Column("id", _ID, nullable=False),
        sa.Column("place", sa.BigInteger()),
        sa.Column("session_id", _TEXT, nullable=False),
        sa.Column("turn_id", _TEXT, nullable=False),
        sa.Column("turn_key", _TEXT, nullable=False),
        sa.Column("character_id", _TEXT, nullable=False),
        sa.Column("model_id", _TEXT, nullable=False),
        sa.Column("prompt_id", _TEXT),
        sa.Column("prompt_key", _TEXT),
        sa.Column("occurred_ms", sa.BigInteger()),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("verdict", _TEXT),
        sa.Column("reason", _TEXT),
        sa.Column("detail", _TEXT),
        sa.Column("touched_topic", _TEXT),
        sa.Column("touched_term", _TEXT),
        sa.Column("hedge_codes", _TEXT),
        sa.Column("hedged", sa.Integer(), nullable=False),
        sa.Column("off_canon", _TEXT),
        sa.Column("summary", _TEXT),
        sa.Column("record", _TEXT),
        sa.Column("turn", _TEXT),
        sa.Column("verdict_id", _TEXT, nullable=False),
        sa.Column("judged_ms", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("card_digest", _TEXT),
        sa.Column("lexicon_digest", _TEXT),
        sa.Column("profile_digest", _TEXT),
        sa.Column("load_id", _ID),
        sa.ForeignKeyConstraint(["load_id"], ["loads.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("verdict_id", name="turn_rows_verdict_id"),
    )


def _turn_row_indexes() -> None:
    op.create_index("turn_rows_age", "turn_rows", ["occurred_ms", "load_id", "judged_ms"])
    op.create_index("turn_rows_character", "turn_rows", ["character_id", "verdict", "place", "occurred_ms", "hedged"])
    op.create_index("turn_rows_load", "turn_rows", ["load_id"])
    op.create_index("turn_rows_model", "turn_rows", ["model_id", "verdict", "place", "occurred_ms", "hedged"])
    op.create_index("turn_rows_place", "turn_rows", ["place", "occurred_ms", "hedged"])
    op.create_index(
        "turn_rows_prompt",
        "turn_rows",
        ["prompt_key", "model_id", "turn_key", "place", "verdict"],
        sqlite_where=_PROMPTED,
        postgresql_where=_PROMPTED,
    )
    op.create_index("turn_rows_reason", "turn_rows", ["reason", "place"])
    op.create_index("turn_rows_session", "turn_rows", ["session_id", "verdict", "place"])
    op.create_index(
        "turn_rows_shown",
        "turn_rows",
        ["session_id", "turn_id"],
        unique=True,
        sqlite_where=_SHOWN,
        postgresql_where=_SHOWN,
    )
    op.create_index("turn_rows_topic", "turn_rows", ["touched_topic", "verdict", "place", "occurred_ms", "hedged"])
    op.create_index("turn_rows_turn", "turn_rows", ["session_id", "turn_id"])
    op.create_index("turn_rows_verdict", "turn_rows", ["verdict", "place", "occurred_ms", "hedged"])


def _texts() -> None:
    op.create_table(
        "texts",
        sa.Column("id", _ID, autoincrement=False, nullable=False),
        sa.Column("folded", _TEXT, nullable=False),
        sa.ForeignKeyConstraint(["id"], ["turn_rows.id"]),
        sa.PrimaryKeyConstraint("id"),
    )


def _grams() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE grams USING fts5(words, content = '', detail = none, tokenize = 'ascii')")
    else:
        op.execute("ALTER TABLE texts ADD COLUMN grams tsvector NOT NULL")
        op.execute("CREATE INDEX texts_grams ON texts USING gin (grams) WITH (gin_pending_list_limit = 1024)")


def _samples() -> None:
    op.create_table(
        "samples",
        sa.Column("id", _ID, nullable=False),
        sa.Column("queue", _TEXT, nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("reviewers", sa.Integer(), nullable=False),
        sa.Column("filters", _TEXT, nullable=False),
        sa.Column("population", sa.BigInteger(), nullable=False),
        sa.Column("last_row", sa.BigInteger(), nullable=False),
        sa.Column("who", _TEXT, nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("closed_ms", sa.BigInteger()),
        sa.Column("closed_by", _TEXT),
        sa.Column("by_hand", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("samples_queue", "samples", ["queue", "id"])


def _sample_items() -> None:
    op.create_table(
        "sample_items",
        sa.Column("id", _ID, nullable=False),
        sa.Column("sample_id", _ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("key", _TEXT, nullable=False),
        sa.Column("character_id", _TEXT),
        sa.Column("session_id", _TEXT),
        sa.Column("turn_id", _TEXT),
        sa.Column("verdict_id", _TEXT),
        sa.Column("chosen_by", _TEXT),
        sa.Column("chosen_ms", sa.BigInteger()),
        sa.ForeignKeyConstraint(["sample_id"], ["samples.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("sample_id", "number", name="sample_items_number"),
    )
    op.create_index("sample_items_session", "sample_items", ["session_id"])
    op.create_index("sample_items_character", "sample_items", ["character_id"])


def _decisions() -> None:
    op.create_table(
        "decisions",
        sa.Column("id", _ID, nullable=False),
        sa.Column("item_id", _ID, nullable=False),
        sa.Column("reviewer", _TEXT, nullable=False),
        sa.Column("answer", _TEXT, nullable=False),
        sa.Column("note", _TEXT),
        sa.Column("extra", _TEXT),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("blind", sa.Integer(), nullable=False),
        sa.Column("verdict_id", _TEXT),
        sa.Column("card_digest", _TEXT),
        sa.Column("lexicon_digest", _TEXT),
        sa.Column("profile_digest", _TEXT),
        sa.Column("undone_ms", sa.BigInteger()),
        sa.ForeignKeyConstraint(["item_id"], ["sample_items.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "decisions_in_force",
        "decisions",
        ["item_id", "reviewer"],
        unique=True,
        sqlite_where=_IN_FORCE,
        postgresql_where=_IN_FORCE,
    )
    op.create_index("decisions_item", "decisions", ["item_id"])
    op.create_index("decisions_reviewer", "decisions", ["reviewer"])


def _publications() -> None:
    op.create_table(
        "publications",
        sa.Column("id", _ID, nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("who", _TEXT, nullable=False),
        sa.Column("character_id", _TEXT, nullable=False),
        sa.Column("before", _TEXT, nullable=False),
        sa.Column("after", _TEXT, nullable=False),
        sa.Column("was_held", sa.Integer(), nullable=False),
        sa.Column("made_from", _TEXT, nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("ended_ms", sa.BigInteger()),
        sa.Column("ended_by", _TEXT),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("publications_character", "publications", ["character_id"])


def _forgetting() -> None:
    op.create_table(
        "forgotten",
        sa.Column("session_hash", _TEXT, nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("session_hash"),
    )
    op.create_table(
        "forgetting_salt",
        sa.Column("salt", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("salt"),
    )
    op.create_table(
        "receipts",
        sa.Column("id", _ID, nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("who", _TEXT, nullable=False),
        sa.Column("character_id", _TEXT),
        sa.Column("report", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
