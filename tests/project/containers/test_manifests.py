"""Every file, command, setting, path and volume that the Compose file and the Kubernetes manifests name exists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml
from check_jsonschema.builtin_schemas import get_builtin_schema

from api.cli.app import app
from api.process import machine
from api.process.machine import Cores, Memory
from api.process.memory_budget import reader_processes, share_out, solver_processes
from api.routes import about
from api.settings import PREFIX, Settings, read_settings
from tests.project.containers.dockerfile import ROOT, read_dockerfile

DOCKER = ROOT / "docker"
COMMANDS = {command.callback.__name__ for command in app.registered_commands if command.callback is not None}
SETTINGS = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
METRICS_PORT = 9100
MANIFESTS = [
    document
    for path in sorted((DOCKER / "kubernetes").glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
]


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))
    return found


def own_services() -> dict[str, dict[str, Any]]:
    return {name: service for name, service in compose()["services"].items() if service["image"] == "memplan"}


def test_compose_starts_two_services_a_worker_and_their_monitoring() -> None:
    mine = own_services()
    assert sorted((service.get("command") or ["serve"])[0] for service in mine.values()) == [
        "migrate",
        "serve",
        "serve",
        "worker",
    ]
    assert {service["environment"]["MEMPLAN_STORE_URL"] for service in mine.values()} == {
        "postgresql://memplan:memplan@postgres/memplan"
    }
    assert {"postgres", "prometheus"} <= set(compose()["services"])


@pytest.mark.parametrize("name", list(own_services()))
def test_compose_names_only_things_that_exist(name: str) -> None:
    service = own_services()[name]
    assert (service.get("command") or ["serve"])[0] in COMMANDS
    assert set(service["environment"]) <= SETTINGS
    assert (DOCKER / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    assert set(service["depends_on"]) <= set(compose()["services"])
    assert service["read_only"]
    assert any(str(mount).startswith("/tmp") for mount in service["tmpfs"])
    read_settings(**{key.removeprefix(PREFIX).lower(): value for key, value in service["environment"].items()})


MIB = 1 << 20
UNITS = {"m": MIB, "g": 1 << 30, "Mi": MIB, "Gi": 1 << 30}


def size(text: str) -> int:
    """Return a size in bytes; Compose's `512m` is Kubernetes' `512Mi`."""
    digits = text.rstrip("mgMGi")
    return int(digits) * UNITS[text.removeprefix(digits)]


def test_containers_of_compose_have_memory_limits_without_swap() -> None:
    limits = {name: size(service["mem_limit"]) for name, service in compose()["services"].items()}
    assert sum(limit for name, limit in limits.items() if name != "migrate") <= 8 << 30
    for service in own_services().values():
        assert service["memswap_limit"] == service["mem_limit"], "what is swapped out is no memory to be divided"


def test_compose_publishes_on_loopback_alone() -> None:
    ports = [port for service in compose()["services"].values() for port in service.get("ports", ())]
    assert len(ports) == 3
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_prometheus_watches_services_and_workers() -> None:
    (job,) = yaml.safe_load((DOCKER / "prometheus.yaml").read_text(encoding="utf-8"))["scrape_configs"]
    (found,) = job["dns_sd_configs"]
    running = {name for name, service in own_services().items() if service.get("command") != ["migrate"]}
    assert set(found["names"]) == running
    assert {service["environment"]["MEMPLAN_METRICS_PORT"] for service in own_services().values()} == {
        str(found["port"])
    }
    mounts = compose()["services"]["prometheus"]["volumes"]
    assert (DOCKER / mounts[0].partition(":")[0]).is_file()


def pods() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield every manifest that makes pods, with its only container."""
    for manifest in MANIFESTS:
        if manifest["kind"] in ("Deployment", "Job"):
            (container,) = manifest["spec"]["template"]["spec"]["containers"]
            yield manifest, container


def runs_dask(container: dict[str, Any]) -> bool:
    return "command" in container


def divided() -> Iterator[tuple[str, str, int, float, int]]:
    """Yield the name, command, memory, cores and folders' memory of each container that runs memplan."""
    for name, service in own_services().items():
        folders = [option.rpartition("size=")[2] for option in service["tmpfs"]]
        cores = float(service.get("cpus", 2))
        command = (service.get("command") or ["serve"])[0]
        yield f"compose: {name}", command, size(service["mem_limit"]), cores, sum(map(size, folders))
    for manifest, container in pods():
        if runs_dask(container):
            continue
        limits = container["resources"]["limits"]
        name = f"kubernetes: {manifest['metadata']['name']}"
        yield name, container["args"][0], size(limits["memory"]), float(limits["cpu"]), 0


