"""Compiles the Triton kernels of the tests, without a GPU.

    python -m tools.kernels.triton            compile and write tests/data/triton.zip
    python -m tools.kernels.triton --check    compile and list the texts that differ

The compiler runs in an environment of its own, .venv-triton, with the packages that
requirements-triton.txt locks. The archive holds a PTX text of each entry of `TEXTS` in
tests/triton/kernels.py, and index.json with what a launch needs.
"""

import datetime
import importlib.util
import json
import os
import platform
import re
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from tools.common import environments, options
from tools.common.paths import ROOT

KERNELS = ROOT / "tests" / "triton" / "kernels.py"
STORED = ROOT / "tests" / "data" / "triton.zip"
LOCK = ROOT / "requirements-triton.txt"
VENV = ROOT / ".venv-triton"
COMMAND = "python -m tools.kernels.triton"
WHAT = (
    "PTX by Triton, without sections of debug information but for names of functions."
)
EPOCH = (1980, 1, 1, 0, 0, 0)  # of all members, so that equal texts give equal archives
# ptxas needs .debug_str, which names inlined functions for .loc.
DEBUG = re.compile(r"\t\.section\t\.debug_(?!str)\w+\s*\{[^}]*\}\n")


def without_paths(ptx: str) -> str:
    """Return PTX without debug sections, and with the base names of its files only."""
    return re.sub(r'(\.file\s+\d+ ")[^"]*/', r"\1", DEBUG.sub("", ptx))


def compiled(name: str, kernels: Any) -> tuple[str, dict[str, Any]]:
    """Return the PTX of an entry of `TEXTS`, and its entry of the index."""
    import triton
    from triton.backends.compiler import GPUTarget

    text = kernels.TEXTS[name]
    function, types = getattr(kernels, text.kernel), text.signature.split(", ")
    arguments = dict(zip(function.arg_names, types, strict=True))
    constexprs = {key: int(word) for key, word in arguments.items() if word.isdigit()}
    signature = {
        key: "constexpr" if key in constexprs else word.removesuffix(":16")
        for key, word in arguments.items()
    }
    multiples = [i for i, word in enumerate(types) if word.endswith(":16")]
    source = triton.compiler.ASTSource(
        function,
        signature,
        constexprs,
        {(i,): [["tt.divisibility", 16]] for i in multiples},
    )
    made = triton.compile(
        source,
        target=GPUTarget("cuda", 80, 32),
        options={
            "num_warps": text.num_warps,
            "num_stages": text.num_stages,
            "enable_fp_fusion": True,
        },
    )
    entry = text._asdict() | {"constexprs": constexprs, "shared": made.metadata.shared}
    return without_paths(made.asm["ptx"]), entry


def worker() -> None:
    """Compile every kernel; write the index and the texts to stdout."""
    with tempfile.TemporaryDirectory() as cache:  # nothing of an earlier run
        os.environ["TRITON_CACHE_DIR"] = cache
        json.dump(compile_all(), sys.stdout)


def compile_all() -> dict[str, Any]:
    """Return the index and the texts of all kernels; Triton is installed here."""
    import triton

    spec = importlib.util.spec_from_file_location("kernels", KERNELS)
    assert spec and spec.loader
    kernels = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernels)
    results = {name: compiled(name, kernels) for name in kernels.TEXTS}
    index = {
        "what": WHAT,
        "command": COMMAND,
        "versions": {"triton": triton.__version__, "python": platform.python_version()},
        "target": "sm_80",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "texts": {name: entry for name, (_, entry) in results.items()},
    }
    ptx = {name: text for name, (text, _) in results.items()}
    return {"index": index, "ptx": ptx}


def write(results: dict[str, Any], file: Path = STORED) -> None:
    """Store the index and the texts; equal ones give the same bytes."""
    members = {"index.json": json.dumps(results["index"], indent=1)}
    members |= {f"{name}.ptx": text for name, text in results["ptx"].items()}
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in members.items():
            member = zipfile.ZipInfo(name, EPOCH)
            member.external_attr = 0o644 << 16
            archive.writestr(member, text, zipfile.ZIP_DEFLATED, 9)


def read(file: Path = STORED) -> dict[str, Any]:
    """Return the index and the texts that are stored."""
    with zipfile.ZipFile(file) as archive:
        index = json.loads(archive.read("index.json"))
        texts = index["texts"]
        ptx = {name: archive.read(f"{name}.ptx").decode() for name in texts}
    return {"index": index, "ptx": ptx}


def differences(results: dict[str, Any], stored: dict[str, Any]) -> list[str]:
    """Return the texts that differ from what is stored, or that only one of both has."""
    now, then = (
        {
            name: (text, each["index"]["texts"][name])
            for name, text in each["ptx"].items()
        }
        for each in (results, stored)
    )
    return [
        f"{name}: {STORED.name} differs from what the compiler makes: `{COMMAND}`"
        for name in sorted(now | then)
        if now.get(name) != then.get(name)
    ]


def main() -> int:
    if sys.argv[1:] == ["--worker"]:
        worker()
        return 0
    chosen = options.parse(["--check"])
    if not sys.platform.startswith("linux"):
        print("Triton is published for Linux only")
        return 2
    try:
        python = environments.environment(VENV, LOCK)
    except environments.NotInstalled as problem:
        print(problem)
        return 2
    results = environments.ask(python, "tools.kernels.triton")
    wrong = differences(results, read()) if chosen else []
    if not chosen:
        write(results)
    return options.report(
        wrong, f"{len(results['ptx'])} texts, {len(wrong)} complaints"
    )


if __name__ == "__main__":
    sys.exit(main())
