"""The manifests for Kubernetes say what the code understands, and are as strict as they should be."""

import pytest

from deploy.manifests import command_of, known, kustomized, of_kind, pods, settings
from service.cli import ENTRIES
from service.metrics import Job
from service.settings import load_settings
from service.stream.settings import WorkerSettings

needs_kubectl = pytest.mark.needs("deploy")
PARTS = ("base", "overlays/example")


@needs_kubectl
@pytest.mark.parametrize("part", PARTS)
def test_every_pod_is_restricted(part: str) -> None:
    assert set(pods(part)) == {f"turnjudge-{name}" for name in ("worker", "page", "canary", "spikes", "topics")}
    for name, pod in pods(part).items():
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            context = container["securityContext"]
            assert context["allowPrivilegeEscalation"] is False
            assert context["readOnlyRootFilesystem"] is True
            assert context["capabilities"] == {"drop": ["ALL"]}
            assert {"cpu", "memory"} <= set(container["resources"]["requests"])
            assert "memory" in container["resources"]["limits"]
            assert command_of(container) in {entry.name for entry in ENTRIES}
            assert set(settings(part, name)) <= known(command_of(container))
            mounts = {row["name"] for row in container["volumeMounts"]}
            assert mounts == {row["name"] for row in pod["volumes"]}
            if name != "turnjudge-topics":
                probes = [container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "readiness", "liveness")]
                assert probes[2] == "/healthz"  # what the brokers do is no reason for a restart
                (port,) = container["ports"]
                assert str(port["containerPort"]) in settings(part, name).values()


@needs_kubectl
def test_the_worker_has_the_time_that_its_settings_ask_for() -> None:
    (stateful,) = of_kind("base", "StatefulSet")
    pod = pods("base")["turnjudge-worker"]
    given = {
        key.removeprefix("TURNJUDGE_").lower(): value for key, value in settings("base", "turnjudge-worker").items()
    }
    worker = load_settings(WorkerSettings, **(given | {"group_instance_id": "turnjudge-worker-0"}))
    assert pod["terminationGracePeriodSeconds"] > worker.stop_deadline_s
    assert worker.session_timeout_s > worker.stop_deadline_s + 10
    assert stateful["spec"]["podManagementPolicy"] == "Parallel"
    (name,) = (row for row in pod["containers"][0]["env"] if row["name"] == "TURNJUDGE_GROUP_INSTANCE_ID")
    assert name["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.name"
    (budget,) = of_kind("base", "PodDisruptionBudget")
    assert budget["spec"]["maxUnavailable"] == 1
    assert budget["spec"]["selector"] == stateful["spec"]["selector"]


@needs_kubectl
def test_scaling_ends_at_the_partitions() -> None:
    (scaled,) = of_kind("overlays/example", "ScaledObject")
    (job,) = of_kind("overlays/example", "Job")
    words = job["spec"]["template"]["spec"]["containers"][0]["args"]
    (stateful,) = of_kind("overlays/example", "StatefulSet")
    assert scaled["spec"]["maxReplicaCount"] == int(words[words.index("--partitions") + 1])
    assert scaled["spec"]["minReplicaCount"] >= 2
    assert scaled["spec"]["cooldownPeriod"] >= 600
    assert scaled["spec"]["scaleTargetRef"]["name"] == stateful["metadata"]["name"]
    assert "replicas" not in stateful["spec"]  # or each apply would undo KEDA's number
    asked = scaled["spec"]["triggers"][0]["metadata"]
    given = settings("overlays/example", "turnjudge-worker")
    assert asked["bootstrapServers"] == given["TURNJUDGE_BROKERS"]
    assert asked["consumerGroup"] == given["TURNJUDGE_GROUP"]
    assert asked["topic"] == WorkerSettings().topics.chat_turns


@needs_kubectl
@pytest.mark.parametrize("part", PARTS)
def test_the_network_lets_through_what_is_used_and_nothing_else(part: str) -> None:
    policies = {each["metadata"]["name"]: each["spec"] for each in of_kind(part, "NetworkPolicy")}
    assert all(spec["policyTypes"] == ["Ingress", "Egress"] for spec in policies.values())
    opened = {port["port"] for row in policies["turnjudge"]["ingress"] for port in row["ports"]}
    listening = {row["containerPort"] for pod in pods(part).values() for row in pod["containers"][0].get("ports", ())}
    assert opened == listening
    brokers = settings(part, "turnjudge-worker")["TURNJUDGE_BROKERS"]
    out = {port["port"] for row in policies["turnjudge"]["egress"] for port in row["ports"]}
    assert out == {53, *(int(each.rsplit(":", 1)[1]) for each in brokers.split(","))}
    labels = policies["turnjudge"]["podSelector"]["matchLabels"].items()
    makers = of_kind(part, "StatefulSet", "Deployment", "Job")
    assert all(labels <= each["spec"]["template"]["metadata"]["labels"].items() for each in makers)


@needs_kubectl
def test_jobs_get_the_names_that_the_rules_ask_for() -> None:
    # The job of a series is the name of the Service behind it.
    assert {each["metadata"]["name"] for each in of_kind("base", "Service")} <= set(Job)
    (monitor,) = of_kind("overlays/example", "ServiceMonitor")
    wanted = monitor["spec"]["selector"]["matchLabels"].items()
    named = {row["port"] for row in monitor["spec"]["endpoints"]}
    for service in of_kind("overlays/example", "Service"):
        assert wanted <= service["metadata"]["labels"].items()
        assert {port["name"] for port in service["spec"]["ports"]} <= named


@needs_kubectl
def test_an_alert_leads_to_the_runbook_where_the_installation_has_it() -> None:
    (rules,) = of_kind("overlays/example", "PrometheusRule")
    address = rules["metadata"]["annotations"]["runbook"]
    alerts = [row for group in rules["spec"]["groups"] for row in group["rules"] if "alert" in row]
    assert len({row["alert"] for row in alerts}) > 20
    for row in alerts:
        assert row["annotations"]["runbook_url"] == f"{address}#{row['alert'].lower()}"


@needs_kubectl
def test_the_overlay_holds_no_secret_and_one_namespace() -> None:
    everything = kustomized("overlays/example")
    assert "Secret" not in {each["kind"] for each in everything}
    assert {each["metadata"].get("namespace") for each in everything if each["kind"] != "Namespace"} == {"turnjudge"}
    boards = [each for each in everything if each["metadata"].get("labels", {}).get("grafana_dashboard")]
    assert len(boards[0]["data"]) == 5
    assert settings("overlays/example", "turnjudge-page")["TURNJUDGE_SECURITY_PROTOCOL"] == "SASL_SSL"
