"""The three JSON examples of spec 001, from file to report."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from files.commands import turnjudge, write_rows
from oracle_spec.examples import (
    COMPLIANCE,
    HOTLINE,
    IN_ORDER,
    PRODUCT,
    PROMISING,
    SAMPLES,
    SUPPORT,
    TERMS,
    Sample,
    answers_to,
)

Row = dict[str, Any]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Row:
    """Every sample through the command line, with recorded answers for the flows."""
    folder = tmp_path_factory.mktemp("samples")
    dataset = write_rows(
        folder / "dataset.jsonl", ({"id": each.name, "evaluation_criteria": each.criteria} for each in SAMPLES)
    )
    outputs = write_rows(folder / "outputs.jsonl", ({"id": each.name, "output": each.output} for each in SAMPLES))
    answers = write_rows(folder / "answers.jsonl", (row for each in SAMPLES for row in answers_to(each)))
    done = turnjudge("oracle", dataset, "--outputs", outputs, "--flow-answers", answers, "--format", "json")
    assert (done.code, done.err) == (1, "")
    whole: Row = json.loads(done.out)
    return whole


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_every_sample_comes_out_as_the_spec_says(sample: Sample, report: Row) -> None:
    [case] = [case for case in report["cases"] if case["id"] == sample.name]
    assert (case["result"], case["group"]) == (sample.word, sample.found)


def test_the_report_says_what_was_met_where(report: Row) -> None:
    [attempt] = _case(report, "product-pass")["data"]["attempts"]
    assert [met["by"][0]["places"] for met in attempt["must_include"]] == [
        [{"start": TERMS.index(text), "end": TERMS.index(text) + len(text), "text": text}]
        for text in ("원금 100% 보장", "연 3.5%", "중도 해지 수수료")
    ]
    # 3.5% stands in 연 3.5% and meets the group as well: overlapping words all count.
    assert [each["entry"] for each in attempt["must_include"][1]["by"]] == ["연 3.5%", "3.5%"]


def test_the_report_says_what_was_missed_and_what_is_banned_where(report: Row) -> None:
    [attempt] = _case(report, "product-missed")["data"]["attempts"]
    assert [met["met"] for met in attempt["must_include"]] == [True, True, False]
    [attempt] = _case(report, "whole-banned-though-met")["data"]["attempts"]
    assert all(met["met"] for met in attempt["must_include"])
    start = PROMISING.index("무조건")
    [banned] = attempt["must_not_include"]
    assert banned["entry"] == "무조건"
    assert banned["places"] == [{"start": start, "end": start + 3, "text": "무조건"}]
    assert {step["result"] for step in attempt["logical_flow"]} == {"SKIPPED"}


def test_a_failing_step_gates_the_rest_and_is_examined_again(report: Row) -> None:
    attempts = _case(report, "support-order")["data"]["attempts"]
    assert [each["attempt"] for each in attempts] == [1, 2]
    for attempt in attempts:
        # Step 3 stands before step 2, whose words come last: it is there, and out of order.
        assert [step["result"] for step in attempt["logical_flow"]] == ["PASS", "PASS", "FAIL", "SKIPPED"]
        assert [step["out_of_order"] for step in attempt["logical_flow"]] == [False, False, True, False]


def test_a_passing_flow_shows_its_quotes_in_order(report: Row) -> None:
    [attempt] = _case(report, "support-pass")["data"]["attempts"]
    quotes = [step["quote"] for step in attempt["logical_flow"]]
    assert [IN_ORDER[quote["start"] : quote["end"]] for quote in quotes] == [quote["text"] for quote in quotes]
    starts = [quote["start"] for quote in quotes]
    assert starts == sorted(set(starts))
    assert IN_ORDER.index(HOTLINE) < starts[-1]


@pytest.mark.needs("shared")
def test_the_examples_are_those_of_the_spec(shared: Path) -> None:
    [spec] = shared.glob("spec/001_*.txt")
    bodies = re.findall(
        r'^"evaluation_criteria": (\{.*?^\})', spec.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert [json.loads(body) for body in bodies] == [PRODUCT, COMPLIANCE, SUPPORT]


def _case(report: Row, name: str) -> Row:
    [case] = [case for case in report["cases"] if case["id"] == name]
    found: Row = case
    return found
