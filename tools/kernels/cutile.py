"""Compiles the book's attention in cuTile, without a GPU, and counts what comes out.

    python -m tools.kernels.cutile            compile, write book/data/cutile.json
    python -m tools.kernels.cutile --check    compile, say what differs from that file
    python -m tools.kernels.cutile --newest   say what the newest cuTile makes

NVIDIA's compiler `tileiras` gives machine code and no PTX, so ptxsim cannot run it: the
file holds static counts. `loop` counts the shortest loop that holds a matrix product. On
sm_80 all warps run this loop; on sm_90 and sm_100 other warps make the copies, and on
sm_100 others the softmax too.
"""

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from datetime import date
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any

from kernellab import sass
from tools.common import environments, options
from tools.common.paths import ROOT

SOURCE = ROOT / "book" / "cutile_attention.py"
STORED = ROOT / "book" / "data" / "cutile.json"
COMMAND = "python -m tools.kernels.cutile"
WHAT = (
    "Static facts about attention in cuTile: its machine code, disassembled. It was"
    " compiled without a GPU, and never executed."
)
SIZE = {"d": 64, "block_q": 128, "block_k": 64}
ARCHS = ("sm_80", "sm_90", "sm_100")
NEWEST = (
    "cuda-tile[tileiras]",
    "nvidia-cuda-nvdisasm",
    "nvidia-cuda-cuobjdump",
    "numpy",
)
PINNED = (
    "cuda-tile[tileiras]==1.7.0",
    "cuda-toolkit==13.4.3",
    "nvidia-cuda-nvdisasm==13.4.92",
    "nvidia-cuda-cuobjdump==13.4.92",
    "numpy==2.4.6",
)
REPORTED = ("cuda-tile", "nvidia-cuda-tileiras", "nvidia-cuda-nvdisasm")
# Opcodes of machine code that do what the chapter names.
KINDS = {
    "mma": r"HMMA|HGMMA|UTCHMMA",
    "ldmatrix": r"LDSM\.16\.M8",
    "ldmatrix_trans": r"LDSM\.16\.MT8",
    "tensor_memory": r"LDTM|STTM",
    "cp_async": r"LDGSTS",
    "commits": r"LDGDEPBAR",
    "waits": r"DEPBAR",
    "tile_copies": r"UTMALDG|UTMASTG",
    "barriers": r"BAR\.",
    "mbarriers": r"SYNCS",
    "shuffles": r"SHFL",
    "exponentials": r"MUFU\.EX2",
    "spills": r"LDL|STL",
}
REMARK = re.compile(
    r'selected\n.*":(\d+):.*\n.*\n.*\n.*Instruction = (.*)'
    r'|Tensor Cores\n.*":(\d+):.*\n.*\n.*\n.*Instruction = (.*)\n.*Shape = (.*)'
)


def main() -> int:
    if sys.argv[1:] == ["--worker"]:
        json.dump(facts(), sys.stdout)
        return 0
    chosen = options.parse(["--check", "--newest"])
    if not sys.platform.startswith("linux"):
        print("the compiler of cuTile is tried on Linux only")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        packages = NEWEST if "--newest" in chosen else PINNED
        python = environments.fresh(Path(folder, "env"), *packages)
        made = environments.ask(python, "tools.kernels.cutile")
    if "--newest" in chosen:
        print(json.dumps(made, indent=1, ensure_ascii=False))
        return 0
    wrong = settle(made, "--check" in chosen)
    return options.report(
        wrong, f"{len(made['builds'])} builds: {len(wrong)} complaints"
    )


def settle(made: dict[str, Any], check: bool) -> list[str]:
    """Store what was made, with today's date; or, to check, return what differs."""
    if not check:
        content = {**made, "made": date.today().isoformat()}
        STORED.write_text(
            json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8"
        )
        return []
    old = json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}
    keys = sorted((made.keys() | old.keys()) - {"made"})
    return [f"{key} differs" for key in keys if made.get(key) != old.get(key)]


def digest() -> str:
    """Return a digest of the listing."""
    return hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]


# ---- in the environment with the compiler ----


