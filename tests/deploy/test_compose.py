"""All of deploy/ is taken by what reads it; compose and the Dockerfile say what the code understands."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from brokers import KafkaBroker
from deploy.manifests import command_of, compose, known
from service.canary.settings import CanarySettings
from service.cli import ENTRIES
from service.embedded.broker import free_port
from service.metrics import Job
from service.review.pages.settings import PageSettings
from service.settings import load_settings
from service.spikes.settings import SpikesSettings
from service.stream.settings import WorkerSettings
from services import ROOT

DIGEST = re.compile(r"\S+:[\w.-]+@sha256:[0-9a-f]{64}")
SERVICES = compose()["services"]
OURS = {name: row for name, row in SERVICES.items() if row["image"] == "turnjudge"}
needs_kubectl = pytest.mark.needs("deploy")


# All of it, by those who read it.


def check(root: Path) -> tuple[int, str]:
    python = ROOT / ".venv-deploy/bin/python"
    done = subprocess.run([python, "-m", "deploy.check", root], cwd=ROOT, capture_output=True, text=True, timeout=110)
    return done.returncode, done.stdout + done.stderr


@needs_kubectl
@pytest.mark.needs("prometheus")
def test_all_of_deploy_is_taken_by_what_reads_it() -> None:
    code, told = check(ROOT)
    assert (code, told.count("ok   ")) == (0, 7), told


class Fault(NamedTuple):
    """What is put in place of a word of a file, and what is said of it then."""

    file: str
    before: str
    after: str
    told: str


WORKER = "deploy/kubernetes/base/worker.yaml"
# Together, as far as each has a check of its own: a check says the first thing it finds.
FAULTS = {
    "one for each reader": (
        Fault("docker-compose.yml", "    healthcheck:", "    heathcheck:", "heathcheck"),
        Fault("deploy/Dockerfile", "WORKDIR /build", "WORKDIR build", "DL3000"),
        Fault(WORKER, "podManagementPolicy", "podManagmentPolicy", "podManagmentPolicy"),
        Fault("deploy/prometheus/rules/service.yml", "sum by (job)", "sum by (job", "service.yml"),
        Fault("deploy/grafana/dashboards/overview.json", "turnjudge: overview", "overview", "overview.json"),
        Fault("deploy/alertmanager/alertmanager.yml", "receiver: on-call", "receiver: nobody", "nobody"),
    ),
    "a type of Kubernetes": (Fault(WORKER, "replicas: 3", 'replicas: "3"', "spec.replicas"),),
    "a field of KEDA": (
        Fault("deploy/kubernetes/components/keda/scaled-object.yaml", "maxReplicaCount", "maxReplicas", "maxReplicas"),
    ),
    "a resource": (Fault("deploy/kubernetes/base/kustomization.yaml", "page.yaml", "pages.yaml", "pages.yaml"),),
}


@needs_kubectl
@pytest.mark.needs("prometheus")
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(name: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy", ignore=shutil.ignore_patterns("__pycache__", "secrets"))
    shutil.copy(ROOT / "docker-compose.yml", tmp_path)
    for fault in FAULTS[name]:
        text = (tmp_path / fault.file).read_text("utf-8")
        assert fault.before in text
        (tmp_path / fault.file).write_text(text.replace(fault.before, fault.after, 1), "utf-8")
    code, told = check(tmp_path)
    assert (code, told.count("FAIL ")) == (1, len(FAULTS[name])), told
    for fault in FAULTS[name]:
        assert fault.told in told, fault


# Compose and the image.


def test_images_are_pinned_by_digest() -> None:
    for name, row in SERVICES.items():
        assert name in OURS or DIGEST.fullmatch(row["image"]), name
    docker = (ROOT / "deploy/Dockerfile").read_text("utf-8")
    for image in [*re.findall(r"^FROM (\S+)", docker, re.M), *re.findall(r"--from=(\S+/\S+)", docker)]:
        assert DIGEST.fullmatch(image), image


def test_the_image_is_built_from_what_is_there_and_let_in() -> None:
    docker = (ROOT / "deploy/Dockerfile").read_text("utf-8")
    let_in = (ROOT / "deploy/Dockerfile.dockerignore").read_text("utf-8").splitlines()
    copied = [word for line in re.findall(r"^COPY (?!--)(.+)$", docker, re.M) for word in line.split()[:-1]]
    assert len(copied) >= 7
    for name in copied:
        assert (ROOT / name).exists()
        assert f"!{name}" in let_in
    assert "*" in let_in
    assert re.search(r"^USER 10001:10001$", docker, re.M)
    assert docker.count("FROM ") == 2


def test_the_image_has_what_the_processes_import() -> None:
    locked = (ROOT / "requirements-image.lock").read_text("utf-8")
    everything = (ROOT / "requirements.lock").read_text("utf-8")
    for name in ("faust-streaming", "scipy", "sqlalchemy", "starlette", "hatchling", "prometheus-client"):
        assert f"\n{name}==" in f"\n{locked}"
    assert "pytest" not in locked
    (tool,) = re.findall(r"uv==\S+", (ROOT / "deploy/Dockerfile").read_text("utf-8"))
    assert f"\n{tool} " in everything
    for line in re.findall(r"^\S+==\S+", locked, re.M):  # what was tested is what runs
        assert line in everything


@pytest.mark.parametrize("name", OURS)
def test_a_service_runs_a_command_with_settings_that_it_knows(name: str) -> None:
    row = OURS[name]
    command = command_of(row)
    assert command in {entry.name for entry in ENTRIES}
    assert set(row["environment"]) <= known(command)
    assert row["read_only"]
    assert row["cap_drop"] == ["ALL"]
    assert row["security_opt"] == ["no-new-privileges:true"]
    assert row["restart"] != "no"


def test_workers_are_two_members_that_are_told_apart_and_get_time_to_stop() -> None:
    workers = {name: row for name, row in OURS.items() if command_of(row) == "worker"}
    assert len({row["environment"]["TURNJUDGE_GROUP_INSTANCE_ID"] for row in workers.values()}) == len(workers) == 2
    for row in workers.values():
        given = {name.removeprefix("TURNJUDGE_").lower(): value for name, value in row["environment"].items()}
        worker = load_settings(WorkerSettings, **given)
        assert float(row["stop_grace_period"].removesuffix("s")) > worker.stop_deadline_s


def test_everything_published_is_on_loopback_and_every_file_is_there() -> None:
    for name, row in SERVICES.items():
        assert all(str(port).startswith("127.0.0.1:") for port in row.get("ports", ())), name
        for volume in row.get("volumes", ()):
            source = volume.split(":")[0]
            assert source in compose()["volumes"] or (ROOT / source).exists(), volume
        for secret in row.get("secrets", ()):
            assert secret in compose()["secrets"]
        for needed in row.get("depends_on", ()):
            assert needed in SERVICES


def test_secrets_are_made_once_and_stay_out_of_git(tmp_path: Path) -> None:
    shutil.copy(ROOT / "deploy/compose/secrets.sh", tmp_path)
    names = {Path(row["file"]).name for row in compose()["secrets"].values()}
    for _ in range(2):
        subprocess.run(["sh", tmp_path / "secrets.sh"], check=True, capture_output=True)
        made = {file.name: file.read_text() for file in (tmp_path / "secrets").iterdir()}
        assert set(made) == names
    assert made == {file.name: file.read_text() for file in (tmp_path / "secrets").iterdir()}
    assert re.fullmatch(r"[0-9a-f]{48}", made["postgres-password"])  # it stands in a URL
    assert len(set(made.values())) == len(made)
    assert "/deploy/compose/secrets/" in (ROOT / ".gitignore").read_text().splitlines()


@pytest.mark.needs("kafka")
def test_a_real_kafka_takes_the_settings_of_compose_and_answers_inside_and_outside() -> None:
    outside, inside, controller = free_port(), free_port(), free_port()
    given = {
        key.removeprefix("KAFKA_").lower().replace("_", "."): _here(value, outside, inside, controller)
        for key, value in SERVICES["kafka"]["environment"].items()
    }
    with tempfile.TemporaryDirectory(prefix="turnjudge-compose-") as folder:
        broker = KafkaBroker({**given, "log.dirs": folder + "/data"})
        broker.bootstrap = f"127.0.0.1:{outside}"
        words = [str(word) for word in OURS["topics"]["command"]]
        with broker:
            for port, done in ((inside, "created"), (outside, "left as it is")):
                brokers = {"TURNJUDGE_BROKERS": f"127.0.0.1:{port}"}
                command = [sys.executable, "-P", "-c", "from service.cli import main; main()", *words]
                told = subprocess.run(command, cwd=ROOT, env=os.environ | brokers, capture_output=True, text=True)
                assert told.returncode == 0, told.stderr
                assert (told.stdout + told.stderr).count(done) == 8


def _here(value: str, outside: int, inside: int, controller: int) -> str:
    """Put loopback and free ports in place of the network of compose."""
    for before, after in ((":9092", f":{outside}"), (":19092", f":{inside}"), (":9093", f":{controller}")):
        value = value.replace(before, after)
    return value.replace("//:", "//127.0.0.1:").replace("//kafka:", "//127.0.0.1:").replace("localhost:", "127.0.0.1:")


def test_prometheus_asks_every_process_at_the_port_it_listens_on() -> None:
    config = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text("utf-8"))
    jobs = {row["job_name"]: row["static_configs"][0]["targets"] for row in config["scrape_configs"]}
    assert set(jobs) <= set(Job)
    ports = {
        "worker": WorkerSettings().http_port,
        "canary": CanarySettings().canary_http_port,
        "spikes": SpikesSettings().spikes_http_port,
        "page": PageSettings().page_port,
    }
    asked = sorted(target for targets in jobs.values() for target in targets)
    serving = {name: command_of(row) for name, row in OURS.items() if command_of(row) in ports}
    assert asked == sorted(f"{name}:{ports[command]}" for name, command in serving.items())
    for name, command in serving.items():
        hosts = [value for key, value in OURS[name]["environment"].items() if key.endswith(("HTTP_HOST", "PAGE_HOST"))]
        assert hosts == ["0.0.0.0"], name  # noqa: S104 - inside the network of compose
        assert str(ports[command]) in str(OURS[name]["healthcheck"]["test"])


def test_grafana_finds_dashboards_and_both_sources() -> None:
    folder = ROOT / "deploy/grafana/provisioning"
    sources = yaml.safe_load((folder / "datasources/turnjudge.yml").read_text("utf-8"))["datasources"]
    assert {row["type"] for row in sources} == {"prometheus", "grafana-postgresql-datasource"}
    provider = yaml.safe_load((folder / "dashboards/turnjudge.yml").read_text("utf-8"))["providers"][0]
    assert provider["allowUiUpdates"] is False
    mounted = dict(volume.split(":")[:2] for volume in SERVICES["grafana"]["volumes"])
    assert mounted["./deploy/grafana/dashboards"] == provider["options"]["path"]
    home = SERVICES["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert (ROOT / "deploy/grafana/dashboards" / Path(home).name).is_file()
