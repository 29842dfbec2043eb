"""The image is built of the real Dockerfile and run, by buildah in a chroot.

This needs root's rights, buildah and debootstrap, but no engine's daemon. The base image is Debian, made here under
the name that the Dockerfile wants. The build sees this machine's settings for finding Python packages as mounted files,
which are in none of the images.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.project.containers.dockerfile import ROOT, read_dockerfile
from tests.running.processes import free_port, until

pytestmark = pytest.mark.slow

BUILD, RUN = read_dockerfile()
WANTED = "MEMPLAN_TEST_IMAGE"
RELEASE = "trixie"
"""The release of Debian whose Python is the Dockerfile's."""
PYTHON = "python3,python3-venv,python3-dev,ca-certificates"
USER = "10001"
MEMPLAN = RUN.only("ENTRYPOINT").words[-1]
BUILDERS = ("cc", "gcc", "g++", "c++", "clang", "ld", "make", "cmake", "ninja")
EXAMPLE = (ROOT / "examples" / "three.json").read_bytes()


@dataclass(frozen=True, slots=True)
class Store:
    """The folder in which buildah keeps images."""

    folder: Path

    def buildah(self, *words: str, data: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
        command = ["buildah", "--root", str(self.folder / "store"), "--runroot", str(self.folder / "run"), *words]
        env = {**os.environ, "STORAGE_DRIVER": "overlay", "BUILDAH_ISOLATION": "chroot", **env}
        return subprocess.run(command, cwd=ROOT, input=data, capture_output=True, check=False, env=env)

    def output_of(self, *words: str) -> str:
        """Return the output of a command, which must succeed."""
        done = self.buildah(*words)
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:].decode(errors="replace")
        return done.stdout.decode().strip()


@dataclass(frozen=True, slots=True)
class Container:
    """The built image as a container that can be run and as a folder that can be looked at."""

    store: Store
    name: str
    root: Path
    mounted: tuple[str, ...]
    """The paths of this machine that the build could see, of which empty places of the same names are left."""

    @classmethod
    def of(cls, store: Store, mounted: tuple[str, ...]) -> Container:
        """Make a container in which nothing has run yet."""
        name = store.output_of("from", "--pull-never", "localhost/memplan")
        return cls(store, name, Path(store.output_of("mount", name)), mounted)

    def run(self, *words: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a command as the image's user."""
        return self.store.buildah(
            "run", "--network", "host", "--user", f"{USER}:{USER}", self.name, "--", *words, data=data
        )


@pytest.fixture(scope="module")
def image() -> Iterator[Container]:
    """The image of the Dockerfile's last stage, built once for all tests."""
    if not os.environ.get(WANTED):
        pytest.skip(f"docker: the image takes minutes to build; {WANTED}=1, which .ci/run sets, has it built")
    assert not os.geteuid(), "to build the image takes root"
    assert shutil.which("buildah"), "to build the image takes buildah"
    assert shutil.which("debootstrap"), "to make its base takes debootstrap"
    folder = Path(tempfile.mkdtemp(prefix="memplan-image-"))
    store = Store(folder)
    try:
        base_image(store)
        mounts = package_settings(folder)
        volumes = [word for there, here in mounts.items() for word in ("--volume", f"{here}:{there}:ro")]
        store.output_of("bud", "--pull-never", "--layers=false", "--network", "host", *volumes, "--tag", "memplan", ".")
        yield Container.of(store, tuple(mounts))
    finally:
        store.buildah("rm", "--all")
        store.buildah("rmi", "--all", "--force")
        shutil.rmtree(folder, ignore_errors=True)


def base_image(store: Store) -> None:
    """Make an image of Debian with Python, under the name of the image that the Dockerfile starts from."""
    name = store.output_of("from", "scratch")
    root = Path(store.output_of("mount", name))  # where nothing has to be copied into the image
    command = ["debootstrap", "--variant=minbase", f"--include={PYTHON}", RELEASE, str(root)]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    for package in (root / "var" / "cache" / "apt" / "archives").glob("*.deb"):
        package.unlink()
    (root / "usr" / "local" / "bin" / "python").symlink_to("/usr/bin/python3")
    wanted = re.match(r"python:(3\.\d+)", BUILD.image)
    assert wanted
    assert (root / "usr" / "bin" / f"python{wanted[1]}").exists(), "the base's Python is another one"
    path = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
    store.output_of("config", "--env", f"PATH={path}", "--cmd", "python3", name)
    store.output_of("commit", "--quiet", "--rm", name, f"docker.io/library/{BUILD.image}")


def package_settings(folder: Path) -> dict[str, Path]:
    """Write pip's settings for finding packages on this machine; return what is to be mounted where."""
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, check=True, text=True)
    settings = dict(re.findall(r"^(?:global|user|site|:env:)\.([\w-]+)='(.*)'$", listed.stdout, re.MULTILINE))
    for name in ("index-url", "extra-index-url", "find-links", "cert"):
        if value := os.environ.get(f"PIP_{name.replace('-', '_').upper()}"):
            settings[name] = value
    (folder / "pip.conf").write_text("[global]\n" + "".join(f"{name} = {value}\n" for name, value in settings.items()))
    text = " ".join(settings.values())
    # The pages of an index link to files beside its folder, so the parent is mounted.
    places = [Path(path).parent for path in re.findall(r"file://(/\S+)", text)]
    places += [Path(word) for word in text.split() if word.startswith("/")]
    mounts = {str(place): place for place in places if place.exists()}
    return {"/etc/pip.conf": folder / "pip.conf", **mounts}


