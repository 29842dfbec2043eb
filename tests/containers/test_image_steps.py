"""What the Dockerfile does, done without an engine: as a user without rights, on a source tree that cannot be written, into a clean environment.

Folders of the image stand below a temporary one; packages of the distribution are not installed, for this machine has what builds.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.compiling import COMPILED, LAUNCHER, compiling_once
from tests.containers.dockerfile import ROOT, Stage, copied_from_here, is_sent, read_dockerfile

pytestmark = pytest.mark.slow

NOBODY = 65534
WHO = NOBODY if os.geteuid() == 0 else None
"""Who runs the steps: nobody, if we may become that."""
IMAGE_FOLDERS = ("/build", "/opt/memplan", "/wheels")
BUILD, RUN = read_dockerfile()


@dataclass(frozen=True, slots=True)
class Image:
    """A folder that stands for the root of the image."""

    root: Path
    python: Path
    """The folder of an interpreter that nobody can run."""

    def inside(self, text: str) -> str:
        """The same with the image's folders where they really are."""
        folders = "|".join(re.escape(folder) for folder in IMAGE_FOLDERS)
        return re.sub(rf"(?<![\w.])({folders})(?=[/\s\"';:)]|$)", lambda found: f"{self.root}{found[1]}", text)

    def environment(self) -> dict[str, str]:
        """That of the image's stage, and what this machine needs to find packages."""
        kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name.endswith("_proxy")}
        path = [str(self.python), os.environ["PATH"]]
        home = self.root / "home"
        kept |= compiling_once(str(self.python / "python"), self.root / "compile_once.py", self.root / "compiled")
        headers = self.root / "python" / "include" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
        if headers.is_dir():  # the copy's own, not those of another interpreter that nobody can read, too
            kept["SKBUILD_CMAKE_DEFINE"] = f"Python_INCLUDE_DIR={headers}"
        return kept | {
            "PATH": os.pathsep.join(path),
            "HOME": str(home),
            "TMPDIR": str(self.root / "tmp"),
            "LANG": "C.UTF-8",
        }

    def run(self, command: str | list[str], cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
        """As nobody, if we may become that."""
        shell = ["bash", "-euo", "pipefail", "-c", command] if isinstance(command, str) else command
        return subprocess.run(
            shell,
            cwd=cwd,
            env=self.environment() | more,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            user=WHO,
            group=WHO,
        )


def reachable_python(root: Path) -> Path:
    """The interpreter's folder; where nobody may not go to it, that of a copy."""
    here = Path(sys.base_prefix)
    try:
        subprocess.run([here / "bin" / "python3", "-c", ""], check=True, user=WHO, group=WHO)
    except PermissionError:
        left_out = shutil.ignore_patterns("test", "tests", "idlelib", "site-packages", "__pycache__", "share")
        shutil.copytree(here, root / "python", symlinks=True, ignore=left_out)
        here = root / "python"
    folder = root / "bin"
    folder.mkdir()
    (folder / "python").symlink_to(here / "bin" / "python3")
    return folder


def source_tree(stage: Stage, target: Path) -> None:
    """What the stage copies, read-only."""
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    for source in copied_from_here(stage):
        wanted = [path for path in tracked if path == source or path.startswith(f"{source.rstrip('/')}/")]
        for path in wanted:
            if is_sent(path) and (ROOT / path).exists():
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / path, target / path)
    for made in (target, *target.rglob("*")):
        made.chmod(0o555 if made.is_dir() else 0o444)


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    """The image after the build stage."""
    if not any(shutil.which(name) for name in ("g++", "c++")):
        pytest.skip("no C++ compiler on the PATH")
    # Not one of pytest's folders: others than their owner may not go into those.
    root = Path(tempfile.mkdtemp(prefix="memplan-image-"))
    root.chmod(0o755)
    try:
        yield made_in(root)
    finally:
        for path in [root / "source", *(root / "source").rglob("*")]:
            path.chmod(0o755)  # so that it can be removed
        shutil.rmtree(root)


