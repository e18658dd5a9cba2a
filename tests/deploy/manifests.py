"""What Kubernetes and compose would run, read from the files of deploy/."""

import re
import subprocess
from functools import cache
from typing import Any

import yaml
from pydantic_settings import BaseSettings

from service.canary.settings import CanarySettings
from service.review.pages.settings import PageSettings
from service.settings import JudgingSettings, KafkaSettings, variables
from service.spikes.settings import SpikesSettings
from service.stream.settings import WorkerSettings
from services import ROOT

KUBERNETES = ROOT / "deploy/kubernetes"
Resource = dict[str, Any]
CLASSES: dict[str, tuple[type[BaseSettings], ...]] = {
    "worker": (WorkerSettings,),
    "canary": (CanarySettings,),
    "spikes": (SpikesSettings,),
    "page": (PageSettings, KafkaSettings),
    "topics": (KafkaSettings,),
    "load": (KafkaSettings, JudgingSettings),
}


@cache
def kustomized(part: str) -> tuple[Resource, ...]:
    """Return the resources that kubectl makes of a folder."""
    command = ["kubectl", "kustomize", str(KUBERNETES / part)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return tuple(yaml.safe_load_all(done.stdout))


def of_kind(part: str, *kinds: str) -> list[Resource]:
    """Return the resources of some kinds."""
    return [each for each in kustomized(part) if each["kind"] in kinds]


def pods(part: str) -> dict[str, Resource]:
    """Return the pods' specifications by the name of what makes them."""
    makers = of_kind(part, "StatefulSet", "Deployment", "Job")
    return {each["metadata"]["name"]: each["spec"]["template"]["spec"] for each in makers}


def settings(part: str, name: str) -> dict[str, str]:
    """Return the variables that a pod's container gets; those that come from elsewhere as "<from>"."""
    (container,) = pods(part)[name]["containers"]
    (shared,) = of_kind(part, "ConfigMap")[:1]
    own = {row["name"]: row.get("value", "<from>") for row in container.get("env", ())}
    maps = [row["configMapRef"]["name"] for row in container["envFrom"]]
    assert maps == [shared["metadata"]["name"]]
    return {**shared["data"], **own}


@cache
def compose() -> Resource:
    """Return docker-compose.yml with its anchors resolved."""
    found: Resource = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
    return found


def command_of(row: dict[str, Any]) -> str:
    """Return the command of turnjudge that a service or a container runs."""
    words: list[str] = row.get("args") or row["command"]
    if row.get("entrypoint"):
        found = re.search(r"turnjudge (\w+)", words[0])
        assert found
        return found[1]
    return words[0]


def known(command: str) -> set[str]:
    """Return the variables that a command reads."""
    return {variable.name for each in CLASSES[command] for variable in variables(each)}
