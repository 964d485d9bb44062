"""Kernels in WGSL, as texts: what holds of every translation, and what is refused.

That the texts compute the right numbers is for `browser/test_wgsl.py`.
"""

import inspect
import json
import re
import struct
import subprocess
import textwrap
from collections.abc import Iterator

import numpy as np
import pytest

from blocksim import Kernel, load, portable
from blocksim.functions import used
from blocksim.values import Refusal
from blocksim.wgsl import Untranslatable, explained, kinds_of, translate, words
from kernels.correct import CORRECT
from kernels.semantics import ALONE, HEAD, TOGETHER, text
from kernels.spelled import kinds
from livepage.drills.kinds.kernel import grader as kernel_grader
from marking import NODE, VENDOR
from tiledattention.gpu.ladder import PORTABLE, Build
from tools.simulator import verdicts

ROW = ("array", "float32", 1)
TEXTS = {name: text(body) for name, body in (ALONE | TOGETHER).items()}


def made_of(name: str) -> dict:
    """The translation of one of the kernels that come as texts."""
    if name in TEXTS:
        return translate(load(TEXTS[name], "kernel"), 64, [ROW, ROW])
    source, case = CORRECT[name]
    kernel = load(source, "kernel", case["names"])
    given = [kernel_grader.argument(kind, value) for _, kind, value in case["args"]]
    return translate(kernel, case["block"], kinds_of(kernel, given))


def rung(name: str) -> tuple[Build, dict]:
    """A rung in its small build, and its translation."""
    build = Build.small(name, 8)
    return build, translate(build.kernel, build.threads, kinds_of_rung(build))


def kinds_of_rung(build: Build) -> list:
    """The types of the arguments of a rung."""
    kinds = dict.fromkeys(("Q", "K", "V", "O", "states"), ("array", "float32", 3))
    kinds |= {"LSE": ("array", "float32", 2), "lengths": ("array", "int32", 1)}
    kinds |= {"scale": "float32", "left": "int32", "right": "int32", "group": "int32"}
    return [kinds[name] for name in build.arguments]


def text_of_rung(build: Build) -> tuple[str, dict]:
    """The text of a rung's kernel, and the numbers that it takes from around it."""
    source = textwrap.dedent(inspect.getsource(build.kernel))
    names = used(build.kernel).items()
    return source, {name: x for name, x in names if isinstance(x, int | float)}


# ---- what holds of every text

WORD = re.compile(r"(?<![\w.@])[A-Za-z_]\w*")
DECLARED = [
    re.compile(r"\b(?:var|let|const)(?:<[^>]*>)? (\w+)"),
    re.compile(r"\bfn (\w+)"),
    re.compile(r"\bstruct (\w+)"),
    re.compile(r"[(,{] ?(?:@builtin\(\w+\) )?(\w+): "),
]
WGSL = set(
    "fn var let const struct if else for while loop return break continue true false"
    " enable diagnostic off subgroups subgroup_uniformity storage uniform workgroup"
    " private read read_write function ptr array atomic bool i32 u32 f32 vec2f vec3i"
    " vec3u bitcast select min max abs sign floor ceil trunc round fma pow exp exp2 log"
    " log2 sqrt sin cos tan tanh sinh cosh atan2 length workgroupBarrier storageBarrier"
    " workgroupUniformLoad atomicLoad atomicStore atomicAdd atomicSub atomicMax"
    " atomicMin atomicAnd atomicOr atomicXor atomicExchange atomicCompareExchangeWeak"
    " countOneBits countLeadingZeros firstTrailingBit reverseBits extractBits"
    " unpack2x16float quantizeToF16 subgroupShuffle subgroupShuffleXor group binding"
    " compute workgroup_size builtin workgroup_id local_invocation_id"
    " local_invocation_index subgroup_invocation_id subgroup_size _".split()
)


def undeclared(wgsl: str) -> set[str]:
    """The names that a text uses and nobody declares: around functions, or inside."""
    pieces = re.split(r"^(?=fn |@compute)", wgsl, flags=re.MULTILINE)
    around = {name for find in DECLARED for name in find.findall(pieces[0])}
    around |= {name for piece in pieces for name in DECLARED[1].findall(piece)}
    for piece in pieces:
        around |= set(re.findall(r"^(?:var|struct)(?:<[^>]*>)? (\w+)", piece, re.M))
    missing = set()
    for piece in pieces:
        own = {name for find in DECLARED for name in find.findall(piece)}
        missing |= set(WORD.findall(piece)) - own - around - WGSL
    return missing