@pytest.mark.parametrize(
    ("command", "memory", "cores", "folders"),
    [each[1:] for each in divided() if each[1] != "migrate"],
    ids=[each[0] for each in divided() if each[1] != "migrate"],
)
def test_containers_have_memory_for_their_processes(
    monkeypatch: pytest.MonkeyPatch, command: str, memory: int, cores: float, folders: int
) -> None:
    monkeypatch.setattr(machine, "memory", lambda: Memory(64 << 30, 64 << 30, memory))
    monkeypatch.setattr(machine, "cores", lambda: Cores(64, cores))
    settings = Settings()
    readers, workers = (reader_processes(settings), 0) if command == "serve" else (0, solver_processes(settings))
    shares = share_out(settings, service=command == "serve", readers=readers, workers=workers)
    assert (shares.readers, shares.workers) == (readers, workers), "there are as many as without a limit"
    assert shares.process >= 400 * MIB
    assert shares.sum + folders <= memory


def test_folders_in_memory_and_on_a_node_s_disk_are_bounded() -> None:
    for service in own_services().values():
        assert all("size=" in option for option in service["tmpfs"])
    for manifest, _ in pods():
        for volume in manifest["spec"]["template"]["spec"]["volumes"]:
            assert volume["emptyDir"]["sizeLimit"]


def test_kubernetes_has_services_workers_and_a_migration() -> None:
    assert {(manifest["kind"], container["args"][0]) for manifest, container in pods()} == {
        ("Deployment", "serve"),
        ("Deployment", "worker"),
        ("Deployment", "scheduler"),
        ("Job", "migrate"),
    }


@pytest.mark.parametrize(("manifest", "container"), list(pods()), ids=lambda made: str(made.get("kind")))
def test_pods_run_with_limits_as_the_image_s_user(manifest: dict[str, Any], container: dict[str, Any]) -> None:
    spec = manifest["spec"]["template"]["spec"]
    user, _, group = read_dockerfile()[-1].only("USER").rest.partition(":")
    assert spec["securityContext"]["runAsNonRoot"]
    assert (spec["securityContext"]["runAsUser"], spec["securityContext"]["runAsGroup"]) == (int(user), int(group))
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert not container["securityContext"]["allowPrivilegeEscalation"]
    assert runs_dask(container) or container["args"][0] in COMMANDS
    assert spec["enableServiceLinks"] is False, "a service that is called memplan would be told of in MEMPLAN_PORT"
    assert {"requests", "limits"} == set(container["resources"])
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in spec["volumes"]}
    assert any(mount["mountPath"] == "/tmp" for mount in container["volumeMounts"])
    known = {(m["kind"], m["metadata"]["name"]) for m in MANIFESTS}
    for source in container.get("envFrom", ()):
        ((kind, reference),) = source.items()
        assert ({"configMapRef": "ConfigMap", "secretRef": "Secret"}[kind], reference["name"]) in known


def test_probes_ask_for_paths_that_exist() -> None:
    paths = {getattr(route, "path", None) for route in about.router.routes}
    dask = {"/health"}
    probes = [
        (container, probe["httpGet"])
        for _, container in pods()
        for name, probe in container.items()
        if name.endswith("Probe")
    ]
    assert len(probes) == 9
    for container, probed in probes:
        assert probed["path"] in (dask if runs_dask(container) else paths)
        assert probed["port"] in {port["name"] for port in container["ports"]}


def dask_pods() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Return the manifest and the container of Dask's scheduler and of its workers, by name."""
    return {container["args"][0]: (manifest, container) for manifest, container in pods() if runs_dask(container)}


