"""The statements of a program, without layout and comments, so that they can be compared.

A statement is written as by `ast.unparse`. A compound statement, such as a loop, is its
first line. A parameter's default counts as a statement.
"""

import ast
from collections.abc import Iterator

Function = ast.FunctionDef


def statements(function: Function) -> list[str]:
    """Return the defaults of a function's parameters, and its statements, in order."""
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.stmt)]
    inner = sorted(nodes[1:], key=lambda node: (node.lineno, node.col_offset))
    return [*_defaults(function.args), *map(_first_line, inner)]


def statement(text: str) -> str:
    """Return a statement as `statements` writes it; a default reads like an assignment.

    >>> statement("while len(x)>1:  # as long as there are two")
    'while len(x) > 1:'
    >>> statement("block_q: int=64")
    'block_q: int = 64'
    """
    for program in (text, f"{text}\n    pass"):
        try:
            [node] = ast.parse(program).body
            return _first_line(node)
        except SyntaxError:
            continue
    raise ValueError(f"text: expected a statement, got {text!r}")


def functions(source: str) -> dict[str, Function]:
    """Return the functions and methods of a module by name; methods as `Class.name`."""
    by_name = {}
    for node in ast.parse(source).body:
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for each in node.body if prefix else [node]:
            if isinstance(each, Function):
                by_name[f"{prefix}{each.name}"] = each
    return by_name


def _first_line(node: ast.stmt) -> str:
    return ast.unparse(node).splitlines()[0]


def _defaults(arguments: ast.arguments) -> Iterator[str]:
    """Yield each parameter that has a default, as an assignment."""
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    pairs = zip(positional[first:], arguments.defaults, strict=True)
    for parameter, default in (
        *pairs,
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ):
        if default is not None:
            yield f"{ast.unparse(parameter)} = {ast.unparse(default)}"