@pytest.mark.parametrize("name", [*TEXTS, *CORRECT])
def test_every_line_has_the_readers_and_every_name_is_declared(name: str) -> None:
    made = made_of(name)
    source = TEXTS.get(name) or CORRECT[name][0]
    lines = made["wgsl"].splitlines()
    assert len(made["lines"]) == len(lines)
    first = lines.index("  let thread = vec3i(me);")
    inside = made["lines"][first:-1]
    lines_of_source = range(1, source.count("\n") + 1)
    assert not [line for line in inside if line and line not in lines_of_source]
    after = [line for line in inside[1:] if line is None]
    assert len(after) <= 1  # `lane`, which every shuffle asks for
    assert undeclared(made["wgsl"]) == set()


def test_a_name_that_nobody_declares_would_be_noticed() -> None:
    made = made_of("ordered")
    assert undeclared(made["wgsl"].replace("var t", "// t")) != set()


def of_the_corpus() -> Iterator[tuple[str, Kernel, list]]:
    """What the simulator takes of the corpus, with numbers that a browser's GPU has."""
    narrow = {"float64": "float32", "int64": "int32", "bool": "int32"}
    for asked in verdicts.corpus():
        try:
            kernel = load(asked.head + asked.text, "kernel")
            given = [
                ("array", narrow.get(kind[1], kind[1]), kind[2])
                if kind[0] == "array"
                else kind
                for kind in kinds(asked.args)
            ]
            kernel.program.code(tuple(given), False)
        except (Refusal, ValueError, SyntaxError, ImportError, AttributeError):
            continue
        if len(given) == len(kernel.program.parameters):
            yield asked.name, kernel, given


WITHOUT = re.compile("^a slice is|^zip and|is a tuple$")  # what is never translated


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_what_the_simulator_takes_is_translated_or_refused_at_a_line() -> None:
    found = []
    for name, kernel, given in of_the_corpus():
        try:
            made = translate(kernel, 64, given)
        except Untranslatable as refused:
            assert refused.line > 0, name
            found.append(refused)
        else:
            assert undeclared(made["wgsl"]) == set(), name
            found.append(made)
    refused = [
        one
        for one in found
        if isinstance(one, Untranslatable) and not WITHOUT.search(one.reason)
    ]
    assert len(refused) < len(found) / 8
    assert len(found) > 150


@pytest.mark.parametrize("name", PORTABLE)
def test_rungs_are_translated_as_they_stand(name: str) -> None:
    build, made = rung(name)
    assert undeclared(made["wgsl"]) == set()
    assert made["threads"] == build.threads
    shuffles = name in (
        "registers",
        "patches",
        "split",
    )  # in `tiled` no two share a row
    assert (made["reach"] > 0) == shuffles
    memory = 8 * build.threads * shuffles  # through which they go
    assert made["shared"] == build.shared + memory
    written = {bound["name"] for bound in made["bindings"] if bound["written"]}
    assert written == {"states"} if name == "split" else {"O", "LSE"}


def test_a_barrier_stands_at_the_readers_line() -> None:
    for name in ("tiled attention", "a row's softmax, barriers in helpers"):
        made, source = made_of(name), CORRECT[name][0].splitlines()
        lines = zip(made["wgsl"].splitlines(), made["lines"])
        here = {line for text, line in lines if "workgroupBarrier" in text}
        there = [n for n, text in enumerate(source, 1) if "syncthreads()" in text]
        assert here == set(there)


def test_global_memory_has_a_barrier_where_threads_talk_through_it() -> None:
    talks = made_of("global between barriers")["wgsl"]
    assert talks.count("workgroupBarrier(); storageBarrier();") == 3
    assert "storageBarrier" not in made_of("tiled attention")["wgsl"]


