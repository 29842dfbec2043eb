"""Measures what each optional library costs: packages and MB installed, and the time and memory of importing it. Prints a Markdown table.

    python -m scripts.measure.extras [EXTRA ...] [--repeats 5]

Each set is installed into a folder of its own; what memplan needs in any case is not counted. By default all but `executorch`, which is large.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from scripts.measure.arguments import Arguments

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
IMPORTS = {
    "cluster": "distributed",
    "executorch": "executorch.exir",
    "highs": "highspy",
    "peers": "omnimalloc, ethosu.vela.vela",
    "pictures": "typst",
    "postgresql": "psycopg, procrastinate",
    "tflm": "tflite_micro",
    "runtime": "ortools.sat.python.cp_model",
}
"""What memplan imports of each, when it is needed; `runtime` is what every installation has, its heaviest part."""
LARGE = ("executorch",)


def installed(name: str, folder: Path) -> Path:
    """Install a set of packages into a folder, in the pinned versions if there are any."""
    pins = ROOT / "requirements" / f"{name}.txt"
    wanted = ["-r", str(pins)] if pins.is_file() else EXTRAS[name]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(folder), *wanted]
    subprocess.run(command, check=True)
    return folder


def sizes(folder: Path) -> dict[str, int]:
    """Return the bytes of each package and module in the folder."""
    return {
        entry.name: sum(file.stat().st_size for file in (entry, *entry.rglob("*")) if file.is_file())
        for entry in folder.iterdir()
    }


REPORT = """
import time
print(time.process_time(), next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def imported(modules: str, *folders: Path, repeats: int) -> tuple[float, float]:
    """Return seconds of the processor and MiB that the import adds to a bare interpreter, as medians."""
    paths = f"import sys; sys.path[:0] = {[str(folder) for folder in folders]}"

    def medians(code: str) -> tuple[float, float]:
        command = [sys.executable, "-I", "-c", code + REPORT]
        runs = [subprocess.run(command, capture_output=True, check=True).stdout.split() for _ in range(repeats)]
        return statistics.median(float(run[0]) for run in runs), statistics.median(int(run[1]) for run in runs) / 1024

    medians(f"{paths}\nimport {modules}")  # compiles what was not compiled
    bare, full = medians(paths), medians(f"{paths}\nimport {modules}")
    return full[0] - bare[0], full[1] - bare[1]


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("extra", nargs="*", choices=[*EXTRAS, []], help="by default all but large ones")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        base = installed("runtime", Path(made) / "runtime")
        common = sizes(base)
        print("| extra | packages | MB | import: seconds of the processor | MiB |\n|---|---|---|---|---|")
        for name in ["runtime", *(options.extra or [each for each in EXTRAS if each not in LARGE])]:
            folder = base if name == "runtime" else installed(name, Path(made) / name)
            added = {each: size for each, size in sizes(folder).items() if name == "runtime" or each not in common}
            packages = sum(1 for each in added if each.endswith(".dist-info"))
            seconds, mebibytes = imported(IMPORTS[name], folder, base, repeats=options.repeats)
            print(
                f"| {name} | {packages} | {sum(added.values()) / 1e6:.0f} | {seconds:.2f} | {mebibytes:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
