"""One attention kernel in three texts: NumPy, Numba on tensor cores, and Triton.

A turn of the loop does six steps. Each line of each text belongs to one of them, or to
what stands around them; a line of NumPy may hold parts of two. `RULES` says which, and a
text that has changed since raises an error here. The counts are warp instructions of
machine code, from `kernellab` and from `data/tensor.json`. Nothing here has run on a GPU.

Prediction. How many other instructions does the Numba kernel execute for each mma? Why
wrong answers tempt. "Hardly any": attention is two products, and an mma adds up 2048
products of numbers. "One or two": in a kernel without tensor cores, reading the factors
takes about as much as the products. What settles it: the bars, and their sum, which
stand there from the first step on.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np

import rescaling
from kernellab import counts
from livepage import book
from livepage.figures.spec import Prediction, Spec, Step, Values
from livepage.quantities import quantities

STEPS = ("load", "scores", "maximum", "weights", "rescale", "values")
AROUND = ("before", "loop", "again", "several", "after")
COMPILED = ("numba", "triton")
D, ARCH = 64, "sm_80"
STAGES = 3  # of Triton's pipeline, by default
SHOWN = {"scores": "s", "maximum": "m", "weights": "p", "values": "o"}

# ---- which line belongs to what ----

# How a line begins, and what it belongs to; "…" marks what the listing leaves out. A line
# that holds parts of several steps stands here whole, with | between the parts. The head
# of a loop or of a branch, if it is not here, belongs to what follows it.
RULES: Mapping[str, Mapping[str, str]] = {
    "numpy": {
        "def attend(": "before",
        "m, l, o =": "before",
        "for start": "loop",
        "k, v =": "load",
        "s =": "scores",
        "m_new =": "maximum",
        "alpha, |terms = |np.exp(m - m_new), |np.exp(s - m_new[:, None])": (
            "rescale weights rescale weights"
        ),
        "l =": "rescale",
        "o = alpha[:, None] * o |+ terms @ v": "rescale values",
        "m = m_new": "rescale",
        "return": "after",
    },
    "numba": {
        "def make_scores(": "scores",
        "s[strip, tile, e] =": "scores …",
        "place = advance(": "scores",
        "upper = ptx": "scores",
        "lower = ptx": "scores",
        "b = ptx.ldmatrix(": "scores",
        "multiply(K, upper, (b[0]": "scores",
        "multiply(K": "scores …",
        "def weigh(": "several",
        "for half": "several",
        "x =": "maximum …",
        "m_new =": "maximum",
        "shift =": "weights",
        "alpha =": "rescale",
        "m[strip, half] =": "rescale",
        "total": "rescale",
        "even =": "weights",
        "odd =": "weights",
        "p[strip": "weights",
        "l[strip, half] =": "rescale",
        "o[strip, tile, x": "rescale",
        "def add_values(": "values",
        "for step in range(k_steps)": "values",
        "upper = (p": "values",
        "lower = (p": "values",
        "place = advance(v_place": "values",
        "b = ptx.ldmatrix_trans(": "values",
        "multiply(V, upper, (b[0]": "values",
        "multiply(V": "values …",
        "while": "loop",
        "ptx.wait()": "load",
        "cuda.syncthreads()": "load",
        "copy_rows(": "load",
        "ptx.commit()": "load",
        "make_scores(": "scores",
        "clean_rows(": "again …",
        "k_source": "load …",
        "v_source": "load …",
        "left_over": "load …",
        "key =": "scores …",
        "rest =": "scores …",
        "hide(": "scores",
        "weigh(": "several",
        "add_values(": "values",
        "base =": "loop",
    },
    "triton": {
        "def attention(": "before …",
        "head =": "before …",
        "i, d =": "before …",
        "rows =": "before …",
        "q_tile =": "before",
        "m = tl": "before",
        "l = tl": "before",
        "o = tl.zeros": "before",
        "end =": "before …",
        "for first": "loop",
        "j =": "load",
        "tile =": "load",
        "k_tile =": "load",
        "v_tile =": "load",
        "s =": "scores",
        "seen =": "scores",
        "if CAUSAL:": "scores",
        "m_new =": "maximum",
        "p =": "weights",
        "alpha =": "rescale",
        "l = alpha": "rescale",
        "o = alpha": "rescale",
        "m = m_new": "rescale",
        "o = tl.dot(|p.to(v_tile.dtype)|, v_tile, o)": "values weights values",
        "tl.store(lse": "after …",
        "o = o / l": "after",
        "tl.store(out": "after …",
    },
}
# The functions of the rung that the listing leaves out, as far as their lines cost
# something in a turn. `multiply` serves both products, which are of the same size.
HELPERS = {
    "copy_rows": ("load",),
    "hide": ("scores",),
    "multiply": ("scores", "values"),
}

# The function of chapter 6, which an installation may lack.
FOLD = """\
def attend(q, K, V, block_k):
    m, l, o = np.full(len(q), -inf), np.zeros(len(q)), 0.0
    for start in range(0, len(K), block_k):
        k, v = K[start:start + block_k], V[start:start + block_k]
        s = q @ k.T / sqrt(q.shape[1])
        m_new = np.maximum(m, s.max(axis=1))
        alpha, terms = np.exp(m - m_new), np.exp(s - m_new[:, None])
        l = alpha * l + terms.sum(axis=1)
        o = alpha[:, None] * o + terms @ v
        m = m_new
    return o / l[:, None]
