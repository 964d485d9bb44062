"""Change the answer of every code drill a little, and see which changes are told right.

    python -m tools.faults.drills [drill …]

Each change of one operator, number, name, condition or statement has to be told wrong
by the drill's cases, or to be listed in ``tests/book/drill_mutants.yml``, with the reason
why it changes nothing that the drill asks for. What is listed and no longer told right
is reported too. It takes a minute on two cores, and is no part of ``make test``.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import rescaling  # noqa: F401  (hands the book in)
from livepage.drills.bank import WRITTEN, bank
from livepage.drills.entry import Drill
from livepage.drills.kinds.code.deadline import OutOfTime, within
from tests.marking import run as marked
from tools.common.options import report
from tools.faults import runner

LISTED = Path(__file__).parents[2] / "tests" / "book" / "drill_mutants.yml"
LIMIT_S = 10

SWAPS = {
    ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.Div, ast.Add],
    ast.Div: [ast.Mult], ast.FloorDiv: [ast.Div], ast.Mod: [ast.FloorDiv],
    ast.Lt: [ast.LtE, ast.Gt], ast.LtE: [ast.Lt], ast.Gt: [ast.GtE, ast.Lt],
    ast.GtE: [ast.Gt], ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq],
    ast.And: [ast.Or], ast.Or: [ast.And],
}  # fmt: skip
NAMES = {"max": "min", "min": "max", "exp": "abs"}


def changed(node: ast.AST) -> Iterator[ast.AST | None]:
    """Yield what may stand in place of a node; None for a statement left out."""
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        for other in SWAPS.get(type(node.op), []):
            yield _with(node, op=other())
    if isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    if isinstance(node, ast.Compare):
        for other in SWAPS.get(type(node.ops[0]), []):
            yield _with(node, ops=[other(), *node.ops[1:]])
    if isinstance(node, ast.BoolOp):
        yield _with(node, op=SWAPS[type(node.op)][0]())
        yield from node.values
    if isinstance(node, ast.UnaryOp):
        yield node.operand
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    if isinstance(node, (ast.If, ast.While)):
        yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
        yield _with(node, test=ast.Constant(False))
        if isinstance(node, ast.If):
            yield _with(node, test=ast.Constant(True))
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "max":
        yield from _other_maxima(node)
    yield from _leaves(node)
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.If)) or _calls(node):
        yield None
    if isinstance(node, ast.Continue):
        yield ast.Break()
        yield ast.Pass()


def _other_maxima(call: ast.Call) -> Iterator[ast.AST]:
    """Yield what is near the maximum, and shifts no less on harmless scores."""
    whole = len(call.args) == 1 and not isinstance(call.args[0], ast.Starred)
    several = [ast.Starred(call.args[0], ast.Load())] if whole else call.args
    row = ast.unparse(ast.List(several, ast.Load()))
    for other in (
        f"sorted({row})[(len({row}) - 1) // 2]",
        f"sorted({row})[-2:][0]",
        f"min(max({row}), 500)",
        f"max(max({row}), 0)",
    ):
        yield ast.parse(other, mode="eval").body


def _leaves(node: ast.AST) -> Iterator[ast.AST]:
    """Yield other names, numbers, slices and arguments."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
        if node.value:
            yield ast.Constant(type(node.value)(0))
    if isinstance(node, ast.Name) and node.id in NAMES and _read(node):
        yield ast.Name(NAMES[node.id], ast.Load())
    if isinstance(node, ast.Slice):
        for end in ("lower", "upper"):
            if getattr(node, end):
                yield _with(node, **{end: None})
    if isinstance(node, ast.Call) and len(node.args) > 1:
        for place in range(len(node.args)):
            yield _with(node, args=node.args[:place] + node.args[place + 1 :])
        if getattr(node.func, "id", "") not in NAMES:  # those take any order
            yield _with(node, args=[node.args[1], node.args[0], *node.args[2:]])
    if isinstance(node, ast.Tuple) and len(node.elts) > 1 and _read(node):
        yield _with(node, elts=[node.elts[1], node.elts[0], *node.elts[2:]])


def _calls(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)


def _read(node: ast.Name | ast.Tuple) -> bool:
    return isinstance(node.ctx, ast.Load)


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Yield the program, as Python writes it, and each program changed a little."""
    tree = ast.parse(source)
    plain, seen = ast.unparse(tree), set()
    for node in ast.walk(tree):
        for other in changed(node):
            put = copy.deepcopy(tree, {id(node): other or ast.Pass()})
            text = ast.unparse(ast.fix_missing_locations(put))
            if text != plain and text not in seen:
                seen.add(text)
                yield plain, text


def difference(plain: str, text: str) -> str:
    """Return the lines of a program that a change has touched, "was -> is"."""
    before, after = plain.splitlines(), text.splitlines()
    while before and after and before[0] == after[0]:
        before, after = before[1:], after[1:]
    while before and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    was, now = ("; ".join(line.strip() for line in lines) for lines in (before, after))
    return f"{was} -> {now}"


def is_right(drill: Drill, source: str) -> bool:
    """Say whether a program passes; a program that takes too long does not."""
    try:
        return bool(within(LIMIT_S, lambda: marked(drill, source))["passed"])
    except OutOfTime:
        return False


class Change(NamedTuple):
    """A change of a drill's answer, at each place where it reads the same."""

    drill: Drill
    text: str
    sources: list[str]

    def __str__(self) -> str:
        return f"{self.drill.id}: {self.text}"

    def noticed(self) -> str:
        """Return a word if the cases tell the change wrong at each place."""
        right = any(is_right(self.drill, source) for source in self.sources)
        return "" if right else "told wrong"


def changes(drill: Drill) -> list[Change]:
    """Return the changes of a drill's answer."""
    sources: dict[str, list[str]] = {}
    for plain, text in mutants(drill.get("code")):
        sources.setdefault(difference(plain, text), []).append(text)
    return [Change(drill, text, places) for text, places in sources.items()]


def complaints(drill: Drill, listed: dict[str, str]) -> list[str]:
    """Return the changes told right without a reason, and the reasons without a change."""
    faults = changes(drill)

    def why(change: Change) -> str:
        return listed.get(change.text, "")

    tally = runner.run(faults, Change.noticed, why, show=False)
    unused = listed.keys() - {change.text for change in faults}
    return tally.wrong + [f"{drill.id}: listed for no change: {x}" for x in unused]


def main(ids: list[str]) -> int:
    """Report what is neither told wrong nor listed, and what is listed for nothing."""
    known = yaml.safe_load(LISTED.read_text(encoding="utf-8")) or {}
    written = [d.id for d in bank().values() if d.kind in WRITTEN]
    if strange := [id for id in ids if id not in written]:
        sys.exit(f"expected drills that ask for code, got {', '.join(strange)}")
    wrong: list[str] = []
    for id in ids or written:
        wrong += complaints(bank()[id], known.get(id, {}))
    return report(wrong, f"{len(ids or written)} drills, {len(wrong)} to look at")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
