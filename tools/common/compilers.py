"""Stand-ins for Triton and Numba in the examples of a README: they compile nothing.

`tools.common.readmes` runs this file before the examples. For a kernel of the tests
`triton.compile` and `numba.cuda.compile` return the stored PTX; they refuse a kernel, types
or options of which that was not made.
"""

import ast
import inspect
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

TESTS = Path(__file__).parents[2] / "tests"
TRITON = TESTS / "triton" / "kernels.py", TESTS / "data" / "triton.zip"
NUMBA = TESTS / "others" / "documented.py", TESTS / "data" / "numba.zip"
HOW = {"output": "ptx", "device": False, "abi": "numba", "lineinfo": True, "cc": (8, 0)}


def stored(
    function: Callable[..., Any], file: Path, archive: Path
) -> tuple[dict[str, Any], str]:
    """Return the index of an archive and the PTX of a function, which `file` has too."""
    shown = ast.parse(inspect.getsource(function)).body[0]
    for kernel in ast.parse(file.read_text("utf-8")).body:
        if isinstance(kernel, ast.FunctionDef) and kernel.name == function.__name__:
            kernel.decorator_list = shown.decorator_list
            expect("the kernel", ast.dump(shown), ast.dump(kernel))
    with zipfile.ZipFile(archive) as texts:
        index = json.loads(texts.read("index.json"))
        return index, texts.read(f"{function.__name__}.ptx").decode()


def expect(what: str, got: Any, expected: Any) -> None:
    if got != expected:
        raise ValueError(f"{what}: expected {expected}, got {got}")


def source(function: Any, signature: Any, constexprs: Any, attrs: Any) -> Any:
    """Take what ``triton.compiler.ASTSource`` takes; return the function and a line."""
    words = [
        str(constexprs.get(name, word)) + ":16" * ((i,) in attrs)
        for i, (name, word) in enumerate(signature.items())
    ]
    expect("attrs", set(map(str, attrs.values())), {"[['tt.divisibility', 16]]"})
    return function, ", ".join(words)


def compile_triton(given: Any, target: Any) -> Any:
    """Return what ``triton.compile`` does, as far as `ptxsim.check` needs it."""
    function, signature = given
    expect("target", target, ("cuda", 80, 32))
    index, ptx = stored(function, *TRITON)
    entry = index["texts"][function.__name__]
    expect("signature", signature, entry["signature"])
    names = {"num_warps": entry["num_warps"], "shared": entry["shared"]}
    metadata = SimpleNamespace(name=function.__name__, **names)
    return SimpleNamespace(asm={"ptx": ptx}, metadata=metadata)


def compile_numba(function: Any, types: Any, **how: Any) -> tuple[str, None]:
    """Return what ``numba.cuda.compile`` does."""
    expect("options", how, HOW)
    index, ptx = stored(function, *NUMBA)
    expect("types", ", ".join(types), index["signatures"][function.__name__])
    return ptx, None


class Number:
    """A type of numbers; ``int32[::1]`` is a contiguous array of them."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getitem__(self, _: slice) -> str:
        return f"array({self.name}, 1d, C)"


def install(name: str, **names: Any) -> None:
    """Let a module be imported."""
    sys.modules[name] = module = ModuleType(name)
    vars(module).update(names)
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, module)


install("triton", jit=lambda function: function, compile=compile_triton)
install("triton.language", constexpr=None)
install("triton.compiler", ASTSource=source)
install("triton.backends")
install("triton.backends.compiler", GPUTarget=lambda *target: target)
install("numba", int32=Number("int32"))
install("numba.cuda", compile=compile_numba)