def test_what_stands_for_an_infinity() -> None:
    source = HEAD + "    y[i] = -math.inf\n    y[i] = x[i] * float32(INF)\n"
    made = translate(load(source, "kernel"), 8, [ROW, ROW])["wgsl"]
    assert f"y_global[i_] = -{2.0**126:.9g}f;" in made
    assert f"y_global[i_] = x_global[i_] * {2.0**126:.9g}f;" in made
    ieee = translate(load(source, "kernel"), 8, [ROW, ROW], ieee=True)["wgsl"]
    assert "y_global[i_] = -P.infinity;" in ieee
    assert "y_global[i_] = x_global[i_] * P.infinity;" in ieee


def test_names_that_a_launch_gives_are_constants() -> None:
    source = "from numba import cuda\n\n@cuda.jit\ndef kernel(x):\n    x[0] = TILE\n"
    for tile in (5, 2.5):
        made = translate(load(source, "kernel", {"TILE": tile}), 8, [ROW])
        assert f"x_global[0] = {tile:g}f;" in made["wgsl"]


def test_shuffles_go_by_subgroups_where_these_are_wide_enough() -> None:
    kernel = load(CORRECT["a warp's sum, by shuffles"][0], "kernel")
    for subgroup, in_step in ((0, False), (16, False), (32, True), (64, True)):
        made = translate(kernel, 64, [ROW, ROW], subgroup=subgroup)
        assert (made["reach"], made["in_step"]) == (32, in_step)
        assert made["shared"] == (0 if in_step else 512)
        assert ("subgroupShuffleXor" in made["wgsl"]) == in_step
        assert undeclared(made["wgsl"]) == set()
    near = HEAD + "    y[i] = cuda.shfl_xor_sync(0xffffffff, x[i], 2)\n"
    assert translate(load(near, "kernel"), 64, [ROW, ROW])["reach"] == 4
    build, made = rung("registers")  # four threads share a row of two tiles' keys
    assert build.block_k // 4 == made["reach"] == 2


def test_a_line_is_that_of_a_call_or_else_of_its_statement() -> None:
    body = "y[i] = (x[i] +\n            first_bigger(x, x[0]) +\n            x[0])"
    made = translate(load(text(body), "kernel"), 8, [ROW, ROW])
    lines = dict(zip(made["wgsl"].splitlines(), made["lines"]))
    first = HEAD.count("\n") + 1
    assert {lines[text] - first for text in lines if "= first_bigger" in text} == {1}
    assert {lines[text] - first for text in lines if "y_global[i_] =" in text} == {0}


def test_constants_in_float16_are_rounded_beforehand() -> None:
    kernel = load(HEAD + "    y[i] = 0.1\n    y[i] = -INF\n", "kernel")
    made = translate(kernel, 8, [ROW, ("array", "float16", 1)])["wgsl"]
    assert "= 0.0999755859f;" in made
    assert "quantizeToF16" not in made


def test_what_numba_computes_in_float64_is_listed() -> None:
    made = translate(load(HEAD + "    y[i] = x[i] * 0.5\n", "kernel"), 8, [ROW, ROW])
    line = HEAD.count("\n") + 1
    assert made["doubles"] == [[line, "float32 * float64 is computed in float64"]]


def test_dynamic_shared_memory_is_as_large_as_the_launch_says() -> None:
    tile = "    a = cuda.shared.array(0, float32)\n    y[i] = a[i]\n"
    kernel = load(HEAD + tile, "kernel")
    made = translate(kernel, 16, [ROW, ROW], shared=64)
    assert "a_shared: array<f32, 16>" in made["wgsl"]
    assert made["shared"] == 64
    twice = load(HEAD + tile + tile.replace("a =", "b ="), "kernel")
    with pytest.raises(Untranslatable, match="two arrays in dynamic shared memory"):
        translate(twice, 16, [ROW, ROW], shared=64)


# ---- what is refused