"""

Part = tuple[str, str]  # a text, and what it belongs to


class Line(NamedTuple):
    """A line of a text: its number, how deep it stands, its parts, whether it is shown."""

    number: int
    depth: int
    parts: tuple[Part, ...]
    shown: bool


def lines_of(text: str) -> list[Line]:
    """Return the lines of a text that the figure knows, each with what it belongs to."""
    found: list[Line] = []
    for number, depth, code in reversed(code_of(text)):
        rule = rule_of(text, code)
        if rule is None:
            if not (code.startswith(("for ", "if ")) and found):
                raise ValueError(f"{text}, line {number}: no step has {code!r}")
            parts = ((code, found[-1].parts[0][1]),)
            found.append(Line(number, depth, parts, found[-1].shown))
            continue
        start, steps = rule
        pieces = start.split("|") if "|" in start else [code]
        parts = tuple(zip(pieces, steps.removesuffix(" …").split(), strict=True))
        found.append(Line(number, depth, parts, not steps.endswith("…")))
    return found[::-1]


def rule_of(text: str, code: str) -> tuple[str, str] | None:
    """Return the longest rule that a line begins with; it may hold all of the line."""
    fitting = [
        (start, steps)
        for start, steps in RULES[text].items()
        if code == start.replace("|", "") or code.startswith(start)
    ]
    return max(fitting, key=lambda rule: len(rule[0]), default=None)


def code_of(text: str) -> list[tuple[int, int, str]]:
    """Return number, depth and statement of each line of a text, without comments."""
    return {"numpy": numpy_code, "numba": numba_code, "triton": triton_code}[text]()


def numpy_code() -> list[tuple[int, int, str]]:
    """Return the function of chapter 6."""
    return function(FOLD, "attend")


def numba_code() -> list[tuple[int, int, str]]:
    """Return the functions of the rung that do the steps, and its loop over tiles."""
    source = counts.source("tensor")
    names = ("make_scores", "weigh", "add_values")
    loop = next(
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.While) and ast.unparse(node.test) == "base < end"
    )
    functions = [line for name in names for line in function(source, name)]
    return statements(source, loop) + functions


def triton_code() -> list[tuple[int, int, str]]:
    """Return the kernel in Triton."""
    file = rescaling.BESIDE / "triton_attention.py"
    return function(file.read_text("utf-8"), "attention")


def function(source: str, name: str) -> list[tuple[int, int, str]]:
    """Return the lines of a function, without its docstring."""
    return statements(source, definition(source, name))


def definition(source: str, name: str) -> ast.FunctionDef:
    """Return the function of this name."""
    return next(
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name == name
    )


def statements(source: str, node: ast.FunctionDef | ast.While) -> list:
    """Return the lines of code in a node; a statement of several lines is one."""
    head = source.splitlines()[node.lineno - 1]
    edge = len(head) - len(head.lstrip())
    found = []
    for each in ast.walk(node):
        if not isinstance(each, ast.stmt) or isinstance(each, ast.Pass):
            continue
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
            continue
        code = written(source, each)
        found.append((each.lineno, (each.col_offset - edge) // 4, code))
    return sorted(found)


def written(source: str, node: ast.stmt) -> str:
    """Return a statement as it is written, on one line; of a block its head."""
    last = node.body[0].lineno - 1 if hasattr(node, "body") else node.end_lineno
    lines = source.splitlines()[node.lineno - 1 : last]
    code = " ".join(re.sub(r"(^|\s+)#.*", "", line).strip() for line in lines)
    head = code.split(':  """')[0].split(': """')[0]
    return re.sub(r"(?<=[(\[]) | (?=[)\]])", "", head.strip())


# ---- what each step costs ----


@cache
def triton() -> Values:
    """Return what is stored of the kernel in Triton, at the tiles of the rung."""
    stored = json.loads((book.current().data / "tensor.json").read_text("utf-8"))
    assert stored["arch"] == ARCH
    (kernel,) = (
        each
        for each in stored["kernels"]
        if each["text"] == "triton" and each["same_tiles"]
        if (each["d"], each["stages"]) == (D, STAGES)
    )
    return kernel


def lines_counted(text: str) -> Mapping[int, Mapping[str, int]]:
    """Return the warp instructions of a compiled text, by line and by kind."""
    if text == "numba":
        return counts.stored("tensor", D, ARCH, dtype="float16").lines
    return {int(line): kinds for line, kinds in triton()["lines"].items()}


@cache
def owners(text: str) -> Mapping[int, tuple[str, ...]]:
    """Return what each line of a compiled text belongs to, its helpers' lines as well."""
    found = {
        line.number: tuple(dict.fromkeys(owner for _, owner in line.parts))
        for line in lines_of(text)
    }
    if text == "numba":
        for name, steps in HELPERS.items():
            node = definition(counts.source("tensor"), name)
            found |= dict.fromkeys(range(node.lineno, node.end_lineno + 1), steps)
    return found


