import json
import shlex
import subprocess
import sys
from importlib import import_module

import click
import pytest

from files.commands import MAIN, turnjudge, typed
from rules.catalogue import CHECKS
from rules.verify import ITEMS
from schemas.export import RECORDS, committed
from schemas.hedge import HedgeCode
from service.cli import ENTRIES, run
from service.cli import turnjudge as group
from service.cli.reading import DOSSIER
from services import ROOT


@pytest.mark.parametrize("name", RECORDS)
def test_schema_prints_the_committed_schema_to_the_byte(name: str) -> None:
    done = typed("schema", name)
    assert (done.code, done.err) == (0, "")
    assert done.out == (ROOT / "schemas" / "json" / f"{name}.v1.json").read_bytes()
    assert json.loads(done.out) == committed(name)


def test_schema_names_what_there_is(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "--help"]) == 0
    assert f"Names: {', '.join(RECORDS)}." in " ".join(capfd.readouterr().out.split())
    assert run(["schema", "turn"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert all(name in err for name in RECORDS)


def test_rules_tell_the_checks_in_order_with_their_dossiers(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["rules", "--format", "json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert [(check["order"], check["name"], check["verdict"]) for check in told["checks"]] == [
        (1, "forbidden_topic", "금지 소재 접촉"),
        (2, "off_canon_name", "세계관 밖 고유명사"),
        (3, "speech_level", "말투 어긋남"),
        (4, "recall", "앞 회차를 기억 못 함"),
    ]
    assert all(list(check["dossier"]) == list(DOSSIER) for check in told["checks"])
    assert told["otherwise"] == "설정대로 말함"
    assert [row["code"] for row in told["hedge_codes"]] == [code.value for code in HedgeCode]
    assert len({row["sentence"] for row in told["hedge_codes"]}) == len(HedgeCode)
    assert [(row["item"], row["looks_at"]) for row in told["items"]] == list(enumerate(ITEMS, start=1))
    assert run(["rules"]) == 0
    text = "".join(capfd.readouterr().out.split())
    for check in told["checks"]:
        for part in check["dossier"].values():
            assert "".join(part.split()) in text
    assert all(code.value in text for code in HedgeCode)
    assert len(told["checks"]) == len(CHECKS)


def test_help_names_every_command_in_its_own_first_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    told = capfd.readouterr().out
    for entry in ENTRIES:
        assert f"{entry.name} " in told
        assert entry.line in " ".join(told.split())
        command = getattr(import_module(entry.module), entry.attribute)
        assert isinstance(command, click.Command)
        assert command.name == entry.name
        assert command.help
        assert run([entry.name, "--help"]) == 0
        assert "Usage: turnjudge " + entry.name in capfd.readouterr().out
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES)
    assert group.list_commands(click.Context(group)) == [entry.name for entry in ENTRIES]


def test_help_reads_no_engine_and_no_client() -> None:
    code = (
        "import sys; from service.cli import run; run(['--help']); sys.exit(len(set(sys.argv[1:]) & set(sys.modules)))"
    )
    heavy = ("faust", "kafka", "aiokafka", "aiohttp", "pydantic", "rich", "jsonschema", "jsonschema_rs", "orjson")
    command = [sys.executable, "-c", code, *heavy]
    assert subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--help"], 0), (["-h"], 0), ([], 2), (["nothing"], 2), (["--nothing"], 2), (["judge"], 2), (["rules", "x"], 2)],
)
def test_exit_codes_of_the_command_line_itself(arguments: list[str], code: int) -> None:
    done = turnjudge(*arguments)
    assert done.code == code
    assert "Traceback" not in done.err
    assert bool(done.out) is (code == 0)
    assert bool(done.err) is (code == 2)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full"])
@pytest.mark.parametrize("command", ["rules", "schema verdict", "judge - --cards /dev/null --lexicon /dev/null"])
def test_streams_that_are_closed_or_full_give_no_traceback(command: str, closed: str) -> None:
    script = f"{shlex.quote(sys.executable)} -c {shlex.quote(MAIN)} {command} </dev/null {closed}"
    done = subprocess.run(["sh", "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    fails = "full" in closed and not command.startswith("judge")
    assert done.returncode == (2 if fails else 0)
    assert done.stderr == ("turnjudge: [Errno 28] No space left on device\n" if fails else "")