REFUSED = {
    "a = cuda.shared.array(4, int64)": "a is an array of int64",
    "a = cuda.local.array(4, np.float64)": "a is an array of float64",
    "y[i] = np.float64(x[i])": "a number becomes float64 here",
    "y[i] = i + 3000000000": "3000000000 has more than 32 bits",
    "y[i] = math.erf(x[i])": "WGSL has no erf",
    "for k, v in enumerate(x): y[k] = v": "zip and enumerate go through arrays",
    "y[i] = x[2:][i]": "a slice is a view of an array",
    "a, b = (1, 2, 3)[1:]\n    y[a:b] = 0": "a slice is a view of an array",
    "a = cuda.local.array((2, 4), float32)\n    a[0] = 0": "one number for a whole row",
    "y[i] = cuda.activemask()": "cuda.activemask depends on how a GPU runs its threads",
    "y[i] = cuda.clz(i)": "cuda.clz of a number of 64 bits",
    "y[i] = cuda.popc(int8(i))": "cuda.popc of a number of 8 bits",
    "y[i] = math.frexp(x[i])[0]": "WGSL has no frexp",
    "y[i] = math.nextafter(x[i], x[0])": "WGSL has no nextafter",
    "y[i] = round(x[i], 2)": "round to digits, which is computed in float64",
    "y[i] = cuda.fp16.hneg(x[i])": "WGSL has no hneg",
    "y[i] = int32(float16(x[i]))": "Numba rounds a float16 to the nearest integer",
    "cuda.threadfence()": "cuda.threadfence orders what other blocks see",
    "a = x\n    for a in (1, 2): pass": "",
    "a = x if i > 3 else y\n    y[i] = a[i]": "one of two arrays",
    "a = x\n    if i > 3:\n        a = y\n    y[i] = a[i]": "a stands for two arrays",
    "r = range(i)\n    for k in r: y[i] = k": "a range under a name of its own",
    "a = cuda.local.array(4, float32)\n    f = lambda k: a[k]\n    y[i] = f(i)": (
        "a belongs to the function around this one"
    ),
    "y[i] = z": "the name z is not defined",
}


@pytest.mark.parametrize("body", [body for body in REFUSED if REFUSED[body]])
def test_what_has_no_form_is_refused_at_its_line(body: str) -> None:
    with pytest.raises(Untranslatable) as refused:
        translate(load(f"{HEAD}    {body}\n", "kernel"), 8, [ROW, ROW])
    assert refused.value.reason.startswith(REFUSED[body])
    lines = HEAD.count("\n") + 1, HEAD.count("\n") + 1 + body.count("\n")
    assert lines[0] <= refused.value.line <= lines[1]
    assert f"(line {refused.value.line})" in str(refused.value)


def test_a_name_has_to_mean_one_thing_in_two_functions() -> None:
    body = """k = i
    def inner(a):
        return a + k
    def outer(k):
        return inner(k * 2)
    y[i] = outer(i)"""
    with pytest.raises(Untranslatable, match="means something else here"):
        translate(load(text(body), "kernel"), 8, [ROW, ROW])


def test_an_argument_that_is_none_takes_no_place() -> None:
    source = HEAD.replace("(x, y)", "(x, y, n)")
    kernel = load(source + "    y[i] = x[i] if n is None else n\n", "kernel")
    made = translate(kernel, 8, [ROW, ROW, "none"])
    assert "y_global[i_] = x_global[i_];" in made["wgsl"]
    assert len(words(made, 1, [(8,), (8,), None])) == 8


def test_arguments_of_other_types_are_refused_by_name() -> None:
    kernel = load(HEAD + "    y[i] = x[i]\n", "kernel")
    for kind in ("float64", "int64", "int8", "bool"):
        with pytest.raises(Untranslatable, match=f"x is an array of {kind}"):
            translate(kernel, 8, [("array", kind, 1), ROW])
    with pytest.raises(ValueError, match="expected those of x, y; got 1"):
        translate(kernel, 8, [ROW])
    with pytest.raises(ValueError, match="block: expected"):
        translate(kernel, 0, [ROW, ROW])


# ---- what a launch hands over


def test_words_of_a_launch() -> None:
    source = (
        "from numba import cuda\n\n@cuda.jit\ndef kernel(x, n, s, b):\n    x[0, 0] = n"
    )
    kinds = [("array", "float32", 2), "int64", "float64", "bool"]
    assert kinds == kinds_of(
        load(source, "kernel"), [np.zeros((3, 4), np.float32), 5, 0.5, True]
    )
    made = translate(load(source, "kernel"), 8, kinds)
    found = words(made, (2, 3), [(3, 4), -5, -np.inf, True], first=4)
    assert found[:6] == [4, 2, 3, 1, 0x7F800000, 0x7FC00000]
    assert found[6:9] == [3, 4, 2**32 - 5]
    assert struct.unpack("<f", struct.pack("<I", found[9])) == (-(2.0**126),)
    assert found[10:] == [1, 0]
    with pytest.raises(ValueError, match="n: expected a whole number of 32 bits"):
        words(made, 1, [(3, 4), 2**31, 0.5, True])
    with pytest.raises(ValueError, match="x: expected 2 extents"):
        words(made, 1, [(3,), 1, 0.5, True])


