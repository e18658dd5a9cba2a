"""What a lint says about a row: where, how grave, and what the creator can do, in Korean."""

from enum import StrEnum
from typing import Any, NamedTuple


class Weight(StrEnum):
    """Whether a row does not work as written, or only deserves a look."""

    FIX = "고칠 것"
    LOOK = "살펴볼 것"


class Finding(NamedTuple):
    """A finding: the line of its row, a code of the closed lists of `terms` and `cards`, its weight, a message."""

    line: int
    code: str
    weight: Weight
    message: str


class Linted(NamedTuple):
    """A file by its name in reports, how many rows it has, and what was found, by line."""

    file: str
    rows: int
    findings: list[Finding]


def in_words(file: str, finding: Finding) -> str:
    """Say a finding in one line: file:line: weight (code): message."""
    return f"{file}:{finding.line}: {finding.weight}({finding.code}): {finding.message}"


def in_columns(file: str, finding: Finding) -> dict[str, Any]:
    """Return a finding as a JSON record."""
    return {
        "file": file,
        "line": finding.line,
        "code": finding.code,
        "weight": finding.weight.value,
        "message": finding.message,
    }
