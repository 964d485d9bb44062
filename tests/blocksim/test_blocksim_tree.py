"""The simulator's parser reads what CPython's own reads, line for line.

`blocksim.tree` is there because MicroPython has no `ast`; `ast` is its oracle, on every
kernel of the repository, on odd spellings, and on texts that nobody has written.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocksim.tokens import plain
from blocksim.tree import parse
from kernels.correct import CORRECT, UNTRANSLATED
from kernels.faulty import FAULTY
from kernels.grammar import program, wild
from kernels.litmus import LITMUS
from kernels.semantics import ALONE, TOGETHER, text
from kernels.spellings import LINES, NESTED
from livepage.drills.bank import bank
from livepage.drills.kinds.code import cases as code
from marking import in_node
from tools.building import chapters
from tools.faults import drills as drill_mutants
from tools.simulator import verdicts

# Some spellings are legal, and Python warns of them.
pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")

ROOT = Path(__file__).parents[2]

# ---- CPython's tree, in tuples

SIGNS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%",
    "Pow": "**", "MatMult": "@", "LShift": "<<", "RShift": ">>", "BitOr": "|",
    "BitAnd": "&", "BitXor": "^", "USub": "-", "UAdd": "+", "Invert": "~", "Not": "not",
    "And": "and", "Or": "or", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "==",
    "NotEq": "!=", "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
}  # fmt: skip
REFUSED = {  # what no kernel may use, by what the simulator calls it
    "List": "a list", "Dict": "a dictionary", "Set": "a set",
    "ListComp": "a list comprehension", "SetComp": "a set comprehension",
    "DictComp": "a dictionary comprehension", "GeneratorExp": "a generator",
    "JoinedStr": "an f-string", "Starred": "a star before an expression",
    "Yield": "yield", "YieldFrom": "yield", "Await": "await", "Match": "match",
    "Try": "try", "TryStar": "try", "With": "with", "ClassDef": "a class",
    "AsyncFunctionDef": "async", "AsyncWith": "async", "AsyncFor": "async",
    "Import": "an import inside a kernel", "ImportFrom": "an import inside a kernel",
    "Global": "global", "Nonlocal": "nonlocal", "Delete": "del", "Raise": "raise",
    "bytes": "a bytes literal", "complex": "a complex number", "ellipsis": "an ellipsis",
}  # fmt: skip
# Nodes without parts of their own form, by the parts that the simulator keeps.
PARTS = {
    "Name": "id", "Attribute": "value attr", "Subscript": "value slice",
    "BinOp": "left op right", "UnaryOp": "op operand", "BoolOp": "op values",
    "Compare": "left ops comparators", "IfExp": "test body orelse", "Tuple": "elts",
    "NamedExpr": "target value", "Assign": "targets value", "Expr": "value",
    "AugAssign": "target op value", "AnnAssign": "target annotation value",
    "If": "test body orelse", "While": "test body orelse", "Return": "value",
    "For": "target iter body orelse", "Pass": "", "Break": "", "Continue": "",
}  # fmt: skip


def theirs(part):
    """CPython's tree in tuples: kind, line, parts."""
    if isinstance(part, list):
        return [theirs(one) for one in part]
    if not isinstance(part, ast.AST):
        return part
    kind = type(part).__name__
    if kind in SIGNS:
        return SIGNS[kind]
    special = SPECIAL.get(kind, lambda node: None)(part)
    if special:
        return special
    if kind in REFUSED:
        return refused(part, kind)
    parts = [theirs(getattr(part, name)) for name in PARTS[kind].split()]
    return kind, part.lineno, *parts


def refused(part, kind):
    return "Refused", part.lineno, REFUSED[kind]


def constant(node):
    kind = type(node.value).__name__
    if kind in REFUSED:
        return refused(node, kind)
    return "Constant", node.lineno, repr(node.value)


def call(node):
    named = [(one.arg, theirs(one.value)) for one in node.keywords if one.arg]
    spread = [refused(one, "Starred") for one in node.keywords if not one.arg]
    return "Call", node.lineno, theirs(node.func), theirs(node.args) + spread, named


def joined(node):
    """An f-string without a field is a string."""
    if any(isinstance(part, ast.FormattedValue) for part in node.values):
        return None
    said = "".join(part.value for part in node.values)
    return "Constant", node.lineno, repr(said)


def loop(node):
    """Python makes a tuple of a list that a loop goes through."""
    if not isinstance(node.iter, ast.List):
        return None
    items = "Tuple", node.iter.lineno, theirs(node.iter.elts)
    rest = theirs(node.body), theirs(node.orelse)
    return "For", node.lineno, theirs(node.target), items, *rest


def part_of_array(node):
    return "Slice", node.lineno, theirs([node.lower, node.upper, node.step])


