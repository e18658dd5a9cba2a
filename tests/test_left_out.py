"""A run says what it left out, and under TURNJUDGE_TEST_REQUIRE=all leaves nothing out."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from services import ROOT

NEEDS_SHARED = "import pytest\n@pytest.mark.needs('shared')\ndef test(): pass\n"
TAKES_SHARED = "def test(shared): assert shared.is_dir()\n"
SKIPS = "import pytest\ndef test(): pytest.skip('moon is down')\n"
SKIPS_ALL = "import pytest\npytest.skip('sun is down', allow_module_level=True)\n"
FAILS_AS_EXPECTED = "import pytest\n@pytest.mark.xfail\ndef test(): assert False\n"
PASSES = "def test(): pass\n"
TOGETHER = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")  # as make test has them
MISPRINTS = "import pytest\n@pytest.mark.needs('kafak')\ndef test(): pass\n"


def run(project: Path, test: str, require: str = "", *options: str) -> tuple[int, str]:
    (project / "tests/test_one.py").write_text(test)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TURNJUDGE_TEST_REQUIRE": require},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with our test harness and without ../shared and Kafka."""
    tests = tmp_path / "project/tests"
    tests.mkdir(parents=True)
    for name in ("conftest.py", "services.py", "brokers.py"):
        shutil.copy(ROOT / "tests" / name, tests)
    shutil.copy(ROOT / "pyproject.toml", tests.parent)
    return tests.parent


def give_all(project: Path) -> None:
    """Put there what the finding of services looks for, so that all but the wheel's broker is an empty file."""
    (project.parent / "shared").mkdir()
    (project.parent / "shared/design.md").touch()
    (project / ".cache/kafka/libs").mkdir(parents=True)
    (project / ".cache/kafka/libs/kafka_2.13-4.1.0.jar").touch()
    (project / ".venv-deploy").mkdir()
    (project / ".venv-deploy/.complete").touch()


@pytest.mark.parametrize("test", [NEEDS_SHARED, TAKES_SHARED], ids=["marked", "by fixture"])
def test_a_test_without_its_service_is_left_out_and_said(test: str, project: Path) -> None:
    code, output = run(project, test)
    assert code == 0
    assert "1 skipped" in output
    assert "1 left out, first tests/test_one.py" in output
    assert "shared: there is no ../shared beside the project; get it by: put" in output


@pytest.mark.parametrize(("test", "reason"), [(SKIPS, "moon is down"), (SKIPS_ALL, "sun is down")])
def test_any_other_skip_is_said_too(test: str, reason: str, project: Path) -> None:
    _, output = run(project, test)
    assert f": {reason}" in output.partition("= left out =")[2]


@pytest.mark.parametrize("test", [PASSES, FAILS_AS_EXPECTED], ids=["passes", "fails as expected"])
def test_nothing_left_out_is_said(test: str, project: Path) -> None:
    code, output = run(project, test)
    assert code == 0
    assert "nothing was left out" in output


def test_a_run_that_requires_all_ends_before_the_first_test(project: Path) -> None:
    code, output = run(project, PASSES, require="all")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "shared: there is no ../shared" in output
    assert "kafka: Apache Kafka is not in .cache/kafka; get it by: make services" in output
    assert "passed" not in output


@pytest.mark.needs("kafka")
@pytest.mark.needs("embedded")
@pytest.mark.needs("postgres")
@pytest.mark.needs("browser")
@pytest.mark.needs("browser")
@pytest.mark.parametrize(("test", "code"), [(PASSES, 0), (FAILS_AS_EXPECTED, 0), (SKIPS, 1), (NEEDS_SHARED, 0)])
def test_a_run_that_requires_all_fails_for_a_skip(test: str, code: int, project: Path) -> None:
    give_all(project)
    assert run(project, test, require="all")[0] == code


@pytest.mark.parametrize(
    ("test", "says"),
    [(NEEDS_SHARED, "shared: there is no ../shared"), (SKIPS, "moon is down"), (SKIPS_ALL, "sun is down")],
)
def test_what_is_left_out_in_several_processes_is_said_once(test: str, says: str, project: Path) -> None:
    _, output = run(project, test, "", *TOGETHER)
    assert output.partition("= left out =")[2].count(" left out, first tests/test_one.py") == 1
    assert f": {says}" in output.partition("= left out =")[2]


@pytest.mark.needs("kafka")
@pytest.mark.needs("embedded")
@pytest.mark.needs("postgres")
@pytest.mark.needs("browser")
@pytest.mark.parametrize(("test", "code"), [(PASSES, 0), (SKIPS, 1)])
def test_several_processes_that_require_all_fail_for_a_skip(test: str, code: int, project: Path) -> None:
    give_all(project)
    assert run(project, test, "all", *TOGETHER)[0] == code


@pytest.mark.parametrize(("test", "require", "says"), [(MISPRINTS, "", "kafak"), (PASSES, "some", "expected all")])
def test_a_misprint_is_refused(test: str, require: str, says: str, project: Path) -> None:
    code, output = run(project, test, require)
    assert code not in (0, 1)
    assert says in output
