"""Which code cells of a chapter the page's own Python can run, decided from their text.

The page's Python is MicroPython: lists, loops, `math`, and kernels on the simulator; no
NumPy, none of the book's library. A cell runs there if all that it imports, uses and
says is there, and so are the cells that give it its names. The rule is strict rather
than clever; a test runs each cell that it lets through.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from dataclasses import dataclass, field

# What the page's Python has of these modules, and gives the same results.
HAS = {
    "math": "acos asin atan atan2 ceil comb cos e exp factorial floor fsum inf isclose"
    " isfinite isinf isnan log log2 nan pi pow prod sin sqrt tan tanh trunc",
    "functools": "partial reduce",
    "itertools": "accumulate chain permutations",
    "numba": "cuda float32 float64 int32 int64 uint32",
    "blocksim": "cuda float16 float32 float64 int32 int64 load run uint32",
    "textwrap": "fill",
    "fractions": "Fraction",
}
LACKS = frozenset(
    "ascii breakpoint format vars aiter anext globals locals slice".split()
)
METHODS = frozenset(
    "ljust rjust zfill bit_length bit_count as_integer_ratio casefold"
    " removeprefix removesuffix expandtabs swapcase title hex fromhex".split()
)


@dataclass
class Cell:
    """What the page may do with one cell.

    Attributes
    ----------
    runs : bool
    why : str
        What it lacks, if it does not run.
    binds, needs : list of str
        The names it gives to the cells below, and those it takes from above.
    imports : str
        Of a cell that does not run, the imports that work on the page all the same.
    """

    runs: bool = False
    why: str = ""
    binds: list[str] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    imports: str = ""


def plan(sources: Sequence[str]) -> list[Cell]:
    """Decide for each cell of a page whether it runs there.

    Parameters
    ----------
    sources : sequence of str
        All cells whose names others may use, in order.
    """
    known: dict[str, bool] = {}  # name → whether the page has it
    cells = []
    for source in sources:
        cell, binds = _decide(source, known)
        known.update(binds)
        cells.append(cell)
    return cells


def _decide(source: str, known: dict[str, bool]) -> tuple[Cell, dict[str, bool]]:
    """Return what becomes of a cell, and of the names it binds."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a magic of IPython's
        return Cell(why="is more than Python"), {}
    uses, binds = names_of(tree)
    imported = _imports(tree)
    lacks = [name for name, (found, _) in imported.items() if not found]
    lacks += [name for name in sorted(uses) if not _has(name, known)]
    why = f"needs {lacks[0]}" if lacks else _unsaid(tree)
    if all(isinstance(each, ast.Import | ast.ImportFrom) for each in tree.body):
        why = why or "only imports"
    kept = dict.fromkeys(text for found, text in imported.values() if found)
    given = dict.fromkeys(binds, not why)
    if why:
        given |= {name: found for name, (found, _) in imported.items()}
        return Cell(why=why, imports="\n".join(kept)), given
    return Cell(True, binds=sorted(binds), needs=sorted(uses & set(known))), given


def _has(name: str, known: dict[str, bool]) -> bool:
    """Whether the page's Python has what a name stands for."""
    return known.get(name, hasattr(builtins, name) and name not in LACKS)


def _imports(tree: ast.Module) -> dict[str, tuple[bool, str]]:
    """Return for each imported name whether the page has it, and how it is imported.

    Of two imports of one name, as in the two branches of an if, the one that works
    counts.
    """
    found: dict[str, tuple[bool, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                if not found.get(name, (False,))[0]:
                    found[name] = _imported(getattr(node, "module", None), alias)
    return found


def _imported(module: str | None, alias: ast.alias) -> tuple[bool, str]:
    """Return whether the page has what is imported, and the import as text."""
    has = alias.name in (HAS.get(module, "").split() if module else HAS)
    head = f"from {module} " if module else ""
    tail = f" as {alias.asname}" if alias.asname else ""
    return has, f"{head}import {alias.name}{tail}"


def _unsaid(tree: ast.Module) -> str:
    """Return what a cell says that the page's Python does not understand, or nothing."""
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple | ast.Set) and _starred(node):
            return "has a star in a list"
        if isinstance(node, ast.Dict) and None in node.keys:
            return "has stars in a dictionary"
        if isinstance(node, ast.DictComp) or (
            isinstance(node, ast.Dict) and node.keys[1:]
        ):
            return "has a dictionary, which has no order on the page"
        if isinstance(node, ast.Match | ast.AsyncFunctionDef | ast.TryStar):
            return "says what a small Python does not know"
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            return f"calls {node.attr}"
        if isinstance(node, ast.FunctionDef) and _nested_kernel(node):
            return "has a kernel inside a function"
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Call):
        return "shows a value"
    return ""


def _starred(node: ast.List | ast.Tuple | ast.Set) -> bool:
    """Whether a list takes another one in with a star; a target may have one."""
    read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    return read and any(isinstance(each, ast.Starred) for each in node.elts)


def _nested_kernel(function: ast.FunctionDef) -> bool:
    """Whether a function holds one that is decorated by cuda.jit."""
    inner = [n for n in ast.walk(function) if isinstance(n, ast.FunctionDef)]
    marks = [d for n in inner if n is not function for d in n.decorator_list]
    return any("cuda.jit" in ast.unparse(mark) for mark in marks)


# ---- names


def names_of(tree: ast.Module) -> tuple[set[str], set[str]]:
    """Return the names that a cell takes from elsewhere, and those that it binds."""
    reader = _Names()
    for statement in tree.body:
        reader.visit(statement)
    return reader.uses | (reader.later - reader.binds), reader.binds


class _Names(ast.NodeVisitor):
    """Reads a cell in the order in which it runs.

    What a function uses is used when it is called, so it may be bound further down.
    """

    def __init__(self) -> None:
        self.uses: set[str] = set()  # before this cell binds them
        self.later: set[str] = set()  # by functions
        self.binds: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.uses |= {node.id} - self.binds
        else:
            self.binds.add(node.id)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self.uses |= {node.target.id} - self.binds
        self.visit(node.target)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self.visit(node.target)
        for statement in [*node.body, *node.orelse]:
            self.visit(statement)

    def _visit_scope(
        self, node: ast.AST, first: Sequence[ast.AST], name: str = ""
    ) -> None:
        """Read what has names of its own; `first` is read outside of it."""
        for each in first:
            self.visit(each)
        self.later |= _free(node)
        if name:
            self.binds.add(name)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        given = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        self._visit_scope(node, [*node.decorator_list, *given], node.name)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._visit_scope(node, [*node.decorator_list, *node.bases], node.name)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_scope(node, [])

    def _visit_comprehension(self, node: ast.expr) -> None:
        self.uses |= _free(node) - self.binds

    visit_ListComp = visit_SetComp = visit_GeneratorExp = _visit_comprehension
    visit_DictComp = _visit_comprehension

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.binds |= {each.asname or each.name.split(".")[0] for each in node.names}

    visit_ImportFrom = visit_Import


def _free(node: ast.AST) -> set[str]:
    """Return the names that a function, class or comprehension takes from outside.

    Whatever is bound anywhere inside counts as its own.
    """
    own = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    own |= {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    }
    inner = (ast.FunctionDef, ast.ClassDef)
    own |= {each.name for each in ast.walk(node) if isinstance(each, inner)}
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    return {each.id for each in names if isinstance(each.ctx, ast.Load)} - own
