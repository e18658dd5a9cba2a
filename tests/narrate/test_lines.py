"""`turnjudge judge --summaries`: the same order, by the model or by the rule, and one line where a setting is wrong."""

import json
from pathlib import Path

import pytest

from deciding import Row
from files.commands import read_rows
from files.desk import CARD, ENTRY, Desk, turn
from llm.endpoint import Endpoint, Reply, completion, right, status
from service.cli import run

CARDS = [CARD | {"character_id": "C"}]
KEPT = "답장이 카드가 정한 반말을 유지해 설정에서 벗어나지 않았습니다."
TOUCHED = "답장에 나온 「판돈」은 카드가 막은 내기 소재에 해당합니다."


def model(monkeypatch: pytest.MonkeyPatch, endpoint: Endpoint, **settings: object) -> None:
    given = {"url": endpoint.url, "model": "m-1", "attempts": 1, "timeout_s": 5, **settings}
    for name, value in given.items():
        monkeypatch.setenv(f"TURNJUDGE_LLM_{name.upper()}", str(value))


def answered(body: Row, number: int) -> Reply:
    """Answer rightly but for every seventh question, which is declined with an error."""
    data = json.loads(body["messages"][1]["content"])
    if "7번" in json.dumps(data, ensure_ascii=False):
        return status(400)
    summary = TOUCHED if data["touched_topic"] else KEPT
    return right({"verdict": data["verdict"], "evidence": data["evidence"][:2], "summary": summary})


def desk_of(folder: Path, count: int) -> Desk:
    said = ("그래 {}번 간다.", "판돈 {}번 걸자.")
    turns = [turn(f"T-{n}", session_id=f"S-{n % 3}", reply_text=said[n % 2].format(n)) for n in range(count)]
    return Desk(folder, turns, CARDS, [ENTRY])


def test_summaries_stand_in_the_verdicts_order_by_model_or_by_rule(
    tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.answer = answered
    model(monkeypatch, endpoint)
    desk, summaries = desk_of(tmp_path, 60), tmp_path / "summaries.jsonl"
    assert desk.judge("--summaries", summaries) == 0
    verdicts, rows = desk.verdicts(), read_rows(summaries)
    assert [row["turn_id"] for row in rows] == [verdict["turn_id"] for verdict in verdicts]
    assert len(rows) == 60
    for verdict, row in zip(verdicts, rows, strict=True):
        asked_in_vain = "7번" in verdict["evidence"][0]["value"]
        summary = verdict["summary"] if asked_in_vain else TOUCHED if verdict["touched_topic"] else KEPT
        author = ("rule", None, "rejected") if asked_in_vain else ("model", "m-1", None)
        assert row == {"verdict_id": None, "turn_id": verdict["turn_id"], "session_id": verdict["session_id"]} | {
            "summary": summary, "by": author[0], "model": author[1], "reason": author[2],
        }  # fmt: skip
    assert verdicts == [verdict | {"summary": verdict["summary"]} for verdict in verdicts]
    assert endpoint.most_at_once <= 4
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("60 summaries: 54 by the model, 6 by the rule (6 rejected) with m-1 at 127.0.0.1:")
    assert "60 requests" in line


def test_the_verdicts_are_the_same_with_and_without_summaries(
    tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.answer = answered
    model(monkeypatch, endpoint)
    desk = desk_of(tmp_path, 20)
    assert desk.judge() == 0
    without = desk.out.read_bytes()
    assert desk.judge("--summaries", tmp_path / "summaries.jsonl") == 0
    assert desk.out.read_bytes() == without


def test_an_endpoint_that_is_down_costs_the_summaries_words_and_nothing_else(
    tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.down()
    model(monkeypatch, endpoint, breaker_failures=3)
    desk, summaries = desk_of(tmp_path, 200), tmp_path / "summaries.jsonl"
    assert desk.judge("--summaries", summaries) == 0
    rows = read_rows(summaries)
    assert [row["summary"] for row in rows] == [verdict["summary"] for verdict in desk.verdicts()]
    assert {row["reason"] for row in rows} == {"unreachable", "circuit_open"}
    assert "0 by the model, 200 by the rule" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "settings", "line"),
    [
        (["--out", "-"], {}, "--summaries: expected with --out, and that a file"),
        (["--out", "/dev/null"], {}, "--summaries: expected with --out, and that a file"),
        ([], {"url": ""}, "TURNJUDGE_LLM_URL: expected a URL"),
        ([], {"model": ""}, "TURNJUDGE_LLM_MODEL: expected the name of a model"),
        ([], {"timeout_s": "soon"}, "TURNJUDGE_LLM_TIMEOUT_S: expected a number of seconds"),
        ([], {"api_key_file": "/nowhere/key"}, "TURNJUDGE_LLM_API_KEY_FILE: expected"),
    ],
)
def test_what_is_wrong_is_one_line_before_anything_is_judged(
    tmp_path: Path,
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    settings: dict[str, str],
    line: str,
) -> None:
    model(monkeypatch, endpoint, **settings)
    desk = desk_of(tmp_path, 3)
    assert desk.judge("--summaries", tmp_path / "summaries.jsonl", *options) == 2
    said = capsys.readouterr()
    assert len(said.err.splitlines()) == 1
    assert line in said.err
    assert not desk.out.exists()
    assert endpoint.requests == []


def test_summaries_need_a_file_of_their_own(
    tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model(monkeypatch, endpoint)
    desk = desk_of(tmp_path, 3)
    link = tmp_path / "link"
    link.symlink_to(desk.out)
    for taken in (desk.out, desk.rejects, f"{tmp_path}/./{desk.out.name}", link):
        assert desk.judge("--summaries", taken) == 2
        assert "--summaries: expected a file of its own" in capsys.readouterr().err
    assert run(["judge", str(desk.turns), *map(str, desk.against), "--summaries", str(tmp_path / "s")]) == 2


def test_nothing_a_reply_or_a_model_says_reaches_the_terminal(
    tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.answer = lambda body, number: completion("비밀 이야기")
    model(monkeypatch, endpoint)
    assert desk_of(tmp_path, 5).judge("--summaries", tmp_path / "summaries.jsonl") == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "비밀" not in said.err
    assert "번" not in said.err
    assert "5 not_json" in said.err