def test_the_image_is_complete_and_has_native_kernels(image: Container) -> None:
    done = image.run("env", "MEMPLAN_KERNELS=native", MEMPLAN, "doctor", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["ok"]


def test_the_image_plans_through_a_pipe(image: Container) -> None:
    done = image.run(MEMPLAN, "plan", "-", data=EXAMPLE)
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert (plan["status"], plan["peak"]) == ("optimal", 84)


def test_the_image_runs_a_cluster(image: Container) -> None:
    dask, address = Path(MEMPLAN).with_name("dask"), f"tcp://127.0.0.1:{free_port()}"
    script = f"""
        cd /tmp && cat > three.json
        {dask} scheduler --port {address.rpartition(":")[2]} --no-dashboard --no-show >&2 & scheduler=$!
        {dask} worker {address} --nthreads 1 --no-dashboard --local-directory /tmp >&2 & worker=$!
        for attempt in 1 2 3 4; do
            {MEMPLAN} plan-many three.json -o plans --cluster {address} --json > told.json && break
        done
        kill $worker $scheduler; wait; cat told.json
    """
    done = image.run("sh", "-c", script, data=EXAMPLE)
    assert json.loads(done.stdout)["statuses"] == {"optimal": 1}, done.stderr[-3000:]


def test_the_image_does_not_serve_everybody_by_default(image: Container) -> None:
    done = image.run(MEMPLAN, *RUN.only("CMD").words)
    assert done.returncode == 2
    assert b"MEMPLAN_TOKENS" in done.stdout + done.stderr


def test_the_image_has_no_build_tools(image: Container) -> None:
    folders = [image.root / folder for folder in ("usr/bin", "usr/local/bin", "opt/memplan/bin")]
    assert not [name for name in BUILDERS for folder in folders if (folder / name).exists()]
    for place in ("source", "build", "wheels", "root/.cache", "opt/memplan/bin/pip"):
        assert not (image.root / place).exists(), place
    assert not list((image.root / "var" / "lib" / "apt" / "lists").glob("*_*"))
    (packages,) = (image.root / "opt" / "memplan" / "lib").glob("python3.*/site-packages")
    ours = [path for name in ("api", "memplan", "planner", "solvers") for path in (packages / name).rglob("*")]
    assert len(ours) > 100
    assert not [path for path in ours if path.suffix in (".cpp", ".hpp", ".o", ".txt")]
    for place in image.mounted:
        left = image.root / place.lstrip("/")
        assert not left.is_dir() or not list(left.iterdir()), f"what pip found on this machine is in the image: {place}"
    assert (image.root / "etc" / "pip.conf").read_bytes() == b""


def test_the_image_is_of_reasonable_size(image: Container) -> None:
    installed = image.root / "opt" / "memplan"
    size = sum(path.lstat().st_size for path in installed.rglob("*"))
    assert size < 600_000_000, "what memplan and its solvers take"


def test_the_image_s_user_can_write_only_to_data_and_tmp(image: Container) -> None:
    """Looked for in the container's files, in which nothing runs, so that a failure to look is not taken for what was found."""
    untouched = Container.of(image.store, image.mounted)  # elsewhere, solvers may not have removed their files yet
    elsewhere = "( -path /proc -o -path /sys -o -path /dev ) -prune"
    closed = "-type d -not ( -readable -executable ) -prune"
    looking = f"chroot --userspec={USER}:{USER} {untouched.root} find / -xdev {elsewhere} -o -writable -not -type l -print , {closed}"
    found = subprocess.run(looking.split(), capture_output=True, check=False, text=True)
    assert (found.returncode, found.stderr) == (0, "")
    assert set(found.stdout.splitlines()) == {"/data", "/tmp"}


def test_the_image_serves_on_a_read_only_root(image: Container) -> None:
    port = free_port()
    settings = RUN.environment | {"MEMPLAN_PORT": str(port), "MEMPLAN_ANONYMOUS": "1", "MEMPLAN_WORKERS": "1"}
    given = " ".join(f"'{name}={value}'" for name, value in settings.items() if name != "PATH")
    inside = f"exec chroot --userspec={USER}:{USER} {image.root} /usr/bin/env -i PATH=/usr/bin:/bin {given}"
    script = f"""
        mount --bind {image.root} {image.root}
        mount -o remount,ro,bind {image.root}
        mount -t proc proc {image.root}/proc
        mount -t tmpfs tmpfs {image.root}/tmp
        mount -t tmpfs -o uid={USER},mode=700 tmpfs {image.root}/data
        mount --rbind /dev {image.root}/dev
        {inside} {MEMPLAN} {" ".join(RUN.only("CMD").words)}
    """
    (check,) = (step for step in RUN.of("COPY") if step.words[-1].endswith("healthcheck.py"))

    def is_healthy() -> bool:
        python = str(Path(MEMPLAN).with_name("python"))
        return image.run("env", f"MEMPLAN_PORT={port}", python, check.words[-1]).returncode == 0

    assert not is_healthy()
    with subprocess.Popen(
        ["unshare", "--mount", "bash", "-euc", script], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as service:
        try:
            until(lambda: is_healthy() or service.poll() is not None)
            assert service.poll() is None, service.stderr and service.stderr.read()
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}/v1/plans", EXAMPLE, {"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request) as answer:
                assert json.load(answer)["peak"] == 84
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as answer:
                assert answer.status == 200
        finally:
            service.send_signal(signal.SIGTERM)
            service.communicate(timeout=120)
    assert service.returncode == 0
