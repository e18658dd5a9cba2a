import csv
import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.evaluate.report.annotations import annotations
from service.evaluate.report.html import as_html
from service.evaluate.report.junit import as_junit
from service.evaluate.report.markdown import MOST_CASES, as_markdown, inert
from service.evaluate.report.output import WRITERS, Form, Target, deliver, targets
from service.evaluate.report.records import as_json, as_jsonl
from service.evaluate.report.sheet import as_csv, safe
from service.evaluate.report.terminal import as_table
from service.evaluate.report.value import (
    Case,
    Column,
    Estimate,
    Facet,
    Fact,
    Figure,
    Gate,
    Kind,
    Mark,
    Notice,
    Place,
    Report,
    Table,
    Text,
    Word,
    result,
)

HOSTILE = (
    '=HYPERLINK("http://x")',
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "'\"><svg onload=alert(1)>",
    "{{ 7 * 7 }}",
    "::error file=a::b",
    "##[error]b",
    "a | b\n\nc",
    "@someone #12 https://example.org `x`",
    "\x00\x1b[31m\x08\u202e\ud7a3",
    "가" * 500,
)


def report_with(text: str, word: Word = Word.FAIL) -> Report:
    columns = (Column("source", "source"), Column(f"value{text}", text))
    return Report(
        command="evaluate",
        title=text,
        word=Word.FAIL,
        case_title="회차",
        facets=(Facet("model_id", text),),
        gates=(Gate("bar", text, Word.FAIL, text),),
        figures=(Figure("share", text, Estimate(0.5, 0.4, 0.6, 1, 2), Kind.SHARE, text),),
        notices=(Notice("n", text),),
        tables=(
            Table("t", text, columns, ((text, text),), text, folded=True),
            Table("u", text, columns, ((text, text),)),
        ),
        cases=(
            Case(
                text,
                word,
                text,
                text,
                (text,),
                (Fact("note", text, text),),
                (Text("reply_text", text, text, (Mark(0, 2, text), Mark(1, 99, "b"))), Text("none", "none", None)),
                (Table("e", text, columns, ((text, text),)),),
                Place("gold.jsonl", 3),
            ),
            Case("T-2", Word.PASS, "같음", "", ("m",)),
        ),
        settings=(Fact("seed", text, 0),),
    )