def facts() -> dict[str, Any]:
    """Return what the stored file holds, but for its date."""
    return {
        "what": WHAT,
        "command": COMMAND,
        "source": digest(),
        "versions": {name: version(name) for name in REPORTED},
        **SIZE,
        "dtype": "float16",
        "builds": [build(arch) for arch in ARCHS],
    }


def build(arch: str) -> dict[str, Any]:
    """Compile the listing for an architecture; return the facts about its machine code."""
    with tempfile.TemporaryDirectory() as name:
        code, cubin = Path(name, "tile.bc"), Path(name, "kernel.cubin")
        export(arch, code)
        remarks = run(
            "tileiras", f"--gpu-name={arch}", "--remarks=all", "-o", cubin, code
        )
        usage = run("cuobjdump", "-res-usage", cubin)
        elf = run("cuobjdump", "-elf", cubin)
        machine = cubin.read_bytes()
    instructions = sass.disassemble(machine)
    return {
        "arch": arch,
        "cubin": len(machine),
        "threads": int(number(r"REQNTID\s+Format:.*\s+Value:\s+(\w+)", elf), 16),
        "registers": int(number(r"REG:(\d+)", usage)),
        "stack": int(number(r"STACK:(\d+)", usage)),
        "shared": int(number(r"SHARED:(\d+)", usage)),
        "instructions": len(instructions),
        "static": counts(instructions),
        "loop": counts(product_loop(instructions)),
        "chosen": chosen_by_line(remarks),
    }


def export(arch: str, file: Path) -> None:
    """Write the listing as bytecode of Tile IR, for arrays as C lays them out."""
    import cuda.tile as ct
    from cuda.tile import compilation

    import cutile_attention

    rows = compilation.ArrayConstraint(
        ct.float16,
        2,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=(SIZE["d"], 1),
        shape_constant=(None, SIZE["d"]),
        base_addr_divisible_by=16,
    )
    signature = compilation.KernelSignature(
        [*[rows] * 4, compilation.ScalarConstraint(ct.float32), *SIZE.values()],
        compilation.CallingConvention.cutile_python_v2(),
        "attention",
    )
    compilation.export_kernel(
        cutile_attention.attention,
        [signature],
        file,
        gpu_code=arch,
        output_format="tileir_bytecode",
    )


def run(program: str, *arguments: str | Path) -> str:
    """Run one of NVIDIA's programs, which a package of the same name brings."""
    files = distribution(f"nvidia-cuda-{program}").files or []
    (path,) = (file.locate() for file in files if file.name == program)
    done = subprocess.run(
        [path, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


def number(pattern: str, text: str) -> str:
    """Return what a pattern captures; the text must hold it."""
    match = re.search(pattern, text)
    assert match, f"{pattern} is not in {text[:200]}"
    return match[1]


def product_loop(instructions: list[sass.Instruction]) -> list[sass.Instruction]:
    """Return the shortest loop that holds a matrix product."""
    places = {label: i for i, one in enumerate(instructions) for label in one.labels}
    loops = [
        instructions[places[one.target] : i + 1]
        for i, one in enumerate(instructions)
        if one.name == "BRA" and places.get(one.target, i) < i
    ]
    return min((body for body in loops if "mma" in counts(body)), key=len)


def counts(instructions: Iterable[sass.Instruction]) -> dict[str, int]:
    """Return how many instructions there are of each kind that occurs."""
    found = Counter(
        kind
        for one in instructions
        for kind, opcodes in KINDS.items()
        if re.match(opcodes, one.opcode)
    )
    return {kind: found[kind] for kind in KINDS if kind in found}


def chosen_by_line(remarks: str) -> dict[str, str]:
    """Return the instruction that the compiler says it chose, by the source's line."""
    chosen = {}
    for copied, copy, multiplied, product, shape in REMARK.findall(remarks):
        size = "×".join(re.findall(r"\d+", shape))
        chosen[int(copied or multiplied)] = f"{product} {size}" if product else copy
    return {str(line): chosen[line] for line in sorted(chosen)}


if __name__ == "__main__":
    sys.exit(main())
