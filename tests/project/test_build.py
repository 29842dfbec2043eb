"""memplan installs with a compiler and without one, and reports which."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
COMPILED = Path(os.environ.get("MEMPLAN_COMPILED") or ROOT / ".compiled")
LAUNCHER = ROOT / "scripts" / "steps" / "compile_once.py"

REPORT = """
import json
from importlib.metadata import version
import numpy as np
from api.cli.commands.looking.doctor import run
from solvers.kernels import active
one = np.array([1], dtype=np.int64)
print(json.dumps({
    "version": version("memplan"),
    "origin": active().origin,
    "file": active().kernels.__file__,
    "answer": active().kernels.max_live(one, one + 1, one + 6, 3),
    "kernels": next([c.ok, c.detail, c.remedy] for c in run() if c.name == "kernels"),
}))
"""


def compiling_once(python: str = sys.executable, launcher: Path = LAUNCHER, kept: Path = COMPILED) -> dict[str, str]:
    """Return variables with which a build reuses the compiled files that scripts/steps/setup.sh keeps."""
    return {"CMAKE_CXX_COMPILER_LAUNCHER": f"{python};{launcher}", "MEMPLAN_COMPILED": str(kept)}


def install(target: Path, environment: dict[str, str] | None = None) -> str:
    """Install this checkout into a folder, offline, with the build tools that are installed here; return what the build wrote."""
    for tool in ("scikit_build_core", "nanobind"):
        if find_spec(tool) is None:
            pytest.skip(f"{tool} is not installed here")
    command = [sys.executable, "-m", "pip", "install", "--no-input", "--no-deps", "--no-build-isolation", "--no-index"]
    command += ["--no-compile", "--verbose", "--target", str(target), str(ROOT)]
    done = subprocess.run(
        command,
        env=os.environ | compiling_once() | (environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    written = done.stdout.decode(errors="replace")
    assert done.returncode == 0, written
    return written


def ask(target: Path, code: str) -> str:
    """Run code with the installation in target, without `site`, which would find this checkout's own installation."""
    path = os.pathsep.join([str(target), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    environment = {k: v for k, v in os.environ.items() if k != "MEMPLAN_KERNELS"} | {"PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, "-S", "-P", "-c", code], cwd=target, env=environment, stdout=subprocess.PIPE, check=True
    ).stdout.decode()


def no_compiler_on_the_path(folder: Path) -> dict[str, str]:
    """Return an environment whose PATH has build tools (cmake, ninja) but no compiler."""
    folder.mkdir()
    for tool in ("cmake", "ninja"):
        if found := shutil.which(tool):
            (folder / tool).symlink_to(found)
    return {"PATH": str(folder), "CC": "", "CXX": ""}


def test_with_a_compiler_the_native_kernels_are_installed(tmp_path: Path) -> None:
    if not any(shutil.which(name) for name in (os.environ.get("CXX") or "c++", "g++", "clang++")):
        pytest.skip("no C++ compiler on the PATH")
    written = install(tmp_path / "installed")
    report = json.loads(ask(tmp_path / "installed", REPORT))
    assert report["origin"] == "native", written
    assert Path(report["file"]).parent == tmp_path / "installed" / "solvers" / "kernels"
    assert report["answer"] == [7, 1]
    assert report["kernels"] == [True, "native", None]


@pytest.fixture(scope="module")
def pure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation with a compiler that fails."""
    target = tmp_path_factory.mktemp("pure") / "installed"
    install(target, {"CXX": str(shutil.which("false"))})
    return target


@pytest.mark.parametrize("reason", ["a compiler that fails", "no compiler at all"])
def test_without_a_compiler_pure_python_is_installed_and_reported(tmp_path: Path, pure: Path, reason: str) -> None:
    installed = pure
    if reason == "no compiler at all":
        installed = tmp_path / "installed"
        install(installed, no_compiler_on_the_path(tmp_path / "path"))
    report = json.loads(ask(installed, REPORT))
    assert report["origin"] == "reference"
    assert report["answer"] == [7, 1]
    ok, detail, remedy = report["kernels"]
    assert not ok
    assert "no working C++ compiler" in detail
    assert "install a C++20 compiler" in remedy
    assert not list(installed.rglob("*.so"))


def test_the_distribution_holds_the_packages_and_their_data(pure: Path) -> None:
    packages = {path.parent.name for path in pure.glob("*/__init__.py")}
    assert packages == {"api", "memplan", "planner", "solvers"}
    assert {"memplan/py.typed", "planner/py.typed", "solvers/py.typed"} <= {
        str(p.relative_to(pure)) for p in pure.glob("*/*")
    }
    assert len(list(pure.glob("memplan-*.dist-info/licenses/LICENSE"))) == 1
    assert not [path for path in pure.rglob("*") if path.suffix in (".cpp", ".hpp")]
    page, installed_page = (
        {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        for folder in (ROOT / "api" / "web", pure / "api" / "web")
    )
    assert {"index.html", "page.css", "page.js"} <= page == installed_page
    assert (pure / "bin" / "memplan").exists()
    compare = "import planner.model.versions as v, importlib.metadata as m; print(m.version('memplan') == v.MEMPLAN)"
    assert ask(pure, compare).strip() == "True"
    ours = "import memplan; print(memplan.__version__, memplan.plan(memplan.Problem(())).status)"
    assert ask(pure, ours).split()[1] == "optimal"


def test_a_source_is_compiled_once_and_again_only_if_it_or_another_changed(tmp_path: Path) -> None:
    """Also if the compiler writes beside it, and if it includes others by their whole path, as CMake's own sources do."""
    compiler, beside, apart = tmp_path / "compiler", tmp_path / "gathered", tmp_path / "apart"
    compiler.write_text(f'#!/bin/sh\necho >>{tmp_path / "log"}\ncp "$2" "$4"\n')
    compiler.chmod(0o755)
    beside.mkdir()
    apart.mkdir()
    (apart / "part.cpp").write_text('#include "part.h"\n')
    (apart / "part.h").write_text("int part = 1;\n")
    source = beside / "all.cxx"
    source.write_text(f'#include "{apart / "part.cpp"}"\n')

    def compiled(name: str) -> int:
        """Return how often the compiler has run after this."""
        command = [sys.executable, str(LAUNCHER), str(compiler), "-c", str(source), "-o", str(beside / name)]
        subprocess.run(command, env=os.environ | {"MEMPLAN_COMPILED": str(tmp_path / "kept")}, check=True)
        assert (beside / name).read_bytes() == source.read_bytes()
        return len((tmp_path / "log").read_text().splitlines())

    assert [compiled("one.o"), compiled("two.o")] == [1, 1]
    (apart / "part.h").write_text("int part = 2;\n")
    assert [compiled("one.o"), compiled("two.o")] == [2, 2]
    (beside / "other.h").write_text("")
    assert compiled("one.o") == 3


def test_the_source_distribution_holds_only_the_sources_of_a_wheel(tmp_path: Path) -> None:
    code = f"from scikit_build_core.build import build_sdist; build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    with tarfile.open(next(tmp_path.glob("memplan-*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    packages = {"api", "memplan", "planner", "solvers"}
    files = {"CMakeLists.txt", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
    assert {name.partition("/")[0] for name in names} == packages | files
    assert {path.name for path in (ROOT / "solvers").rglob("*.?pp")} <= {name.rpartition("/")[2] for name in names}
    assert not [name for name in names if name.endswith((".so", ".pyc"))]
