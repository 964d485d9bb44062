"""Compiles faulty kernels, on which the tests compare blocksim and ptxsim.

    python -m tools.kernels.agreement            compile, write tests/data/agreement.zip
    python -m tools.kernels.agreement --check    compile, say what differs from that file

They are those of tests/others with a barrier or a fence left out, and the short programs
of tests/kernels/litmus.py. The compiler runs in .venv-gpu, and needs no GPU.
"""

import dataclasses
import re
import sys
from typing import Any

from tools.common.paths import ROOT
from tools.kernels import others, stored

STORED = ROOT / "tests" / "data" / "agreement.zip"
COMMAND = "python -m tools.kernels.agreement"
WHAT = "PTX of faulty kernels. Nothing here has run on a GPU."
LITMUS = "litmus"


def main() -> int:
    return others.command("tools.kernels.agreement", compute, STORED)


def read() -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """Return the index, and by kernel the PTX of each mutant by its name.

    The mutants of a kernel are stored as one text, because they are alike.
    """
    index, texts = stored.read(STORED)
    parts = {
        name: re.split(r"(?m)^(?=\.version)", text)[1:] for name, text in texts.items()
    }
    return index, {
        name: dict(zip(index["names"][name], part, strict=True))
        for name, part in parts.items()
    }


# ---- in the environment with the compiler ----


def compute() -> dict[str, Any]:
    """Return the index, and the PTX of each kernel's mutants as one text."""
    from kernellab.compile import environment
    from tests.others.catalogue import TARGET

    found = {**mutants(), LITMUS: programs()}
    index = {
        "what": WHAT,
        "command": COMMAND,
        "target": "sm_{}{}".format(*TARGET),
        "versions": environment(),
        "names": {kernel: list(texts) for kernel, texts in found.items()},
        "sources": sources(),
    }
    return {
        "index": index,
        "texts": {kernel: "".join(texts.values()) for kernel, texts in found.items()},
    }


def mutants() -> dict[str, dict[str, str]]:
    """Return the PTX of the mutants of each kernel that has some."""
    from tests.others.catalogue import cases
    from tests.others.mutants import mutants

    found: dict[str, dict[str, str]] = {}
    for kernel, case in cases().items():
        for name, function in mutants(case):
            types = tuple(map(others.type_of, case.made().args))
            mutant = dataclasses.replace(case, function=function)
            found.setdefault(kernel, {})[name] = others.compiled(mutant, types)
    return found


def programs() -> dict[str, str]:
    """Return the PTX of the short programs."""
    from numba import types

    from tests.kernels import litmus
    from tests.others.catalogue import Case
    from tests.others.mutants import defined

    found = {}
    for name, (_, _, source, _) in litmus.LITMUS.items():
        text = litmus.visible(source).replace("@cuda.jit\n", "")
        counters = types.uint32 if "inc" in source else types.int32
        arrays = [
            types.Array(kind, 1, "C") for kind in (types.int32,) * 2 + (counters,)
        ]
        case = Case("kernel", defined("kernel", text, f"<{name}>", {}), "", False, {})
        found[name] = others.compiled(case, tuple(arrays))
    return found


def sources() -> dict[str, str]:
    """Return digests of the texts, by which stored PTX that is old is noticed."""
    from tests.kernels import litmus
    from tests.others.catalogue import cases, digest, digest_of
    from tests.others.mutants import mutants

    texts = [litmus.visible(source) for _, _, source, _ in litmus.LITMUS.values()]
    mutated = {name: case for name, case in cases().items() if any(mutants(case))}
    found = {name: digest(case) for name, case in mutated.items()}
    return found | {LITMUS: digest_of("".join(texts))}


if __name__ == "__main__":
    sys.exit(main())
