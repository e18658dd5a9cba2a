"""`python -m deploy.check`: hold deploy/ and docker-compose.yml to what their readers accept, without any of them.

One line for each check; exit 1 when one fails. Another project's root may be given. It asks for kubectl, promtool and
amtool on the PATH. What a cluster's own resources look like is written in kubernetes/schemas: the fields we use.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import jsonschema
import kubernetes_validate
import yaml

KUBERNETES: Final = ("1.29", "1.32", "1.36")
KUSTOMIZED: Final = ("base", "overlays/example")
_BIN: Final = Path(sys.executable).parent


class Refused(Exception):
    """What a reader said against a file."""


def _run(*command: str | Path, root: Path) -> str:
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603
    if done.returncode:
        raise Refused(f"{done.stdout}{done.stderr}".strip())
    return done.stdout


def _generated(root: Path) -> None:
    _run(sys.executable, "-m", "deploy.build", "--check", root=root)


def _compose(root: Path) -> None:
    schema = ("--builtin-schema", "vendor.compose-spec")
    _run(_BIN / "check-jsonschema", *schema, "docker-compose.yml", root=root)


def _dockerfile(root: Path) -> None:
    _run(_BIN / "hadolint", "--failure-threshold", "style", "deploy/Dockerfile", root=root)


def _kubernetes(root: Path) -> None:
    folder = root / "deploy/kubernetes"
    for part in KUSTOMIZED:
        rendered = _run("kubectl", "kustomize", str(folder / part), root=root)
        for record in yaml.safe_load_all(rendered):
            _resource(folder, part, record)


def _resource(folder: Path, part: str, record: dict[str, Any]) -> None:
    what = f"{part}: {record['kind']} {record['metadata']['name']}"
    ours = folder / f"schemas/{record['kind']}.json"
    try:
        if ours.is_file():
            jsonschema.validate(record, json.loads(ours.read_text("utf-8")))
        else:
            for version in KUBERNETES:
                kubernetes_validate.validate(record, version, strict=True)
    except (jsonschema.ValidationError, kubernetes_validate.ValidationError) as error:
        raise Refused(f"{what}: {'.'.join(map(str, error.path))}: {error.message}") from None


def _rules(root: Path) -> None:
    files = [str(file) for file in sorted((root / "deploy/prometheus/rules").glob("*.yml"))]
    _run("promtool", "check", "rules", "--lint=all", "--lint-fatal", *files, root=root)
    _run("promtool", "check", "config", "--lint=all", "--lint-fatal", "deploy/prometheus/prometheus.yml", root=root)


def _alertmanager(root: Path) -> None:
    _run("amtool", "check-config", "deploy/alertmanager/alertmanager.yml", root=root)


def _provisioning(root: Path) -> None:
    for file in sorted((root / "deploy/grafana/provisioning").rglob("*.yml")):
        if yaml.safe_load(file.read_text("utf-8")).get("apiVersion") != 1:
            raise Refused(f"{file}: expected apiVersion 1")


CHECKS: Final[tuple[tuple[str, Callable[[Path], None]], ...]] = (
    ("generated files are what the code gives", _generated),
    ("docker-compose.yml keeps to the compose specification", _compose),
    ("Dockerfile: hadolint finds nothing", _dockerfile),
    (f"kustomize builds; every resource is strictly valid in Kubernetes {', '.join(KUBERNETES)}", _kubernetes),
    ("promtool takes rules and configuration", _rules),
    ("amtool takes Alertmanager's configuration", _alertmanager),
    ("Grafana's provisioning is of version 1", _provisioning),
)


def checked(root: Path) -> Iterator[tuple[str, str | None]]:
    """Give each check with what was said against it, None for nothing."""
    for what, check in CHECKS:
        try:
            check(root)
        except Refused as refused:
            yield what, str(refused)
        except FileNotFoundError as missing:
            yield what, f"{missing.filename}: not there"
        else:
            yield what, None


def main(arguments: list[str]) -> int:
    """Check, and return the exit code."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    code = 0
    for what, against in checked(root.resolve()):
        sys.stdout.write(f"{'ok  ' if against is None else 'FAIL'} {what}\n{against + chr(10) if against else ''}")
        code = code or int(against is not None)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
