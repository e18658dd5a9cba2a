"""Why a record could not be judged."""

from enum import StrEnum
from typing import NamedTuple


class Reason(StrEnum):
    """The closed list of dead-letter reasons (design section 6).

    The first four are the sender's, the last two are ours.
    """

    MALFORMED = "malformed"
    TOO_LARGE = "too_large"
    SCHEMA_INVALID = "schema_invalid"
    UNKNOWN_CHARACTER = "unknown_character"
    RULE_FAILED = "rule_failed"
    UNVERIFIED = "unverified"


class Refusal(NamedTuple):
    """A record that was not taken: the reason, and a detail that names field and expectation, never a value."""

    reason: Reason
    detail: str