def made_in(root: Path) -> Image:
    """All steps of the build stage, carried out in that folder."""
    image = Image(root, reachable_python(root))
    (root / "source").mkdir()
    source_tree(BUILD, root / "source")
    for folder in ("build", "opt/memplan", "wheels", "home", "tmp", "data"):
        made = root / folder
        made.mkdir(parents=True)
        if WHO is not None:
            os.chown(made, NOBODY, NOBODY)
    # Who builds may see neither this checkout nor what it has compiled before.
    shutil.copyfile(LAUNCHER, root / "compile_once.py")
    (root / "compiled").mkdir()
    (root / "compiled").chmod(0o777)
    for compiled in COMPILED.glob("*.o"):
        shutil.copyfile(compiled, root / "compiled" / compiled.name)
        (root / "compiled" / compiled.name).chmod(0o644)
    for step in BUILD.of("RUN"):
        if "apt-get" in step.rest:
            continue
        done = image.run(image.inside(step.rest), root / "source")
        assert done.returncode == 0, f"{step.rest}\n{done.stdout[-4000:]}"
    return image


def test_the_command_it_starts_is_the_installed_one_with_native_kernels(image: Image) -> None:
    memplan = image.inside(RUN.only("ENTRYPOINT").words[-1])
    done = image.run([memplan, "doctor"], image.root / "data", MEMPLAN_KERNELS="native")
    assert done.returncode == 0, done.stdout
    where = image.run(
        [str(Path(memplan).parent / "python"), "-c", "import planner; print(planner.__file__)"], image.root / "data"
    )
    assert where.stdout.startswith(str(image.root / "opt" / "memplan"))


def test_it_refuses_to_start_without_tokens(image: Image) -> None:
    settings = RUN.environment | {"MEMPLAN_PORT": "0"}
    memplan = image.inside(RUN.only("ENTRYPOINT").words[-1])
    done = image.run([memplan, *RUN.only("CMD").words], image.root / "data", **kept(settings))
    assert done.returncode == 2
    assert "MEMPLAN_TOKENS" in done.stdout


def kept(settings: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in settings.items() if name != "PATH"}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def eventually(holds: Callable[[], bool], seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def test_once_started_its_health_check_passes_and_before_that_fails(image: Image) -> None:
    port = free_port()
    settings = kept(RUN.environment) | {
        "MEMPLAN_PORT": str(port),
        "MEMPLAN_ANONYMOUS": "1",
        "MEMPLAN_DATA_DIR": str(image.root / "data"),
    }
    (check,) = (step for step in RUN.of("COPY") if step.words[-1].endswith("healthcheck.py"))
    python = image.inside(RUN.only("ENTRYPOINT").words[-1]).replace("bin/memplan", "bin/python")

    def is_healthy() -> bool:
        return (
            image.run([python, str(ROOT / check.words[0])], image.root / "data", MEMPLAN_PORT=str(port)).returncode == 0
        )

    assert not is_healthy()
    command = [image.inside(RUN.only("ENTRYPOINT").words[-1]), *RUN.only("CMD").words]
    with subprocess.Popen(
        command,
        cwd=image.root / "data",
        env=image.environment() | settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        user=WHO,
        group=WHO,
    ) as service:
        try:
            assert eventually(is_healthy)
        finally:
            service.terminate()
            assert service.wait(30) == 0


def test_an_engine_builds_and_runs_it() -> None:
    if (
        shutil.which("docker") is None
        or subprocess.run(["docker", "info"], capture_output=True, check=False).returncode
    ):
        pytest.skip("docker: there is no engine here")
    subprocess.run(["docker", "build", "-t", "memplan-test", "."], cwd=ROOT, check=True)
    command = ["docker", "run", "--rm", "--read-only", "--tmpfs", "/tmp", "memplan-test", "solvers", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert '"native"' in done.stdout or '"search"' in done.stdout
    refused = subprocess.run(["docker", "run", "--rm", "memplan-test"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
