"""How a case of a test set came out."""

from enum import StrEnum


class Word(StrEnum):
    """The four words of every report (issue 6, item 5).

    An error of whoever was asked is ERROR, never PASS or FAIL; SKIPPED is what was not asked.
    """

    PASS = "PASS"  # noqa: S105 - a word of a report
    FAIL = "FAIL"
    ERROR = "ERROR"
    SKIPPED = "SKIPPED"