def parameters(asked):
    """Each with its stars and its default; a lone star or slash has no name."""
    first = [*asked.posonlyargs, *asked.args]
    without = [None] * (len(first) - len(asked.defaults))
    found = [("", one.arg, d) for one, d in zip(first, without + asked.defaults)]
    if asked.posonlyargs:
        found.insert(len(asked.posonlyargs), ("/", "", None))
    if asked.vararg or asked.kwonlyargs:
        found.append(("*", asked.vararg.arg if asked.vararg else "", None))
    pairs = zip(asked.kwonlyargs, asked.kw_defaults)
    found += [("", one.arg, default) for one, default in pairs]
    if asked.kwarg:
        found.append(("**", asked.kwarg.arg, None))
    return [(stars, name, theirs(default)) for stars, name, default in found]


def function(node):
    rest = parameters(node.args), theirs(node.body), theirs(node.decorator_list)
    return "FunctionDef", node.lineno, node.name, *rest


def small_function(node):
    return "Lambda", node.lineno, parameters(node.args), theirs(node.body)


def raising(node):
    """Only the raise of an exception without a cause has a node of its own."""
    plain = node.exc is not None and node.cause is None
    return ("Raise", node.lineno, theirs(node.exc)) if plain else None


def assertion(node):
    """An assert is an if with a raise."""
    line, said = node.lineno, [] if node.msg is None else [theirs(node.msg)]
    error = "Call", line, ("Name", line, "AssertionError"), said, []
    test = "UnaryOp", line, "not", theirs(node.test)
    return "If", line, test, [("Raise", line, error)], []


SPECIAL = {
    "Constant": constant, "Call": call, "JoinedStr": joined, "For": loop,
    "Slice": part_of_array, "FunctionDef": function, "Lambda": small_function,
    "Raise": raising, "Assert": assertion,
}  # fmt: skip

# ---- ours, in the same tuples; MicroPython runs this text as well

OURS = """
def ours(part):
    if isinstance(part, list):
        return [ours(one) for one in part]
    if isinstance(part, tuple):
        return tuple([ours(one) for one in part])
    if not hasattr(part, "kind"):
        return part
    kind, names = part.kind, PARTS.get(part.kind)
    if kind == "Constant":
        return kind, part.line, repr(part.value)
    if kind == "Refused":
        return kind, part.line, part.what
    if kind == "arg":
        return part.stars, part.name, ours(part.default)
    return tuple([kind, part.line] + [ours(getattr(part, n)) for n in names.split()])
"""
OWN = {
    "Call": "func args keywords",
    "Slice": "parts",
    "FunctionDef": "name parameters body decorators",
    "Lambda": "parameters body",
    "Raise": "error",
}
ours = {"PARTS": PARTS | OWN}
exec(OURS, ours)
ours = ours["ours"]


def same(source: str) -> bool:
    return ours(parse(plain(source))) == theirs(ast.parse(source).body)


# ---- every kernel of the repository


def sources() -> Iterator[tuple[str, str]]:
    """Every text with a kernel in it, by name."""
    for folder in ("lib/tiledattention/gpu", "book", "tests/kernels"):
        for file in sorted(ROOT.glob(f"{folder}/**/*.py")):
            yield str(file), file.read_text("utf-8")
    for page in chapters.pages(ROOT / "_toc.yml", ROOT / "book"):
        if not page.notebook_header:
            continue
        for cell in chapters.code_cells(chapters.notebook(page)):
            yield f"{page.name} {cell.id}", chapters.plain(cell.source)
    for drill in bank().values():
        if drill.kind == "kernel":
            yield drill.id, drill.get("code")
            yield f"{drill.id} starter", drill.get("starter")
            for mutant, source in zip(drill.get("mutants"), code.mutants(drill)):
                yield f"{drill.id} {mutant['name']}", source
            for _, source in drill_mutants.mutants(drill.get("code")):
                yield f"{drill.id} changed", source
    for kernel in verdicts.corpus():
        if kernel.file != "broken":
            yield kernel.name, kernel.head + kernel.text
    for cases in (CORRECT, UNTRANSLATED, FAULTY):
        yield from ((name, source) for name, (source, *_) in cases.items())
    for name, body in (ALONE | TOGETHER).items():
        yield name, text(body)
    for name, (_, _, source, _) in LITMUS.items():
        yield name, source
    for seed in range(100):
        yield f"program {seed}", program(seed)
        yield f"wild {seed}", wild(seed)[0]


def test_every_kernel_has_cpythons_tree() -> None:
    found = list(sources())
    different = [name for name, source in found if not same(source)]
    assert not different
    assert len({source for _, source in found}) > 1000


# ---- odd spellings


# From 3.12 on a string in a field may have the quotes of the string around it.
READ_HERE = LINES + (NESTED if sys.version_info >= (3, 12) else [])


@pytest.mark.parametrize("source", READ_HERE)
def test_an_odd_spelling_has_cpythons_tree(source: str) -> None:
    assert same(source)


IN_MICROPYTHON = """
from blocksim.tokens import plain
from blocksim.tree import parse

PARTS = {parts}
{ours}
for text in {texts}:
    print(repr(ours(parse(plain(text)))))
"""
# MicroPython itself reads no such strings, and writes the smallest number otherwise.
NOT_THERE = ("u'a'", "rf'c'", "\\N{", "5e-324")


