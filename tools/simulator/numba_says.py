"""Compiles kernels by Numba for its verdicts; runs in .venv-gpu, and needs no GPU.

A kernel is compiled as for its launch: decorator, typing, PTX, linker. Only the query of
the driver, for the GPU's compute capability, is answered here.
"""

import inspect
import json
import linecache
import re
import sys
import traceback
import warnings
from types import SimpleNamespace

from numba.cuda import codegen, dispatcher, types
from numba.cuda.core import ir

CAPABILITY = (8, 0)
MESSAGE = 160  # characters of Numba's message that are stored
STAGES = (  # the stage of an error, by parts of the file's name, the innermost first
    ("linker", ("/linker", "nvjitlink", "_linker")),
    ("lowering", ("/lowering.py",)),
    ("typing", ("/typed_passes.py",)),
    ("untyped", ("/untyped_passes.py", "/interpreter.py", "/bytecode.py")),
)
PLACE = re.compile(r"\.loc\s+\d+ (\d+)(?:.*inlined_at \d+ (\d+))?")
DOUBLE = re.compile(r"^\s+(?:@!?%p\d+\s+)?[a-z][\w.]*\.f64\b")


def without_a_driver() -> None:
    """Let Numba compile for CAPABILITY without a driver."""
    device = SimpleNamespace(compute_capability=CAPABILITY)
    dispatcher.get_current_device = lambda: device
    codegen.CUDACodeLibrary._ensure_cc = lambda self, cc: cc or CAPABILITY
    dispatcher._Kernel.bind = lambda self: None


def verdict(head: str, name: str, text: str, made: str, args: str) -> dict:
    """Return {"compiles": True, …}, or the stage, the line and the message of the error."""
    stage, file = "syntax", f"{name}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(head, {})  # an error in a head is a mistake of the corpus, not a verdict
    try:
        code = compile(text, file, "exec")
        stage = "definition"
        space, kernel = define(head, code, made)
        if not isinstance(kernel, dispatcher.CUDADispatcher):
            raise TypeError(f"{type(kernel).__name__!r} object is not subscriptable")
        stage = "compiling"
        compiled = kernel.compile(signature(args))
        compiled._codelibrary.get_cubin(CAPABILITY)
        lines = {"float64": float64_lines(space, compiled, file), "ptx64": []}
        if re.search(r"\.f64\b", compiled._codelibrary.get_asm_str()):
            lines["ptx64"] = double_lines(head, code, made, args)
        return {"compiles": True, **lines}
    except Exception as problem:
        return {"compiles": False, **refusal(problem, stage, file)}


def define(head: str, code: object, made: str) -> tuple[dict, object]:
    """Run a text's definitions; return its names, and the kernel among them."""
    space: dict = {"__name__": "kernels"}
    exec(head, space)
    exec(code, space)
    return space, eval(made, space)


def signature(args: str) -> tuple:
    """Return the types of arguments from their text."""
    return eval(f"({args},)", dict(vars(types))) if args else ()


def float64_lines(space: dict, compiled: object, file: str) -> list[int]:
    """Return the lines that assign a float64, constants excepted."""
    annotations = [compiled._type_annotation]
    for value in space.values():
        if isinstance(value, dispatcher.CUDADispatcher):
            others = [x for x in value.overloads.values() if x is not compiled]
            annotations += [other.type_annotation for other in others]
    lines = set()
    for annotation in annotations:
        for block in annotation.blocks.values():
            for step in block.find_insts(ir.Assign):
                constant = isinstance(step.value, ir.Const | ir.Global | ir.FreeVar)
                double = "float64" in str(annotation.typemap[step.target.name])
                if double and not constant and step.loc.filename.endswith(file):
                    lines.add(step.loc.line)
    return sorted(lines)


def double_lines(head: str, code: object, made: str, args: str) -> list[int]:
    """Return the lines that became instructions in double precision."""
    space, kernel = define(head, code, made)
    for value in [*space.values(), kernel]:
        if isinstance(value, dispatcher.CUDADispatcher):
            value.targetoptions["lineinfo"] = True
    ptx = kernel.compile(signature(args))._codelibrary.get_asm_str()
    lines, line = set(), 0
    for text in ptx.splitlines():
        if place := PLACE.search(text):
            line = int(place[2] or place[1])
        elif line and DOUBLE.match(text):  # line 0 is Numba's own code
            lines.add(line)
    return sorted(lines)


def refusal(problem: Exception, stage: str, file: str) -> dict:
    """Return the stage, the line and the message of an error."""
    frames = traceback.extract_tb(problem.__traceback__)
    if stage == "compiling":
        stages = [
            name
            for frame in reversed(frames)
            for name, parts in STAGES
            if any(part in frame.filename for part in parts)
        ]
        stage = stages[0] if stages else stage
    return {"stage": stage, "line": line_of(problem, file), "says": message_of(problem)}


def message_of(problem: Exception) -> str:
    """Return the first informative line of an error's message, with the call it names."""
    plain = re.sub(r"\x1b\[\d*m", "", str(problem))
    plain = re.sub(r"'?_ZN\w+'?", "…", plain).replace("\0", "")
    lines = [line.strip() for line in plain.splitlines()]
    frames = ("Failed in", "ERROR_PTX")
    informative = (line for line in lines if line and not line.startswith(frames))
    first = next(informative, plain.strip())
    call = next((line for line in lines if line.startswith(">>>")), "")
    text = re.sub(r" at 0x[0-9a-f]+| from '[^']*'", "", f"{first} {call}".strip())
    return f"{type(problem).__name__}: {text}"[:MESSAGE]


def line_of(problem: Exception, file: str) -> int | None:
    """Return the line of the text that an error concerns, where Numba knows it."""
    if isinstance(problem, SyntaxError):
        return problem.lineno
    name = re.escape(file)
    for place in (
        rf"from {name} \((\d+)\)",
        rf'{name}", line (\d+)',
        rf"at {name} \((\d+)\)",
    ):
        if match := re.search(place, str(problem)):
            return int(match[1])
    line, step = None, problem.__traceback__
    while step:
        if step.tb_frame.f_code.co_filename == file:
            line = step.tb_lineno
        for value in list(step.tb_frame.f_locals.values()):
            place = inspect.getattr_static(value, "loc", None)
            if str(getattr(place, "filename", "")).endswith(file):
                line = place.line
        step = step.tb_next
    return line


def main() -> None:
    """Answer the questions that stdin lists, on stdout."""
    warnings.simplefilter("ignore")
    without_a_driver()
    json.dump([verdict(**question) for question in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