class Page(HTMLParser):
    """What a browser would make of a page: its elements, its attributes and what its script holds."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.inside: dict[str, str] = {"script": "", "style": ""}
        self._open = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self._open = tag

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open in self.inside:
            self.inside[self._open] += data


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_from_outside_is_live_in_the_page(text: str) -> None:
    page = Page(as_html(report_with(text)).decode())
    assert page.tags.count("script") == 1
    assert not {"img", "svg", "iframe", "link", "object", "a", "base"} & set(page.tags)
    names = {name for name, _ in page.attributes}
    assert not {name for name in names if name.startswith("on")}
    assert not names & {"src", "href", "style"}
    assert page.tags.count("mark") >= 1


def test_the_page_needs_nothing_else_and_lets_only_its_own_script_run() -> None:
    text = as_html(report_with("가")).decode()
    page = Page(text)
    policy = next(value for name, value in page.attributes if name == "content" and value and "default-src" in value)
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        digest = b64encode(sha256(page.inside[tag].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert not re.search(r"https?://|url\(|@import", text)
    assert '<html lang="ko">' in text


def test_marks_cut_the_text_at_their_edges() -> None:
    case = Case("T", Word.FAIL, "g", "m", texts=(Text("t", "답장", "가나다라", (Mark(0, 2, "x"), Mark(1, 3, "y"))),))
    page = as_html(Report("c", "t", Word.FAIL, "회차", cases=(case,))).decode()
    assert re.findall(r'<mark title="(.*?)">(.*?)</mark>', page) == [("x", "가"), ("x · y", "나"), ("y", "다")]
    assert "</mark>라</p>" in page


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+82", "'+82"),
        ("-3", "'-3"),
        ("@a", "'@a"),
        ("＝1", "'＝1"),
        ("  =1", "'  =1"),
        ("\t=1", "'\t=1"),
        ("\r안", "'\n안"),
        ("|calc", "'|calc"),
        ("안녕 =1", "안녕 =1"),
        ("", ""),
        (None, ""),
        (-3, -3),
        (0.5, 0.5),
        (True, "true"),
    ],
)
def test_no_cell_is_a_formula(cell: str | float | None, written: str | float) -> None:
    assert safe(cell) == written


@given(st.text())
def test_no_text_is_a_formula(text: str) -> None:
    written = str(safe(text))
    assert not written.lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))
    assert not written.startswith(("\t", "\r", "\n"))


def test_csv_is_read_back_whole() -> None:
    rows = list(csv.DictReader(StringIO(as_csv(report_with('가\n나,"다"')).decode("utf-8-sig"), newline="")))
    assert [row["result"] for row in rows] == ["FAIL", "PASS"]
    assert rows[0]["reply_text"] == '가\n나,"다"'
    assert (rows[0]["file"], rows[0]["line"]) == ("gold.jsonl", "3")
    assert len(rows[0]) == len(set(rows[0]))


@pytest.mark.parametrize("text", HOSTILE)
def test_junit_is_xml_with_the_four_words(text: str) -> None:
    report = report_with(text)
    error, skipped = report.cases[0]._replace(word=Word.ERROR), report.cases[0]._replace(word=Word.SKIPPED)
    root = ElementTree.fromstring(as_junit(report._replace(cases=(*report.cases, error, skipped))))  # noqa: S314
    counts = {name: int(root.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": 5, "failures": 2, "errors": 1, "skipped": 1}
    assert [suite.attrib["tests"] for suite in root] == ["1", "4"]
    kinds = [[child.tag for child in test] for test in root.iter("testcase")]
    assert kinds == [["failure"], ["failure"], [], ["error"], ["skipped"]]
    assert root.findall(".//testcase[@file='gold.jsonl'][@line='3']")


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_is_inert(text: str) -> None:
    assert not set("|<>`@*_#:[]&\n") & set(re.sub(r"&#[0-9]+;", "", inert(text)))
    lines = as_markdown(report_with(text)).decode().splitlines()
    assert sum(line.startswith("| ") and line.count("|") == 4 for line in lines) >= 1


def test_markdown_says_how_many_it_leaves_out() -> None:
    cases = tuple(Case(f"T-{number}", Word.FAIL, "g", "m") for number in range(MOST_CASES + 7))
    written = as_markdown(Report("c", "t", Word.FAIL, "회차", cases=cases)).decode()
    assert written.count("| FAIL |") == MOST_CASES
    assert "그 밖에 7건" in written


@pytest.mark.parametrize("text", HOSTILE)
def test_a_chat_cannot_command_a_job_through_its_log(text: str) -> None:
    lines = as_table(report_with(text)).decode().splitlines()
    assert not [line for line in lines if "::" in line or "##[" in line or "\x1b" in line]
    commands = list(annotations(report_with(text)))
    assert all(
        line.startswith(("::error ", "::warning ")) and "\n" not in line and "\r" not in line for line in commands
    )
    keys = [[each.split("=")[0] for each in line.split("::")[1].split(",")] for line in commands]
    assert keys == [["error title"], ["warning file", "line", "title"]]


def test_annotations_say_how_many_they_leave_out() -> None:
    cases = tuple(Case(f"T-{number}", Word.FAIL, "g", "m", place=Place("a,b:c%", number)) for number in range(12))
    lines = list(annotations(Report("c", "판정", Word.PASS, "회차", cases=cases)))
    assert len(lines) == 10
    assert lines[0] == "::warning file=a%2Cb%3Ac%25,line=0,title=FAIL T-0::g%0Am"
    assert "그 밖에 FAIL 3건" in lines[-1]


def test_json_and_jsonl_hold_the_same_cases() -> None:
    report = report_with("가")
    whole = json.loads(as_json(report))
    rows = [json.loads(line) for line in as_jsonl(report).splitlines()]
    assert [row["kind"] for row in rows] == ["run", "gate", "figure", "notice", "row", "row", "case", "case"]
    assert [{key: row[key] for key in whole["cases"][0]} for row in rows[-2:]] == whole["cases"]
    assert (whole["result"], whole["exit_code"], rows[0]["result"]) == ("FAIL", 1, "FAIL")
    assert whole["figures"]["share"]["value"] == {"value": 0.5, "low": 0.4, "high": 0.6, "hits": 1, "of": 2}


@given(st.text())
def test_every_form_takes_any_text(text: str) -> None:
    for form in (Form.TABLE, Form.CSV, Form.MD, Form.HTML):
        assert WRITERS[form](report_with(text)).decode()
    assert ElementTree.fromstring(WRITERS[Form.JUNIT](report_with(text))).tag == "testsuites"  # noqa: S314


# Words of gates and of cases, whether nothing was compared, and what that comes to.
RESULTS: tuple[tuple[list[Word], list[Word], bool, Word, int], ...] = (
    ([], [], False, Word.PASS, 0),
    ([Word.PASS], [Word.FAIL, Word.SKIPPED], False, Word.PASS, 0),  # whether that is too many, only a gate says
    ([Word.PASS, Word.FAIL], [Word.PASS], False, Word.FAIL, 1),
    ([Word.FAIL, Word.ERROR], [], False, Word.ERROR, 3),
    ([Word.FAIL], [Word.ERROR], False, Word.ERROR, 3),
    ([Word.PASS], [], True, Word.ERROR, 3),
)


@pytest.mark.parametrize(("gates", "cases", "is_empty", "word", "code"), RESULTS)
def test_gates_and_errors_decide(gates: list[Word], cases: list[Word], is_empty: bool, word: Word, code: int) -> None:
    found = result(
        [Gate("g", "", each, "") for each in gates], [Case("T", each, "g", "") for each in cases], is_empty=is_empty
    )
    assert found is word
    assert Report("c", "t", word, "회차").exit_code == code


def test_several_forms_at_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    paths = {form: tmp_path / f"report.{form}" for form in Form}
    wanted = targets([f"{form}={path}" for form, path in paths.items()])
    assert wanted[0] == Target(Form.TABLE, None)
    deliver(report_with("가"), wanted, annotate=True)
    out, err = capfd.readouterr()
    assert "FAIL" in out
    assert err.startswith("::error ")
    assert all(path.stat().st_size for path in paths.values())
    assert targets(["json", "html=x.html"]) == (Target(Form.JSON, None), Target(Form.HTML, "x.html"))
    assert targets([]) == (Target(Form.TABLE, None),)
