"""Why a record could not be judged."""

from enum import StrEnum
from typing import Final, NamedTuple


class Reason(StrEnum):
    """The closed list of dead-letter reasons (design section 6)."""

    MALFORMED = "malformed"
    TOO_LARGE = "too_large"
    SCHEMA_INVALID = "schema_invalid"
    UNKNOWN_CHARACTER = "unknown_character"
    RULE_FAILED = "rule_failed"
    UNVERIFIED = "unverified"


# The reasons that are ours: the judge erred. All others are the sender's.
OURS: Final = frozenset({Reason.RULE_FAILED, Reason.UNVERIFIED})


class Refusal(NamedTuple):
    """A record that was not taken: the reason, and a detail that names field and expectation, never a value."""

    reason: Reason
    detail: str
