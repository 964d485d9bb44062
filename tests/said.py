"""The sentences that code can say, read from its text: f-strings become patterns."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

WORDS = re.compile(r"[^\W\d_]{2,}[ ,;:]|[ ,;:][^\W\d_]{2,}")
SLOT = re.compile(r"\{\w+\}")
ARTICLE = re.compile(r"a \{\w+\}")
CODE = re.compile(
    r"[={}<>@]|;$|->|[a-z]\(\w|_sync|__"
)  # of a GPU's language, or Python's


def sentences(file: Path) -> dict[str, int]:
    """Return the sentences and phrases in a module's code, each with its line.

    What a module splits into names, compares with, or looks up is no sentence, nor is a
    docstring.
    """
    found: dict[str, int] = {}
    for line, text in _strings(ast.parse(file.read_text("utf-8"))):
        if re.fullmatch(r"\{\w+\}: \{\w+\}", text):
            found.setdefault("{one}: {two}", line)
        elif WORDS.search(SLOT.sub("", text)) or ARTICLE.fullmatch(text):
            found.setdefault(text, line)
    return found


def _strings(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each string, the longest ones only."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, (ast.Compare, ast.Subscript, ast.arguments)):
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        of, name = node.func.value, node.func.attr
        if name == "split" or name in ("startswith", "endswith", "replace"):
            return
        if name == "join" and isinstance(of, ast.Constant):
            yield node.lineno, f"{{one}}{of.value}{{two}}"
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        for line, text in _strings(node.value):
            yield line, _numbered(f"{{{_name(node.target)}}}{text}")
        return
    text = _pattern(node)
    if text is not None:
        yield node.lineno, _numbered(text)
    for child in _below(node) if text is not None else ast.iter_child_nodes(node):
        yield from _strings(child)


def _below(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the expressions in the slots of a string."""
    for part in ast.walk(node):
        if isinstance(part, ast.FormattedValue):
            yield part.value


def _pattern(node: ast.AST) -> str | None:
    """Return a string, or what is joined to one by f-strings, + and %, as a pattern."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else f"{{{_name(part.value)}}}"
            for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [_pattern(side) for side in (node.left, node.right)]
        if sides == [None, None]:
            return None
        names = [_name(side) for side in (node.left, node.right)]
        return "".join(
            f"{{{name}}}" if side is None else side for side, name in zip(sides, names)
        )
    return None


def _name(node: ast.AST) -> str:
    """Return how a pattern names the slot of an expression."""
    for field in ("id", "attr", "func", "value", "left", "body"):
        inner = getattr(node, field, None)
        if isinstance(inner, str):
            return inner.strip("_")
        if isinstance(inner, ast.AST):
            return _name(inner)
    return "x"


def _numbered(text: str) -> str:
    """Return a pattern whose slots have different names: {name}, {name2}."""
    seen: dict[str, int] = {}

    def slot(match: re.Match[str]) -> str:
        name = match[0][1:-1]
        seen[name] = seen.get(name, 0) + 1
        return match[0] if seen[name] == 1 else f"{{{name}{seen[name]}}}"

    return SLOT.sub(slot, text)
