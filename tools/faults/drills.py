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
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

import rescaling  # noqa: F401  (hands the book in)
from livepage.drills.bank import WRITTEN, bank
from livepage.drills.entry import Drill
from livepage.drills.kinds.code import grader
from livepage.drills.kinds.code.deadline import OutOfTime
from livepage.drills.kinds.kernel import grader as kernel_grader
from livepage.drills.payload import payload

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


class Put(ast.NodeTransformer):
    """Puts another node in the place of one."""

    def __init__(self, place: ast.AST, other: ast.AST | None) -> None:
        self.place, self.other = place, other

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.place:
            return ast.Pass() if self.other is None else self.other
        return self.generic_visit(copy.copy(node))

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                parts = [self.visit(v) if isinstance(v, ast.AST) else v for v in value]
                setattr(node, field, parts)
            elif isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
        return node


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Yield the program, as Python writes it, and each program changed a little."""
    tree = ast.parse(source)
    plain, seen = ast.unparse(tree), set()
    for node in ast.walk(tree):
        for other in changed(node):
            put = ast.fix_missing_locations(Put(node, other).visit(tree))
            text = ast.unparse(put)
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


def told_right(drill: Drill, data: dict[str, Any], source: str) -> bool:
    """Say whether a program passes; one that takes too long does not."""
    marks = kernel_grader if drill.kind == "kernel" else grader
    found, fault = marks.defined(source, data["function"])
    if fault:
        return False
    if drill.kind == "kernel":
        play = kernel_grader.player(found, data["cases"])
    else:
        play = grader.player(data["drive"], found, data["cases"])
    asked = data["cases"], list, data["tolerance"], lambda report: None
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(LIMIT_S)
    try:
        return bool(marks.grade(play, *asked)["passed"])
    except OutOfTime:
        return False
    finally:
        signal.alarm(0)


def _late(*rest: Any) -> None:
    raise OutOfTime


def survivors(drill: Drill) -> Iterator[str]:
    """Yield each change of the drill's answer that is told right."""
    data = payload(drill)
    for plain, text in mutants(drill.get("code")):
        if told_right(drill, data, text):
            yield difference(plain, text)


def main(ids: list[str]) -> int:
    """Report what is neither told wrong nor listed, and what is listed for nothing."""
    known = yaml.safe_load(LISTED.read_text(encoding="utf-8")) or {}
    written = [d.id for d in bank().values() if d.kind in WRITTEN]
    strange = [id for id in ids if id not in written]
    if strange:
        sys.exit(f"expected drills that ask for code, got {', '.join(strange)}")
    wanted = ids or written
    faults = 0
    for id in wanted:
        found = dict.fromkeys(survivors(bank()[id]))
        listed = known.get(id, {})
        for text in found:
            if text not in listed:
                print(f"{id}: told right: {text}", flush=True)
                faults += 1
        for text in listed:
            if text not in found:
                print(f"{id}: listed, and no longer told right: {text}", flush=True)
                faults += 1
    print(f"{len(wanted)} drills, {faults} to look at")
    return min(faults, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
