"""What was expected of a row, in the reader's language: details name fields and expectations, never values."""

import re
from typing import Final

from service.review.words import said

_PROBLEM: Final = re.compile(r"(?P<field>[^:;]+): expected (?P<expected>.*)", re.DOTALL)
_SPLIT: Final = re.compile(r"; (?=[^:;]+: expected )")
_TYPES: Final = frozenset(("string", "null", "boolean", "array", "object", "integer", "number"))
# What a detail may say, and the key of its words.
_KNOWN: Final = tuple(
    (re.compile(pattern), key)
    for pattern, key in (
        (r"to be there", "expected_there"),
        (r"text that is not blank", "expected_text"),
        (r"one of (?P<words>.+)", "expected_one"),
        (r"at least (?P<count>\d+) of them", "expected_least"),
        (r"at most (?P<count>\d+) names", "expected_names"),
        (r"at most (?P<count>\d+) bytes", "expected_bytes"),
        (r"(?P<count>\d+) cells, as many as the header has", "expected_cells"),
        (r"once in a file, first on line (?P<count>\d+)", "expected_once"),
        (r"JSON by RFC 8259 \(.*\)", "expected_json"),
        (r"a whole number of 64 bits", "expected_whole"),
        (r"UTF-8", "expected_utf8"),
        (r"CSV whose quoted cells .*", "expected_csv"),
        (r"one that has a card", "expected_card"),
        (r"all ten to pass, failed (?P<words>.+)", "expected_checks"),
    )
)
_HEADERS: Final = tuple(
    (re.compile(pattern), key)
    for pattern, key in (
        (r"(?P<name>.*): the header lacks (?P<words>.+)", "header_lacks"),
        (r"(?P<name>.*): the header names (?P<words>.+) more than once", "header_twice"),
        (r"(?P<name>.*): the header cannot be read: .*", "header_unread"),
    )
)
_FIELDS: Final = {"row": "field_row", "record": "field_row", "checks": "field_checks"}


def told(language: str, detail: str | None) -> str:
    """Return a detail in a language; what is not known stays as it is."""
    return "; ".join(_problem(language, problem) for problem in _SPLIT.split(detail or ""))


def header_told(language: str, line: str) -> str:
    """Return the line about a sheet whose header cannot be used; another stays as it is."""
    for pattern, key in _HEADERS:
        if found := pattern.fullmatch(line):
            return said(language, key, **found.groupdict())
    return line


def _problem(language: str, problem: str) -> str:
    found = _PROBLEM.fullmatch(problem)
    if found is None:
        return problem
    field, expected = found["field"], found["expected"]
    words = _expected(language, expected)
    if words is None:
        return problem
    return f"{said(language, _FIELDS[field]) if field in _FIELDS else field}: {words}"


def _expected(language: str, expected: str) -> str | None:
    types = expected.split(" or ")
    if _TYPES.issuperset(types):
        return said(language, "expected_or").join(said(language, f"type_{each}") for each in types)
    for pattern, key in _KNOWN:
        if found := pattern.fullmatch(expected):
            return said(language, key, **found.groupdict())
    return None
