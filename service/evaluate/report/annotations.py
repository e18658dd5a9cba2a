"""Annotations of a GitHub Actions job: one workflow command a gate and a case that is not well."""

from collections.abc import Iterator
from typing import Final

from service.evaluate.report.showing import printable
from service.evaluate.report.value import Report, Word

# GitHub shows ten of a kind a step; one line says how many there were.
MOST: Final = 10
_KINDS: Final = {Word.FAIL: "warning", Word.ERROR: "error"}
_ESCAPES: Final = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_PROPERTY_ESCAPES: Final = (*_ESCAPES, (":", "%3A"), (",", "%2C"))


def annotations(report: Report) -> Iterator[str]:
    """Yield the workflow commands: an error a gate that was missed, then the first cases that are not well."""
    for gate in report.gates:
        if gate.word in _KINDS:
            yield _command("error", {"title": f"{report.title}: {gate.word}"}, f"{gate.title}: {gate.message}")
    for word, kind in _KINDS.items():
        cases = [case for case in report.cases if case.word is word]
        for case in cases[: MOST - 1]:
            place = {"file": case.place.file, "line": str(case.place.line)} if case.place else {}
            title = f"{case.word} {case.id}"
            yield _command(kind, {**place, "title": title}, f"{case.group}\n{case.message}")
        if len(cases) >= MOST:
            rest = f"그 밖에 {word} {len(cases) - MOST + 1:,}건은 보고서에 있습니다."
            yield _command(kind, {"title": report.title}, rest)


def _command(kind: str, properties: dict[str, str], message: str) -> str:
    named = ",".join(f"{name}={_escaped(value, _PROPERTY_ESCAPES)}" for name, value in properties.items())
    return f"::{kind} {named}::{_escaped(message, _ESCAPES)}"


def _escaped(text: str, escapes: tuple[tuple[str, str], ...]) -> str:
    text = printable(text)
    for character, escape in escapes:
        text = text.replace(character, escape)
    return text
