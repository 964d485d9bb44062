"""Compiles the Triton kernels of the tests, without a GPU.

    python -m tools.kernels.triton            compile, write tests/data/triton.zip
    python -m tools.kernels.triton --check    compile, say what differs from that file
    python -m tools.kernels.triton --newest   write what the newest Triton makes

The compiler runs in an environment of its own, .venv-triton, with the packages that
requirements-triton.txt locks. The archive holds a text of PTX for each entry of `TEXTS`
in tests/triton/kernels.py, and an index with what a launch needs.
"""

import hashlib
import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.common import environments, options
from tools.common.paths import ROOT
from tools.kernels import stored

KERNELS = ROOT / "tests" / "triton" / "kernels.py"
ATTENTION = ROOT / "book" / "triton_attention.py"
EQUAL = ATTENTION.with_name("triton_attention_equal.py")
STORED = ROOT / "tests" / "data" / "triton.zip"
LOCK = ROOT / "requirements-triton.txt"
VENV = ROOT / ".venv-triton"
COMMAND = "python -m tools.kernels.triton"
WHAT = "PTX of the kernels in tests/triton. Nothing here has run on a GPU."
TARGET = "sm_80"


def main() -> int:
    if sys.argv[1:] == ["--worker"]:
        worker()
        return 0
    chosen = options.parse(["--check", "--newest"])
    if not sys.platform.startswith("linux"):
        print("Triton is published for Linux only")
        return 2
    try:
        index, texts = newest() if "--newest" in chosen else locked()
    except environments.NotInstalled as problem:
        print(problem)
        return 2
    wrong = stored.settle(STORED, index, texts, "--check" in chosen)
    return options.report(wrong, f"{len(texts)} texts: {len(wrong)} complaints")


def locked() -> list[dict[str, Any]]:
    """Return the index and the texts by the Triton of the lock."""
    return environments.ask(
        environments.environment(VENV, LOCK), "tools.kernels.triton"
    )


def newest() -> list[dict[str, Any]]:
    """Return the index and the texts by the newest Triton, in an environment of its own."""
    with tempfile.TemporaryDirectory() as folder:
        python = environments.fresh(Path(folder, "env"), "triton")
        return environments.ask(python, "tools.kernels.triton")


def texts_of(wanted: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the index entry and the PTX of other texts, each the fields of a `Text`."""
    python = environments.environment(VENV, LOCK)
    return environments.ask(python, "tools.kernels.triton", wanted)


def sources() -> str:
    """Return a digest of what determines the texts: kernels, their lines, the lock."""
    files = KERNELS, ATTENTION, EQUAL, LOCK  # KERNELS imports the next two
    content = "".join(file.read_text("utf-8") for file in files)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


# ---- in the environment with the compiler ----


def worker() -> None:
    """Compile what stdin asks for, or all kernels; write the answer to stdout."""
    wanted = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as cache:  # nothing of an earlier run
        os.environ["TRITON_CACHE_DIR"] = cache
        kernels = load_kernels()
        if wanted is None:
            answer: Any = compile_all(kernels)
        else:
            texts = {name: kernels.Text(*fields) for name, fields in wanted.items()}
            answer = compile_texts(kernels, texts)
        json.dump(answer, sys.stdout)


def load_kernels() -> Any:
    """Import the file of the kernels, which Triton has to be there for."""
    spec = importlib.util.spec_from_file_location("kernels", KERNELS)
    assert spec and spec.loader
    kernels = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernels)
    return kernels


def compile_texts(kernels: Any, texts: dict[str, Any]) -> dict[str, Any]:
    """Return what `compiled` makes of each text, by name."""
    return {
        name: compiled(getattr(kernels, text.kernel), text)
        for name, text in texts.items()
    }


def compile_all(kernels: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the index, and the PTX of every entry of `TEXTS`."""
    import triton

    results = compile_texts(kernels, kernels.TEXTS)
    index = {
        "what": WHAT,
        "command": COMMAND,
        "versions": {"triton": triton.__version__},
        "target": TARGET,
        "sources": sources(),
        "texts": {name: entry for name, (entry, _) in results.items()},
    }
    return index, {name: ptx for name, (_, ptx) in results.items()}


def compiled(kernel: Any, text: Any) -> tuple[dict[str, Any], str]:
    """Return what a launch needs, and the PTX of a kernel, for an entry of `TEXTS`."""
    import triton
    from triton.backends.compiler import GPUTarget

    types = text.signature.split(", ")
    arguments = dict(zip(kernel.arg_names, types, strict=True))
    constexprs = {name: int(word) for name, word in arguments.items() if word.isdigit()}
    made = triton.compile(
        triton.compiler.ASTSource(
            kernel,
            {
                name: "constexpr" if name in constexprs else word.removesuffix(":16")
                for name, word in arguments.items()
            },
            constexprs,
            {
                (i,): [["tt.divisibility", 16]]
                for i, word in enumerate(types)
                if word.endswith(":16")
            },
        ),
        target=GPUTarget("cuda", int(TARGET[3:]), 32),
        options={
            "num_warps": text.num_warps,
            "num_stages": text.num_stages,
            "enable_fp_fusion": True,  # the default will change
        },
    )
    entry = text._asdict() | {"constexprs": constexprs, "shared": made.metadata.shared}
    return entry, stored.plain(made.asm["ptx"])


if __name__ == "__main__":
    sys.exit(main())