def cell(texts: list[str]) -> dict:
    """A cell of a page that prints the trees of some texts."""
    text = IN_MICROPYTHON.format(parts=PARTS | OWN, ours=OURS, texts=texts)
    return {"kind": "cell", "cell": {"text": text, "needs": None, "above": []}}


def test_micropython_reads_the_same_trees() -> None:
    texts = [text for text in LINES if not any(part in text for part in NOT_THERE)]
    some = [texts[first : first + 30] for first in range(0, len(texts), 30)]
    trees = []
    for report in in_node([cell(few) for few in some]):
        assert report["fault"] is None
        trees += map(ast.literal_eval, report["printed"].strip().split("\n"))
    assert trees == [theirs(ast.parse(text).body) for text in texts]


# ---- texts that nobody has written


NAMES = st.sampled_from(["a", "b", "x", "tile", "cuda.threadIdx.x"])
NUMBERS = st.sampled_from(
    ["0", "1", "2.5", "1e-3", "0x1f", "1_000", ".5", "5.", "True"]
)
SPACE = st.sampled_from([" ", "  ", "\t", " \\\n ", "\f"])
OPERATORS = "+ - * / // % ** & | ^ << >> @ < <= == != > >= and or in is".split()
OPERATORS = st.sampled_from([*OPERATORS, "not in", "is not"])


def joined_by(space: str, *parts: str) -> str:
    return space.join(parts)


def bracketed(inner: st.SearchStrategy) -> st.SearchStrategy:
    """Texts in brackets: calls, indices, slices, tuples, and what is refused."""
    forms = [
        "({})", "(\n{}  # why\n)", "f({}, k=1)", "f(*{})", "f(a, **{})", "x[{}]",
        "x[{}:]", "x[:{}, 0]", "x[::{}]", "[{}]", "{{{}}}", "{{{}: 1}}", "({},)",
        "(lambda a, b=1: {})", "(y := {})", "[a for a in {}]", "f(a for a in {})",
    ]  # fmt: skip
    return st.tuples(st.sampled_from(forms), inner).map(lambda f: f[0].format(f[1]))


EXPRESSIONS = st.recursive(NAMES | NUMBERS, lambda inner: st.one_of(
    st.builds(joined_by, SPACE, inner, OPERATORS, inner),
    st.tuples(st.sampled_from(["-", "+", "~", "not "]), inner).map("".join),
    bracketed(inner),
    st.tuples(inner, inner).map("x[{0[0]}, {0[1]}]".format),
    st.tuples(inner, inner).map("({0[0]}, {0[1]})".format),
    st.tuples(inner, inner).map("x[{0[0]}:{0[1]}]".format),
    st.tuples(inner, inner, inner).map("({0[0]} if {0[1]} else {0[2]})".format),
    st.tuples(inner, inner, inner).map("{0[0]} if {0[1]} else {0[2]}".format),
), max_leaves=12)  # fmt: skip
ENDS = st.sampled_from(["", "  # a comment", ";", "\n", "\n    # further in", "\n\f"])
SIMPLE = st.one_of(
    EXPRESSIONS, EXPRESSIONS.map("x = y = {}".format), EXPRESSIONS.map("x, = {},".format),
    EXPRESSIONS.map("x: int = {}".format), EXPRESSIONS.map("x //= {}".format),
    EXPRESSIONS.map("x[0], *y = {}, 1".format), EXPRESSIONS.map("del x; y = {}".format),
    EXPRESSIONS.map("assert {}".format), st.sampled_from(["pass", "import a", "..."]),
)  # fmt: skip
HEADS = st.one_of(
    EXPRESSIONS.map("if {}:".format), EXPRESSIONS.map("while {}:".format),
    EXPRESSIONS.map("for a, b in {}:".format), EXPRESSIONS.map("for a in {}, b:".format),
    EXPRESSIONS.map("with {}:".format), EXPRESSIONS.map("def f(a, b={}):".format),
    EXPRESSIONS.map("@{}\ndef f(a, *b, c): # so".format), st.just("class A:"),
)  # fmt: skip


def indented(head: str, gap: str, body: str) -> str:
    """A statement with a block, every line of it further in."""
    lines = [gap + line if line.strip() else line for line in body.split("\n")]
    return "\n".join([head, *lines])


BLOCKS = st.recursive(
    st.tuples(SIMPLE, ENDS).map("".join),
    lambda inner: st.one_of(
        st.builds(indented, HEADS, st.sampled_from([" ", "\t", "    "]), inner),
        st.tuples(inner, inner).map("\n".join),
        st.tuples(EXPRESSIONS, inner, inner).map(
            lambda f: "\n".join(
                [indented(f"if {f[0]}:", "  ", f[1]), indented("else:", "\t", f[2])]
            )
        ),
    ),
    max_leaves=5,
)


@given(BLOCKS, st.sampled_from(["\n", "\r\n", ""]))
@settings(max_examples=500, deadline=None)
def test_a_random_text_has_cpythons_tree(source: str, end: str) -> None:
    source += end
    try:
        expected = theirs(ast.parse(source).body)
    except SyntaxError:  # "not" behind an operator, a name given to a number …
        return
    assert ours(parse(plain(source))) == expected
