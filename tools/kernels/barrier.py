"""Launches the museum's kernels with faulty barriers on a GPU of NVIDIA's.

    python -m tools.kernels.barrier            launch them, write book/data/barriers.json
    python -m tools.kernels.barrier FOLDER     the same, kernels from FOLDER/<drill>.py

What such a kernel does is undefined: this says how often one GPU gave the right answer,
and how many errors NVIDIA's Compute Sanitizer reports of a single launch.
"""

import argparse
import json
import re
import subprocess
import sys
from datetime import date
from importlib.metadata import version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
STORED = ROOT / "book" / "data" / "barriers.json"
LAUNCHES = 10_000
TOOLS = {"barrier-in-a-branch": "synccheck", "keys-over-values": "racecheck"}
SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)")
WHAT = (
    "The museum's kernels with faulty barriers on a GPU: how many answers are right, and"
    " how many errors and hazards Compute Sanitizer reports of one launch."
)


def softmax_dot(kernel: Any, launches: int) -> int:
    """Return how many of so many launches give the right answer."""
    from numba import cuda

    s, v = np.float32([0, 1, 1, 0, 3, 2]), np.float32([4, 6, 8, 5, 10, 2])
    out = cuda.to_device(np.zeros(launches, np.float32))
    scores, values = cuda.to_device(s), cuda.to_device(v)
    for i in range(launches):
        kernel[1, 4](scores, values, out[i : i + 1])
    terms = np.exp(s.astype(float) - 3)
    truth = (terms * v).sum() / terms.sum()
    return int(np.isclose(out.copy_to_host(), truth, rtol=1e-5).sum())


def attention(kernel: Any, launches: int) -> int:
    """Return how many of so many launches give the right answer."""
    from numba import cuda

    Q, K, V = np.float32(np.random.default_rng(17).standard_normal((3, 4, 3)))
    given = [cuda.to_device(x) for x in (Q, K, V)]
    out = cuda.to_device(np.zeros((launches, 4, 3), np.float32))
    lse = cuda.to_device(np.zeros(4, np.float32))
    for i in range(launches):
        kernel[1, 4](*given, out[i], lse, np.float32(3**-0.5))
    terms = np.exp(Q.astype(float) @ K.T / 3**0.5)
    truth = terms @ V / terms.sum(axis=1, keepdims=True)
    near = np.isclose(out.copy_to_host(), truth, rtol=1e-4, atol=1e-5)
    return int(near.all(axis=(1, 2)).sum())


RUNS = {"barrier-in-a-branch": softmax_dot, "keys-over-values": attention}


def launch(drill: str, file: Path, launches: int) -> int:
    """Load a drill's kernel and launch it; return how many answers are right."""
    spec = spec_from_file_location(file.stem.replace("-", "_"), file)
    module = module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    name = "softmax_dot" if drill == "barrier-in-a-branch" else "attention"
    return RUNS[drill](getattr(module, name), launches)


def errors(drill: str, folder: Path) -> int:
    """Return how many errors and hazards Compute Sanitizer reports of one launch."""
    command = ["compute-sanitizer", "--tool", TOOLS[drill], sys.executable]
    command += ["-m", "tools.kernels.barrier", str(folder), drill]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = SUMMARY.findall(done.stdout)
    if not found:
        raise RuntimeError(f"compute-sanitizer said: {done.stdout}{done.stderr}")
    return int(found[-1])


def write_texts(folder: Path) -> None:
    """Write the drills' kernels to files, from which Numba compiles."""
    import rescaling  # noqa: F401  (hands the drills in)
    from livepage.drills.bank import find

    for drill in TOOLS:
        (folder / f"{drill}.py").write_text(find(drill).get("starter"), "utf-8")


def record(folder: Path) -> dict[str, Any]:
    """Return the table, with where it was measured."""
    from numba import cuda

    rows = []
    for drill, tool in TOOLS.items():
        right = launch(drill, folder / f"{drill}.py", LAUNCHES)
        rows.append([drill, LAUNCHES, right, tool, errors(drill, folder)])
    name = cuda.get_current_device().name
    return {
        "what": WHAT,
        "columns": ["drill", "launches", "right answers", "tool", "its reports"],
        "rows": rows,
        "machine": name if isinstance(name, str) else name.decode(),
        "versions": {
            "Python": sys.version.split()[0],
            **{each: version(each) for each in ("numba", "numba-cuda", "numpy")},
        },
        "date": date.today().isoformat(),
        "command": "python -m tools.kernels.barrier",
    }


def main() -> int:
    """Measure and store; with a folder and a drill, launch that one once."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("folder", nargs="?", type=Path)
    reader.add_argument("drill", nargs="?", choices=list(TOOLS))
    given = reader.parse_args()
    if given.drill:
        launch(given.drill, given.folder / f"{given.drill}.py", 1)
        return 0
    with TemporaryDirectory() as name:
        folder = given.folder or Path(name)
        if not given.folder:
            write_texts(folder)
        table = record(folder)
    STORED.write_text(json.dumps(table, indent=2) + "\n", "utf-8")
    print(STORED.read_text("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
