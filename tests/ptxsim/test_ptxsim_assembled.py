"""NVIDIA's assembler takes every stored text that the tests execute."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tools.kernels import agreement, others, stored, triton
from tools.kernels.gate import VENV

PTXAS = list(VENV.glob("lib/*/site-packages/nvidia/cuda_nvcc/bin/ptxas"))
NEEDS = pytest.mark.skipif(
    not PTXAS and not os.environ.get("CI"), reason="no ptxas in .venv-gpu"
)


def texts() -> dict[str, dict[str, str]]:
    """Return the texts of each archive by name."""
    faulty = agreement.read()[1]
    return {
        "triton": stored.read(triton.STORED)[1],
        "numba": stored.read(others.STORED)[1],
        "agreement": {
            f"{k}-{n}": x for k, some in faulty.items() for n, x in some.items()
        },
    }


def complaint(text: str, file: Path) -> str:
    """Return what the assembler has against a text; nothing if it takes it."""
    file.write_text(text, "utf-8")
    command = [PTXAS[0], "-arch=sm_80", "-O0", "-o", os.devnull, file]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    return done.stderr if done.returncode else ""


@NEEDS
@pytest.mark.parametrize("archive", ["triton", "numba", "agreement"])
def test_the_assembler_takes_every_stored_text(archive: str, tmp_path: Path) -> None:
    some = list(texts()[archive].values())
    files = [tmp_path / f"{i}.ptx" for i in range(len(some))]
    with ThreadPoolExecutor(2) as pool:
        complaints = list(pool.map(complaint, some, files))
    assert some and [text for text in complaints if text] == []


@NEEDS
def test_the_assembler_refuses_what_is_no_ptx(tmp_path: Path) -> None:
    text = next(iter(texts()["triton"].values()))
    assert "nothing" in complaint(text.replace("ret;", "nothing;"), tmp_path / "x")
