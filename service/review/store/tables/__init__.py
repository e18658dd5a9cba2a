"""The tables, as SQLAlchemy sees them; `migrations` make them, and a test holds the two together."""

from service.review.store.tables.columns import METADATA
from service.review.store.tables.journal import ACCESSES, EXPORTS, FORGETTING_SALT, FORGOTTEN, RECEIPTS
from service.review.store.tables.reference import CARDS, EVALUATIONS, LEXICONS
from service.review.store.tables.review import DECISIONS, PUBLICATIONS, SAMPLE_ITEMS, SAMPLES
from service.review.store.tables.rows import (
    DAY_TALLIES,
    DAY_ZONE,
    LETTERS,
    LOADS,
    POSITIONS,
    SETTLING,
    SPIKE_TURNS,
    SPIKES,
    SUMMARIES,
    TALLIES,
    TEXTS,
    TURN_ROWS,
)

__all__ = [
    "ACCESSES",
    "CARDS",
    "DAY_TALLIES",
    "DAY_ZONE",
    "DECISIONS",
    "EVALUATIONS",
    "EXPORTS",
    "FORGETTING_SALT",
    "FORGOTTEN",
    "LETTERS",
    "LEXICONS",
    "LOADS",
    "METADATA",
    "POSITIONS",
    "PUBLICATIONS",
    "RECEIPTS",
    "SAMPLES",
    "SAMPLE_ITEMS",
    "SETTLING",
    "SPIKES",
    "SPIKE_TURNS",
    "SUMMARIES",
    "TALLIES",
    "TEXTS",
    "TURN_ROWS",
]