def test_a_lists_type_is_that_of_the_simulator() -> None:
    kernel = load(HEAD + "    y[i] = x[i]\n", "kernel")
    assert kinds_of(kernel, [[1, 2], [[1.0], [2.0]]]) == [
        ("array", "int32", 1),
        ("array", "float32", 2),
    ]


# ---- what a compiler says


def test_a_compilers_words_are_told_in_the_readers_lines() -> None:
    made = made_of("tiled attention")
    wgsl = made["wgsl"].splitlines()
    barrier = next(n for n, line in enumerate(wgsl, 1) if "workgroupBarrier" in line)
    said = [
        ["error", "'workgroupBarrier' must only be called from uniform control flow", barrier],
        ["info", "control flow depends on possibly non-uniform value", barrier - 4],
        ["info", "reading from workgroup storage variable 'keys_shared'", barrier - 5],
        ["warning", "code is unreachable", 3],
    ]  # fmt: skip
    (fault,) = explained(made, said)
    assert fault["kind"] == "barrier"
    assert fault["line"] == made["lines"][barrier - 1]
    assert fault["cause"] == made["lines"][barrier - 5]
    assert fault["shared"] == made["lines"][barrier - 6]
    assert fault["notes"][1][1] == "reading from workgroup storage variable 'keys'"
    (other,) = explained(made, [["error", "unresolved value 'm_new_'", 0]])
    assert (other["kind"], other["line"]) == ("compile", None)
    assert other["text"] == "unresolved value 'm_new'"


# ---- on a page

SMALL = """
import { readFileSync } from "node:fs";
const { loader, wasm, files, text } = JSON.parse(readFileSync(0, "utf8"));
globalThis.self = globalThis;
const { loadMicroPython } = await import(loader);
const python = await loadMicroPython({
  url: wasm, heapsize: 8 << 20, pystack: 16 << 10, linebuffer: false,
  stdout: (bytes) => process.stdout.write(bytes),
});
for (const [name, source] of Object.entries(files)) {
  const parts = ["/lib", ...name.split("/")];
  for (let n = 1; n < parts.length; n += 1) {
    const folder = parts.slice(0, n).join("/");
    if (!python.FS.analyzePath(folder).exists) python.FS.mkdir(folder);
  }
  python.FS.writeFile(`/lib/${name}.py`, source);
}
python.runPython(text);
"""
THERE = """
import json
from blocksim import load
from blocksim.wgsl import translate, words
found = []
for source, names, block, kinds in json.loads(%r):
    kernel = load(source, "kernel", names, whole=not names)
    made = translate(kernel, block, kinds)
    found.append([made, [] if names else words(made, [2, 1], [[16], [16]])])
print(json.dumps(found))
"""


def test_in_micropython_it_writes_the_same_texts() -> None:
    asked = [(source, {}, 64, [ROW, ROW]) for source in TEXTS.values()]
    for name in PORTABLE:
        build = Build.small(name, 8)
        shape = build.threads, kinds_of_rung(build)
        asked.append((*text_of_rung(build), *shape))
    job = {
        "loader": (VENDOR / "micropython.mjs").as_uri(),
        "wasm": str(VENDOR / "micropython.wasm"),
        "files": portable.sources() | portable.translator(),
        "text": THERE % json.dumps(asked),
    }
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", SMALL],
        input=json.dumps(job),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for job, (made, launched) in zip(asked, json.loads(done.stdout), strict=True):
        source, names, block, kinds = job
        mine = translate(load(source, "kernel", names, whole=not names), block, kinds)
        assert made == json.loads(json.dumps(mine)), source
        if not names:
            assert launched == words(mine, (2, 1), [(16,), (16,)])


def test_pages_load_it_apart_from_the_simulator() -> None:
    assert not [path for path in portable.sources() if "wgsl" in path]
    assert "blocksim/wgsl/__init__" in portable.translator()
