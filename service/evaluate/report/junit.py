"""The report as JUnit XML, as GitHub, GitLab and Jenkins read it: a suite of gates and a suite of cases."""

from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree

from service.evaluate.report.showing import one_line, printable, shown
from service.evaluate.report.value import Case, Gate, Kind, Report, Word

_ELEMENTS: Final = {Word.FAIL: "failure", Word.ERROR: "error", Word.SKIPPED: "skipped"}
_COUNTS: Final = {"failures": Word.FAIL, "errors": Word.ERROR, "skipped": Word.SKIPPED}


def as_junit(report: Report) -> bytes:
    """Write a report as JUnit XML; what XML cannot hold becomes U+FFFD."""
    root = ElementTree.Element("testsuites", name=f"turnjudge {report.command}")
    if report.gates:
        suite = _suite(root, f"{report.command} gates", [gate.word for gate in report.gates])
        for gate in report.gates:
            _gate(suite, report, gate)
    suite = _suite(root, report.command, [case.word for case in report.cases])
    for case in report.cases:
        _case(suite, report, case)
    totals = [suite.attrib for suite in root]
    for name in ("tests", *_COUNTS):
        root.set(name, str(sum(int(total[name]) for total in totals)))
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _suite(root: ElementTree.Element, name: str, words: list[Word]) -> ElementTree.Element:
    counts = {key: str(words.count(word)) for key, word in _COUNTS.items()}
    return ElementTree.SubElement(root, "testsuite", {"name": name, "tests": str(len(words)), **counts})


def _gate(suite: ElementTree.Element, report: Report, gate: Gate) -> None:
    test = ElementTree.SubElement(suite, "testcase", classname=f"{report.command}.gates", name=one_line(gate.title))
    if gate.word in _ELEMENTS:
        ElementTree.SubElement(test, _ELEMENTS[gate.word], message=one_line(gate.message), type=gate.key)


def _case(suite: ElementTree.Element, report: Report, case: Case) -> None:
    test = ElementTree.SubElement(
        suite, "testcase", classname=f"{report.command}.{one_line(case.group)}", name=one_line(case.id)
    )
    if case.place is not None:
        test.set("file", printable(case.place.file))
        test.set("line", str(case.place.line))
    if case.word in _ELEMENTS:
        found = ElementTree.SubElement(test, _ELEMENTS[case.word], message=one_line(case.message))
        if case.word is not Word.SKIPPED:
            found.set("type", one_line(case.group))
            found.text = printable("\n".join(_details(case)))


def _details(case: Case) -> Iterator[str]:
    for fact in case.facts:
        yield f"{fact.title}: {shown(fact.value, fact.kind)}"
    for text in case.texts:
        yield f"{text.title}: {shown(text.value, Kind.TEXT)}"
    for table in case.tables:
        yield f"{table.title}:"
        for row in table.rows:
            cells = [shown(cell, column.kind) for column, cell in zip(table.columns, row, strict=True)]
            yield f"  {' · '.join(cells)}"
