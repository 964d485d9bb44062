"""Packs the simulator's modules as texts, for MicroPython on a page, which has no files."""

import ast
import io
import re
import tokenize
from pathlib import Path

HERE = Path(__file__).parent
RETURNS = re.compile(r"\) -> [^:()]+:$")  # at the end of a function's head
# These need CPython: its functions, Numba's simulator, files, or other packages.
CPYTHON_ONLY = set(
    "__main__ cudasim functions portable pytest_plugin stopwatch webgpu".split()
)


def sources() -> dict[str, str]:
    """Return the text of each module that also runs in MicroPython, by its path.

    Comments and docstrings are removed, because a page would have to download them.
    """
    return {
        f"blocksim/{path.stem}": code_only(path.read_text(encoding="utf-8"))
        for path in sorted(HERE.glob("*.py"))
        if path.stem not in CPYTHON_ONLY
    }


def translator() -> dict[str, str]:
    """Return the modules of `blocksim.wgsl`, to be added to `sources`.

    They are separate because a page that runs no kernel on a GPU does not need them.
    """
    return {
        f"blocksim/wgsl/{path.stem}": code_only(path.read_text(encoding="utf-8"))
        for path in sorted((HERE / "wgsl").glob("*.py"))
    }


def code_only(source: str) -> str:
    """Return the text of a module without comments and docstrings, line for line.

    Every statement stays on its line, so that an error names the line of the file. One
    space indents a block, and no function says what it returns.
    """
    lines = source.splitlines()
    docstrings = _docstrings(source)
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    for token in reversed(tokens):  # from the end, so that columns still hold
        (first, start), (last, end) = token.start, token.end
        if token.type == tokenize.COMMENT:
            lines[first - 1] = lines[first - 1][:start].rstrip()
        elif token.type == tokenize.STRING and token.start in docstrings:
            code = lines[first - 1][:start] + '""' + lines[last - 1][end:]
            lines[first - 1 : last] = [code] + [""] * (last - first)
    return _narrow("\n".join(lines) + "\n")


def _narrow(source: str) -> str:
    """Return a text whose blocks are indented by one space, without types of results."""
    lines, depth, done = source.splitlines(), 0, 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        depth += (token.type == tokenize.INDENT) - (token.type == tokenize.DEDENT)
        if not token.string.strip():
            continue
        if token.start[0] > done:  # the first of its line
            lines[token.start[0] - 1] = " " * depth + lines[token.start[0] - 1].lstrip()
        done = max(done, token.end[0])  # what is inside a string stays as it is
    return "\n".join(RETURNS.sub("):", line) for line in lines) + "\n"


def _docstrings(source: str) -> set[tuple[int, int]]:
    """Return where the docstrings of a module, its classes and functions begin."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef
    bodies = [n.body for n in ast.walk(ast.parse(source)) if isinstance(n, documented)]
    firsts = [body[0].value for body in bodies if isinstance(body[0], ast.Expr)]
    return {
        (first.lineno, first.col_offset)
        for first in firsts
        if isinstance(first, ast.Constant) and isinstance(first.value, str)
    }