def counted(text: str) -> list[list]:
    """Return rows of steps, products and other instructions, for each line.

    A line of several steps counts in equal shares. But where one of them rounds weights,
    the conversions are its own.
    """
    rows = []
    for line, kinds in lines_counted(text).items():
        steps = [index(owner) for owner in owners(text).get(line, ("loop",))]
        rest = Counter(kinds)
        if len(steps) > 1 and (weights := index("weights")) in steps:
            steps.remove(weights)
            rows.append([[weights], 0, rest.pop("special", 0)])
        products = rest.pop("tensor", 0)
        rows.append([steps, products, rest.total()])
    return rows


def index(owner: str) -> int:
    """Return the number of a step; 0 for what is none."""
    return STEPS.index(owner) + 1 if owner in STEPS else 0


def products(text: str) -> int:
    """Return how many products a compiled text executes."""
    return sum(kinds.get("tensor", 0) for kinds in lines_counted(text).values())


def a_product(text: str) -> np.ndarray:
    """Return a row for each step, and one for all else: products, other instructions."""
    sums = np.zeros((len(STEPS) + 1, 2))
    for steps, *two in counted(text):
        sums[np.array(steps) - 1] += np.divide(two, len(steps))
    return sums / products(text)


# ---- what the figure's script is given ----


def listing(text: str) -> list[list]:
    """Return a row for each line, `[depth, step, text, …]`; "…" for those left out."""
    rows: list[list] = []
    for line in lines_of(text):
        if line.shown:
            parts = ((index(owner), code) for code, owner in line.parts)
            rows.append([line.depth, *chain(*parts)])
        elif not rows or rows[-1][-1] != "…":
            rows.append([line.depth, index(line.parts[0][1]), "…"])
    return rows


def facts() -> dict[str, float]:
    """Count what the loop of the rung writes, and what the compiler writes for Triton.

    `integers` and `reads` are among Triton's instructions for the load, for each product.
    """
    loop = [code for line in lines_of("numba") for code, _ in line.parts]
    static = triton()["static"]
    integers = sum(
        kinds.get("integer", 0)
        for line, kinds in lines_counted("triton").items()
        if owners("triton").get(line) == ("load",)
    )
    return {
        "waits": loop.count("ptx.wait()"),
        "barriers": loop.count("cuda.syncthreads()"),
        "theirWaits": len(static["waits"]),
        "theirBarriers": static["barriers"],
        "integers": integers / products("triton"),
        "reads": static["ldmatrix_trans"] / static["mma"],
    }


def expected(state: Values) -> Values:
    """Sum the stored counts by step, for each product."""
    costs = {text: a_product(text) for text in COMPILED}
    return {
        "steps": len(STEPS),
        "costs": costs,
        "most": [int(costs[text][:-1].sum(axis=1).argmax()) + 1 for text in COMPILED],
        "kernel": [costs[text].sum() for text in COMPILED],
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every step, again and again."""
    for k in range(200):
        yield {"step": k % (len(STEPS) + 2)}


SPEC = Spec(
    controls=(Step("step"),),
    still={"step": index("weights")},
    prediction=Prediction(answer=2, shown_by=({"step": len(STEPS)},) * 3),
    constants={
        "TEXTS": {text: listing(text) for text in RULES},
        "COUNTS": {text: counted(text) for text in COMPILED},
        "MMA": {text: products(text) for text in COMPILED},
        "SHOWN": [SHOWN.get(step) for step in STEPS],
        "FACTS": facts(),
        "NAMES": {code: name for name, q in quantities().items() for code in q.code},
    },
    expected=expected,
    states=states,
    pace=4000,
)
