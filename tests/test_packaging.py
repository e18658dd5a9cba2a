"""The wheel holds all that turnjudge needs at run time, and runs from nowhere near the clone."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from services import ROOT

PACKAGES = ("schemas", "rules", "service")
DATA = [
    *(f"{package}/py.typed" for package in PACKAGES),
    *(f"schemas/json/{name}.v1.json" for name in ("chat_turn", "character_card", "topic_lexicon", "verdict")),
    *(f"service/embedded/sample/{name}.jsonl" for name in ("cards", "lexicon", "turns")),
]


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd="/", env=os.environ | environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    assert built.returncode == 0, built.stdout + built.stderr
    (found,) = folder.glob("turnjudge-*.whl")
    return found


@pytest.fixture(scope="module")
def names(wheel: Path) -> frozenset[str]:
    with zipfile.ZipFile(wheel) as archive:
        return frozenset(archive.namelist())


@pytest.mark.parametrize("name", DATA)
def test_the_wheel_holds(name: str, names: frozenset[str]) -> None:
    assert name in names


def test_the_wheel_holds_every_file_of_its_packages_and_nothing_else(names: frozenset[str]) -> None:
    ours = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert {name for name in names if ".dist-info/" not in name} == ours


def test_the_installed_wheel_runs(wheel: Path, tmp_path: Path) -> None:
    # Dependencies come from this environment; ours must come from the wheel, so its folder goes first.
    target = tmp_path / "site"
    installed = run(
        sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", target, wheel
    )
    assert installed.returncode == 0, installed.stderr
    where = "import schemas, rules, service; print(schemas.__file__, rules.__file__, service.__file__)"
    files = run(sys.executable, "-c", where, PYTHONPATH=str(target)).stdout.split()
    assert len(files) == len(PACKAGES)
    assert all(Path(file).is_relative_to(target) for file in files)
    shown = run(sys.executable, target / "bin/turnjudge", "--version", PYTHONPATH=str(target))
    assert (shown.returncode, shown.stderr) == (0, "")
    assert wheel.name.split("-")[1] in shown.stdout
