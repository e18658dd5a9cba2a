"""A variable that nobody reads is named, with the one that was meant."""

import os

import pytest

from service.cli import run
from service.cli.misspelt import misspelt

CASES = [
    ("TURNJUDGE_BROKER", "no such setting, so nothing reads it; did you mean TURNJUDGE_BROKERS?"),
    ("turnjudge_broker", "no such setting, so nothing reads it; did you mean TURNJUDGE_BROKERS?"),
    ("TURNJUDGE_TOPIC_CHAT_TURN", "no such setting, so nothing reads it; did you mean TURNJUDGE_TOPIC_CHAT_TURNS?"),
    ("TURNJUDGE_LLM_API_KEY", "no such setting, so nothing reads it; did you mean TURNJUDGE_LLM_API_KEY_FILE?"),
    ("TURNJUDGE_PAGEPORT", "no such setting, so nothing reads it; did you mean TURNJUDGE_PAGE_PORT?"),
    ("TURNJUDGE_XYZZY", "no such setting, so nothing reads it"),
]
RIGHT = (
    *("TURNJUDGE_BROKERS", "turnjudge_group", "TURNJUDGE_HTTP_PORT", "TURNJUDGE_CANARY_HTTP_PORT"),
    *("TURNJUDGE_SPIKES_HTTP_HOST", "TURNJUDGE_NARRATOR_HTTP_PORT", "TURNJUDGE_PAGE_DB", "TURNJUDGE_LLM_URL"),
    *("TURNJUDGE_TEST_REQUIRE", "PATH", "JUDGE_BROKER"),
)


@pytest.mark.parametrize(("name", "line"), CASES)
def test_a_variable_that_nobody_reads_is_named_with_the_nearest(name: str, line: str) -> None:
    assert list(misspelt([name])) == [f"turnjudge: {name.upper()}: {line}"]


def test_what_is_read_and_what_is_not_ours_is_not_named() -> None:
    assert list(misspelt(RIGHT)) == []


def test_a_command_says_it_and_goes_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in [name for name in os.environ if name.startswith("TURNJUDGE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TURNJUDGE_BROKER", "secret:1")
    assert run(["metrics"]) == 0
    said = capsys.readouterr()
    assert (
        said.err
        == "turnjudge: TURNJUDGE_BROKER: no such setting, so nothing reads it; did you mean TURNJUDGE_BROKERS?\n"
    )
    assert said.out.startswith("# Metrics\n")