@pytest.mark.parametrize("part", ["scheduler", "worker"])
def test_dask_takes_the_arguments_of_the_cluster_s_pods(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    module = pytest.importorskip(f"distributed.cli.dask_{part}")
    _, container = dask_pods()[part]
    entry = read_dockerfile()[-1].only("ENTRYPOINT").words
    assert container["command"] == [*entry[:-1], str(Path(entry[-1]).with_name("dask"))]
    given = module.main.make_context(part, list(container["args"][1:])).params
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert given["dashboard_address"] == f":{ports['health']}"
    if part == "scheduler":
        assert given["port"] == str(ports["scheduler"])
        return
    assert str(given["local_directory"]) in {mount["mountPath"] for mount in container["volumeMounts"]}
    limits = container["resources"]["limits"]
    assert given["nthreads"] == int(limits["cpu"]), "each thread has a process that takes a core"
    monkeypatch.setattr(machine, "memory", lambda: Memory(64 << 30, 64 << 30, size(limits["memory"])))
    settings = Settings(workers=given["nthreads"])
    assert share_out(settings, service=False, readers=0, workers=given["nthreads"]).sum <= size(limits["memory"])


def test_the_operator_s_cluster_has_the_same_pods() -> None:
    plain = list(yaml.safe_load_all((DOCKER / "kubernetes" / "cluster.yaml").read_text(encoding="utf-8")))
    settings, cluster, policy = yaml.safe_load_all(
        (DOCKER / "kubernetes" / "operator" / "cluster.yaml").read_text(encoding="utf-8")
    )
    assert (settings, policy) == (plain[0], plain[-1])
    assert (cluster["apiVersion"], cluster["kind"]) == ("kubernetes.dask.org/v1", "DaskCluster")
    for part, (manifest, container) in dask_pods().items():
        pod = cluster["spec"][part]
        its = manifest["spec"]["template"]
        named = ["--name", "$(DASK_WORKER_NAME)"] if part == "worker" else []
        its_container = {**container, "args": [*container["args"], *named]}
        assert pod["spec"] == {**its["spec"], "containers": [its_container]}
        assert pod["metadata"] == its["metadata"]
    assert cluster["spec"]["worker"]["replicas"] == dask_pods()["worker"][0]["spec"]["replicas"]
    (address,) = settings["data"].values()
    ports = {port["name"]: port for port in cluster["spec"]["scheduler"]["service"]["ports"]}
    assert set(ports) == {"tcp-comm", "http-dashboard"}, "by these names the operator finds them"
    assert address == f"tcp://{cluster['metadata']['name']}-scheduler:{ports['tcp-comm']['port']}"
    given = {port["name"] for port in dask_pods()["scheduler"][1]["ports"]}
    assert {port["targetPort"] for port in ports.values()} <= given


def test_only_the_intended_pods_reach_the_scheduler() -> None:
    (service,) = [m for m in MANIFESTS if m["kind"] == "Service" and m["metadata"]["name"] == "memplan-scheduler"]
    (port,) = service["spec"]["ports"]
    (settings,) = [m["data"] for m in MANIFESTS if "MEMPLAN_CLUSTER" in m.get("data", {})]
    address = f"tcp://{service['metadata']['name']}:{port['port']}"
    assert settings["MEMPLAN_CLUSTER"] == dask_pods()["worker"][1]["args"][1] == address
    (policy,) = [m["spec"] for m in MANIFESTS if m["kind"] == "NetworkPolicy"]
    _, parts = policy["podSelector"]["matchExpressions"]
    made = {manifest["spec"]["template"]["metadata"]["labels"]["part"] for manifest, _ in dask_pods().values()}
    assert set(parts["values"]) == made
    assert policy["ingress"] == [{"from": [{"podSelector": {"matchLabels": {"app": "memplan"}}}]}]


def test_kubernetes_sets_only_settings_that_agree() -> None:
    given: dict[str, str] = {}
    for manifest in MANIFESTS:
        if manifest["kind"] in ("ConfigMap", "Secret"):
            given |= manifest.get("data", {}) | manifest.get("stringData", {})
    assert set(given) <= SETTINGS
    assert given["MEMPLAN_METRICS_PORT"] == str(METRICS_PORT)
    settings = read_settings(**{key.removeprefix(PREFIX).lower(): value for key, value in given.items()})
    assert settings.is_open
    assert {
        port["containerPort"]
        for _, container in pods()
        for port in container.get("ports", ())
        if port["name"] == "metrics"
    } == {METRICS_PORT}


def test_workers_grow_with_the_queue() -> None:
    (scaler,) = [m for m in MANIFESTS if m["kind"] == "HorizontalPodAutoscaler"]
    (metric,) = scaler["spec"]["metrics"]
    exported = (ROOT / "api" / "process" / "metrics.py").read_text(encoding="utf-8")
    assert f'"{metric["external"]["metric"]["name"]}"' in exported
    assert metric["external"]["metric"]["selector"]["matchLabels"] == {"state": "queued"}
    target = scaler["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) in {(m["kind"], m["metadata"]["name"]) for m in MANIFESTS}


def test_selectors_find_the_pods_they_are_for() -> None:
    made = [manifest["spec"]["template"]["metadata"]["labels"] for manifest, _ in pods()]
    for manifest in MANIFESTS:
        selector = manifest.get("spec", {}).get("selector")
        if selector is not None:
            wanted = selector.get("matchLabels", selector)
            assert len([labels for labels in made if wanted.items() <= labels.items()]) == 1, manifest["metadata"][
                "name"
            ]


def test_files_have_the_paths_in_their_comments() -> None:
    assert {path.name for path in Path(DOCKER / "kubernetes").iterdir()} == {
        "cluster.yaml",
        "migrate.yaml",
        "operator",
        "service.yaml",
        "settings.yaml",
        "worker.yaml",
    }


def test_compose_keeps_to_its_schema() -> None:
    errors = list(jsonschema.Draft202012Validator(get_builtin_schema("vendor.compose-spec")).iter_errors(compose()))
    assert not errors


@pytest.mark.parametrize("version", ["1.25", kubernetes_validate.latest_version()])
def test_kubernetes_takes_the_manifests(version: str) -> None:
    for document in MANIFESTS:
        kubernetes_validate.validate(document, version, strict=True)


def test_a_wrong_manifest_is_refused() -> None:
    wrong = {**compose(), "services": {"memplan": {"imagge": "memplan"}}}
    assert list(jsonschema.Draft202012Validator(get_builtin_schema("vendor.compose-spec")).iter_errors(wrong))
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**MANIFESTS[0], "speck": {}}, kubernetes_validate.latest_version(), strict=True)
