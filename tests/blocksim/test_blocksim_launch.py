"""What a launch takes in, where threads meet, what atomics do, and where it ends."""

import math
from collections import namedtuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from blocksim import Fault, cuda, load, run
from blocksim.memory import View


def kernel(body: str, parameters: str = "x, y") -> object:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    source = f"def kernel({parameters}):\n    t = cuda.threadIdx.x\n{lines}"
    return load(source, "kernel", {"cuda": cuda}, whole=False)


def launched(body: str, *args: object, block: object = 4, grid: object = 1, **options):
    names = ", ".join("xyz"[: len(args)])
    return run(kernel(body, names), grid, block, *args, **options)


def fault(body: str, *args: object, **options: object) -> Fault:
    """The first fault of a launch that has one."""
    return launched(body, *args, **options).faults[0]


# ---- arguments that share memory


FACTOR = 2.0


def test_what_stands_around_a_kernel_is_read_at_each_launch(monkeypatch) -> None:
    """No cache may keep the value of a closure or of a global that has changed."""
    offset = 1.0

    @cuda.jit(device=True)
    def shifted(x):
        return x + offset

    def kernel(x):
        x[0] = FACTOR * shifted(x[0])

    def answer() -> float:
        x = np.ones(1)
        assert not run(kernel, 1, 1, x).faults
        return float(x[0])

    assert answer() == 4
    offset = 2.0
    assert answer() == 6
    monkeypatch.setitem(globals(), "FACTOR", 10.0)
    assert answer() == 30


def test_one_array_under_two_names_loses_no_write() -> None:
    x = np.zeros(8, np.float32)
    assert launched("x[t] = 1.0\ny[t + 4] = 2.0", x, x)
    assert x.tolist() == [1] * 4 + [2] * 4


def test_a_race_through_two_names_says_both() -> None:
    x = np.arange(8, dtype=np.float32)
    said = fault("x[t] = y[t + 1]", x, x)
    assert (said.kind, said.array, said.alias) == ("race", "x", "y")
    assert "x[1], the same as y[1]" in str(said)


VIEWS = {
    "shifted": lambda x: (x[:-1], x[1:]),
    "turned": lambda x: (x.reshape(3, 3), x.reshape(3, 3).T),
    "of another shape": lambda x: (x, x.reshape(3, 3)),
    "reversed": lambda x: (x, x[::-1]),
    "broadcast": lambda x: (x, np.broadcast_to(x[:1], (9,))),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_of_one_array_are_one_memory(name: str) -> None:
    pool = np.arange(9, dtype=np.float32)
    a, b = VIEWS[name](pool)
    places = [("t", "t // 3, t % 3"), ("7 - t", "(7 - t) // 3, (7 - t) % 3")]
    at = [place[v.ndim - 1] for place, v in zip(places, (a, b))]
    body = f"x[{at[0]}] = float32(1)\nv = y[{at[1]}]"
    assert {f.kind for f in launched(body, a, b, block=8).faults} == {"race"}


def test_rows_of_one_array_may_overlap() -> None:
    x = np.lib.stride_tricks.as_strided(np.zeros(5, np.float32), (4, 2), (4, 4))
    said = str(fault("y[t] = x[t, 1]\nx[t, 0] = 5.0", x, np.zeros(4, np.float32)))
    assert "overwrites x[0, 1], which thread 0 read" in said  # and x[1, 0]


def test_views_with_nothing_in_common_have_no_race() -> None:
    x = np.arange(8, dtype=np.float32)
    assert launched("x[t] = y[t]\n", x[::2], x[1::2])
    assert x.tolist() == [1, 1, 3, 3, 5, 5, 7, 7]


def test_lists_are_told_apart_by_what_they_are() -> None:
    x, same = [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]
    assert launched("x[t] = y[3 - t]", x, same)
    assert fault("x[t] = y[3 - t]", x, x).kind == "race"
    rows = [[1.0] * 4, [2.0] * 4]
    assert launched("x[0, t] = 5.0\ny[t] = 7.0", rows, rows[1])
    assert rows == [[5.0] * 4, [7.0] * 4]


BYTES = np.zeros(18, np.uint8)
WORDS = BYTES[:16].view(np.int32)
ROWS_OF_HALVES = np.lib.stride_tricks.as_strided(WORDS, (3, 2), (4, 2))
PAIRS = np.zeros(4, [("x", np.float32), ("y", np.int32)])
IN_PART = {  # arrays that share bytes, and what is said of them
    "x and y share memory, and hold int32 and float32": (WORDS, WORDS.view(np.float32)),
    "hold int64 and int32": (WORDS.view(np.int64), WORDS[1::2]),
    "hold int32 and uint8": (WORDS, BYTES[3:4]),
    "y and x share memory, and hold int32 and uint8": (BYTES[3::4], WORDS),
    "x and z share memory, and hold uint8 and int32": (BYTES[:9], BYTES[9:], WORDS[1:]),
    "elements of x and y overlap in part": (WORDS, BYTES[2:].view(np.int32)),
    "elements of x overlap in part": (ROWS_OF_HALVES,),
}


@pytest.mark.parametrize("said", IN_PART)
@pytest.mark.parametrize("mode", ["race", "plain"])
def test_bytes_in_common_without_common_elements_are_refused(said, mode) -> None:
    with pytest.raises(ValueError, match=f"^arguments: .*{said}.*; expected"):
        launched("v = x[0]", *IN_PART[said], mode=mode)


def test_two_types_side_by_side_share_nothing() -> None:
    """The fields of one array are neighbours, and one of them has two names."""
    x, y = PAIRS["x"], PAIRS["y"]
    assert launched("x[t] = 1.5\ny[t] = t\nz[t] += x[t]", x, y, x)
    assert x.tolist() == [3.0] * 4 and y.tolist() == [0, 1, 2, 3]


def test_what_numpy_protects_is_not_written() -> None:
    x = np.zeros(4, np.float32)
    x.flags.writeable = False
    assert "x is read-only" in str(fault("x[t] = 1.0", x))


ENDS = st.integers(-8, 8) | st.none()
SLICES = st.builds(slice, ENDS, ENDS, st.sampled_from([1, -1, 2]))


@given(SLICES, SLICES)
@settings(max_examples=60, deadline=None)
def test_one_thread_sees_views_as_numpy_does(one: slice, two: slice) -> None:
    mine, numpys = np.arange(8, dtype=np.int32), np.arange(8, dtype=np.int32)
    n = min(len(mine[one]), len(mine[two]))
    if n:
        body = f"for i in range({n}):\n    x[i] = 2 * y[i] + 1"
        assert launched(body, mine[one], mine[two], block=1)
        a, b = numpys[one], numpys[two]
        for i in range(n):
            a[i] = 2 * b[i] + 1
        assert mine.tolist() == numpys.tolist()


# ---- tuples


def test_a_tuple_hands_over_numbers_arrays_and_tuples() -> None:
    body = """a, (b, (c, d), rest) = x
b[t] = a + len(rest) + len(x) + x[1][1][0]
c, d = d, c
for row in y:
    row[t] += x[0] + c"""
    b, c, d = np.zeros(4, np.float32), np.int64(2), 3
    rows = [np.full(4, 5, np.int32), np.full(4, 7, np.int32)]
    for mode in ("race", "full", "plain"):
        assert launched(body, (1, (b, (c, d), ())), tuple(rows), mode=mode).faults == []
    assert b.tolist() == [5] * 4
    assert [row.tolist() for row in rows] == [[17] * 4, [19] * 4]


def test_an_array_in_a_tuple_has_a_name_with_its_place() -> None:
    x, y = np.zeros(4, np.float32), np.zeros(4, np.float32)
    found = fault("x[1][0][t + 1] = 1.0", (x, (y,)))
    assert found.text == "thread 3 asks for x[1][0][4]; its shape is [4]"
    found = fault("x[0][t] = x[1][(t + 1) % 4]", (x, x))
    assert found.array == "x[0]" and found.alias == "x[1]"
    report = launched("x[0][t] = x[1][t]", (x, y))
    assert report.bytes == {"x[0]": 16, "x[1]": 16}
    with pytest.raises(ValueError, match=r"x\[1\]\[0\]: expected a number or an array"):
        launched("y = x", (1, ("a",)))


def test_a_named_tuple_has_its_names() -> None:
    Sizes = namedtuple("Sizes", "rows columns")
    x = np.zeros(2, np.float64)
    body = "x[0] = y.rows\nx[1] = y.columns + y[0] + len(y)"
    assert launched(body, x, Sizes(3, 0.5), block=1) and x.tolist() == [3, 5.5]
    kernel = load("def kernel(x):\n    x[0] = SIZES.rows", "kernel",
                  {"SIZES": Sizes(8, 9)}, whole=False)  # fmt: skip
    kernel[1, 1](x)
    assert x[0] == 8
    assert "a tuple has no depth" in str(fault("x[0] = y.depth", x, Sizes(1, 2)))
    body = "t = y if x[0] > 0 else (1, 2)\nx[0] = t[0]"
    assert "two ways lead here" in str(fault(body, x, Sizes(1, 2)))


# ---- enumerate and zip

LOOPS = [
    "for i, v in enumerate(x): put(i, v)",
    "for i, v in enumerate(x, 5): put(i, v)",
    "for i, v in enumerate(x[1:], n): put(i, v)",
    "for p in enumerate(z, -1): put(p[0], p[1])",
    "for i, (j, v) in enumerate(enumerate(range(7, n, -2), n), n * 2): put(i + j, v)",
    "for v, w in zip(x, y): put(v, w)",
    "for (i, v), (w, k) in zip(enumerate(y), zip(z, range(9))): put(i + k, v * w)",
    "for v, in zip(x): put(v, 1)",
    "for v in zip(): put(1, 1)",
    "for v, w in zip(x[::-2], (n, 4, 5)):\n        put(v, w)\n    else: put(n, n)",
    "for v, w in zip(x, y):\n        if v == 2: continue\n        put(v, w)",
    "for row, v in zip(table, y): put(row[1], v + len(row))",
]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("mode", ["race", "full", "plain"])
def test_enumerate_and_zip_give_what_pythons_give(loop: str, mode: str) -> None:
    x, y, z = np.arange(1, 6), np.arange(10, 13), (3, 1, 4, 1)
    table, n = np.arange(8).reshape(4, 2), 3
    expected, given = [], np.zeros(40, np.int64)
    names = {"put": lambda a, b: expected.append((a, b)), "x": x, "y": y, "z": z}
    exec(f"if 1:\n    {loop}", {**names, "table": table, "n": n})
    body = loop.replace("put(", "k = put(out, k, ")
    source = f"""def kernel(x, y, z, table, n, out):
    def put(out, k, a, b):
        out[2 * k], out[2 * k + 1] = a, b
        return k + 1
    k = 0
    {body}
    out[-1] = k"""
    kernel = load(source, "kernel", whole=False)
    assert run(kernel, 1, 1, x, y, z, table, n, given, mode=mode, negative="wraps")
    assert given[-1] == len(expected)
    assert given[: 2 * len(expected)].reshape(-1, 2).tolist() == [*map(list, expected)]


def test_enumerate_and_zip_read_each_element_in_its_iteration() -> None:
    body = "for i, v in enumerate(x):\n    x[i] += v\n    if i: x[i - 1] = 0.0"
    x = np.array([1, 2, 3], np.float32)
    assert launched(body, x, block=1) and x.tolist() == [0, 0, 6]
    body = "for v, w in zip(x, y):\n    y[t] = v\n    y[t] = w"
    found = fault(body, [1.0] * 4, [0.0] * 4)
    assert (found.kind, found.array, found.line) == ("race", "y", 3)  # the head
    report = launched("for v, w in zip(x, y[:2]): pass", [1.0] * 8, [2.0] * 8, block=1)
    assert report.loads == {"x": [2], "y": [2]}


def test_enumerate_and_zip_stand_in_the_head_of_a_for() -> None:
    for body, said in [
        ("z = zip(x, x)", "zip has no place outside the head of a for"),
        (
            "x[0] = len(enumerate(x))",
            "enumerate has no place outside the head of a for",
        ),
    ]:
        found = fault(body, [0.0])
        assert found.declined == "loops" and said in str(found)
    for body, said in [
        ("for i, v in enumerate(3): pass", "int64 has no parts to go through"),
        (
            "for i, v in enumerate(x, 1.5): pass",
            "the start of enumerate is a whole number",
        ),
        ("for i, v in enumerate(x, start=1): pass", "takes no names of parameters"),
        ("for v, w in zip(x, (1, 2.5)): pass", "have several types"),
        ("for v, w in zip(x, x, x): pass", "3 values for 2 names"),
    ]:
        assert said in str(fault(body, [0.0])), body


# ---- views

STEPS = st.sampled_from([1, -1, 2, -3, None])
KEYS = st.lists(
    st.builds(slice, ENDS, ENDS, STEPS) | st.integers(0, 2) | st.just(...),
    min_size=1, max_size=3,
).filter(lambda key: key.count(...) < 2 and key != [...])  # fmt: skip


def spelled(key: list) -> str:
    """An index as a kernel has it."""
    ends = [
        (one.start, one.stop, one.step) if isinstance(one, slice) else [one]
        for one in key
    ]
    names = [
        ["" if n is None else "..." if n is ... else str(n) for n in e] for e in ends
    ]
    return ", ".join(map(":".join, names))


@given(KEYS, KEYS, st.sampled_from(["race", "full", "plain"]))
@settings(max_examples=150, deadline=None)
def test_a_view_of_a_view_has_the_elements_of_numpys(
    one: list, two: list, mode: str
) -> None:
    x, expected = np.zeros((4, 3, 5), np.int32), np.zeros((4, 3, 5), np.int32)
    try:
        view = expected[tuple(one)][tuple(two)]
    except IndexError:
        assume(False)
    assume(isinstance(view, np.ndarray) and view.size and view.ndim)
    view[...] = np.arange(view.size).reshape(view.shape)
    names = [f"i{d}" for d in range(view.ndim)]
    body = f"v = x[{spelled(one)}][{spelled(two)}]\nn = v.size * 0\nv[:] = 9"
    for depth, name in enumerate(names):
        body += f"\n{'    ' * depth}for {name} in range(v.shape[{depth}]):"
    inside = "\n" + "    " * view.ndim
    body += f"{inside}v[{', '.join(names)}] = n{inside}n += 1"
    report = launched(body, x, block=1, mode=mode)
    assert report and x.tolist() == expected.tolist()
    if mode != "plain":
        assert report.stores == {"x": [2 * view.size]} and report.loads == {"x": [0]}


def test_a_slice_takes_a_number_or_a_tuple_of_as_many() -> None:
    x = np.zeros((2, 4), np.int32)
    assert launched("x[:, 1:3] = y[0]\nx[1][:2] = (5.9, 7.2)", x, [2.5], block=1)
    assert x.tolist() == [[0, 2, 2, 0], [5, 7, 2, 0]]
    assert "2 numbers for a slice of 3 elements" in str(fault("x[0, 1:] = (1, 2)", x))
    for body, said in [
        ("x[0] = x[1]", "a slice takes one number for all of its elements"),
        ("x[:] = (1, 2)", "a slice of one dimension takes numbers of one type"),
        ("x[0] = (1, 2.5)", "a slice of one dimension takes numbers of one type"),
        ("x[0] += 1", "+ needs two numbers, not an array"),
        ("x[::0] = 1", "a step of 0 is an error"),
        ("y = x[...]", "an ellipsis alone is no view"),
        ("a, b = x.shape[t:]", "the bounds of a tuple's slice have to be constants"),
        ("y = x[1.5:]", "a bound of a slice is a whole number, not float64"),
    ]:
        found = fault(body, x)
        assert found.kind == "compile" and said in found.reason, body


OUTSIDE = {  # what thread 0 asks for -> what the message says of it, and the index
    "x[1:3][2]": ("[2] of x[1:3], which is x[3]; its shape is [2]", [3]),
    "x[6:][2]": ("[2] of x[6:8], which is x[8]; its shape is [2]", [8]),
    "x[6:][-1]": (
        "[-1] of x[6:8], which is x[7]; its shape is [2], and a negative index counts"
        " from the end, on a GPU too", [7],
    ),
    "x[::-2][4]": ("[4] of x[7::-2], which is x[-1]; its shape is [4]", [-1]),
    "x[:][8]": ("x[8]; its shape is [8]", [8]),
    "y[1, :3][3]": ("[3] of y[1, 0:3], which is y[1, 3]; its shape is [3]", [1, 3]),
    "y[1:, 3][1]": ("[1] of y[1:2, 3], which is y[2, 3]; its shape is [1]", [2, 3]),
    "y[:, 4][0]": ("y[:, 4]; its shape is [2, 4]", [":", 4]),
    "y[1:, 1:][0][3]": ("[3] of y[1, 1:4], which is y[1, 4]; its shape is [3]", [1, 4]),
    "y[1:][1][0]": ("[1] of y[1:2, :], which is y[2]; its shape is [1, 4]", [2]),
    "y[2][0]": ("y[2]; its shape is [2, 4]", [2]),
}  # fmt: skip


@pytest.mark.parametrize("index", OUTSIDE)
def test_an_index_outside_of_a_view_names_the_array_and_its_index(index: str) -> None:
    x, y = np.zeros(8, np.float32), np.zeros((2, 4), np.float32)
    said, real = OUTSIDE[index]
    for body in (f"z[t] = {index}", f"{index} = 1.0"):
        found = fault(body, x, y, [0.0] * 4)
        assert found.text == f"thread 0 asks for {said}"
        assert (found.kind, found.array, found.index) == ("index", index[0], real)


def test_a_negative_index_of_a_view_may_count_from_its_end() -> None:
    x = np.arange(8, dtype=np.float32)
    body = "v = x[2:6]\ny[t] = v[-1 - t] + v[1:][-1]"
    report = launched(body, x, y := np.zeros(3, np.float32), block=3, negative="wraps")
    assert report and y.tolist() == [10, 9, 8]
    said = (
        "asks for [-1] of x[2:6], which is x[5]: a negative index counts from the end"
    )
    assert said in str(report.notes[0]) and report.notes[0].index == [5]


def test_accesses_through_views_are_those_of_the_array_beneath() -> None:
    body = "a, b = x[:6], x[2:]\na[t + 2] = 1.0\ny[t] = b[(t + 1) % 4]"
    found = fault(body, [0.0] * 8, [0.0] * 4)
    assert (found.kind, found.how, found.array, found.index) == (
        "race", "overwrite", "x", [3],
    )  # fmt: skip
    body = "s = cuda.shared.array(8, float32)\ns[:4][t] = 1.0\ny[t] = s[4:][t]"
    found = fault(body, [0.0], [0.0] * 4)
    assert (found.kind, found.array, found.index) == ("uninitialised", "s", [4])
    body = "s = cuda.local.array(8, float32)\ns[:4] = 1.0\ny[t] = s[t:][4]"
    found = fault(body, [0.0], [0.0] * 4)
    assert (found.kind, found.array, found.index) == ("uninitialised", "s", [4])
    x, y = np.zeros((32, 32), np.float32), np.zeros(32, np.float32)
    report = launched("y[t] = x[:, 0][t] + x[0, :][t]", x, y, block=32, mode="full")
    assert report.transactions["x"] == 32 + 4


def test_an_array_is_given_back_by_the_name_of_a_parameter_only() -> None:
    head = "from numba import cuda\n\n@cuda.jit(device=True)\ndef part(x, n):\n"
    tail = "\n@cuda.jit\ndef kernel(x):\n    part(x, 2)[0] = 5\n"
    for body, right in [
        ("return x", True), ("return x[n:]", False), ("y = x\n    return y", False),
        ("x = x[1:]\n    return x", False), ("return x if n else x", False),
    ]:  # fmt: skip
        report = run(load(f"{head}    {body}\n{tail}", "kernel"), 1, 1, [0] * 4)
        assert bool(report) == right, body


# ---- where threads meet


def met(call: str, x: list, lanes: int = 8) -> list:
    """What every lane is told, as whole numbers."""
    y = np.zeros(lanes, np.int64)
    assert launched(f"y[t] = int64({call})", np.array(x, np.int32), y, block=lanes)
    return y.tolist()


def test_votes_and_counts() -> None:
    x = [0, 3, 0, 1, 0, 0, 2, 3]
    bits = sum(1 << lane for lane in range(8) if x[lane])
    every = 0xFFFFFFFF
    assert met(f"cuda.ballot_sync({every}, x[t] > 0)", x) == [bits] * 8
    assert met("cuda.syncthreads_count(int32(x[t] > 0))", x) == [4] * 8
    for call, holds in [("and", all), ("or", any)]:
        for values in (x, [1] * 8, [0] * 8):
            told = met(f"cuda.syncthreads_{call}(int32(x[t] > 0))", values)
            assert [bool(v) for v in told] == [holds(values)] * 8
    alike = lambda values: all(values) or not any(values)
    for call, holds in [("all", all), ("any", any), ("eq", alike)]:
        for values in (x, [1] * 8, [0] * 8):
            told = met(f"cuda.{call}_sync({every}, x[t] > 0)", values)
            assert told == [holds(values)] * 8
    same = [sum(1 << k for k in range(8) if x[k] == own) for own in x]
    assert met(f"cuda.match_any_sync({every}, x[t])", x) == same


def test_match_all_tells_a_mask_and_whether() -> None:
    body = "m, p = cuda.match_all_sync(0xff, x[t])\ny[t] = m + (1000 if p else 0)"
    for values, told in [([7] * 8, 1255), ([7] * 7 + [8], 0)]:
        y = np.zeros(8, np.int64)
        assert launched(body, np.array(values, np.int32), y, block=8)
        assert y.tolist() == [told] * 8


def test_lanes_of_a_mask_meet_without_the_others() -> None:
    body = """if t < 4:
    y[t] = cuda.shfl_sync(0xf, x[t], 3 - t)
else:
    y[t] = cuda.shfl_sync(0xf0, x[t], 4)"""
    y = np.zeros(8, np.int32)
    assert launched(body, np.arange(8, dtype=np.int32), y, block=8)
    assert y.tolist() == [3, 2, 1, 0, 4, 4, 4, 4]


def test_an_active_mask_names_those_who_are_there() -> None:
    body = "if t < 3: y[t] = cuda.activemask()\nelse: y[t] = cuda.activemask()"
    y = np.zeros(8, np.int64)
    assert launched(body, np.zeros(8, np.int32), y, block=8)
    assert set(y[:3]) == {7} and set(y[3:]) == {0xF8}


MASKS = {
    "v = cuda.shfl_sync(1, x[t], 0)": "lane 1 calls shfl_sync with the mask 0x00000001",
    "v = cuda.ballot_sync(1 << 40, t)": "a warp has 32 lanes",
    "v = cuda.shfl_xor_sync(0xffffffff, x[t], 32)": "lanes 0 to 31; got 32",
    "v = cuda.shfl_down_sync(0xffffffff, x[t], -1)": "lanes 0 to 31; got -1",
    "v = cuda.shfl_sync(0xf, x[t], 9)": "asks lane 9 for its value by shfl_sync",
    "if t < 2: v = cuda.shfl_sync(3, x[t], 2)": "asks lane 2 for its value",
    "if t < 2: cuda.syncwarp()\ncuda.syncthreads()": "thread 0 waits at syncwarp for thread 2, which is at syncthreads on line 4",
    "if t < 2: cuda.syncwarp(3)\nelse: cuda.syncwarp(15)": "thread 2 waits at syncwarp for thread 0, which",
    "if t == 3: return\nv = cuda.shfl_sync(0xffffffff, x[t], 3)": "asks lane 3",
}


@pytest.mark.parametrize("body", MASKS)
def test_a_mask_or_a_lane_that_cannot_be_is_said(body: str) -> None:
    report = launched(body, np.zeros(4, np.int32))
    if "15" in body:  # lanes 0 and 1 have come and gone: nothing is wrong with them
        assert report.faults == [] or MASKS[body] in str(report.faults[0])
        return
    assert MASKS[body] in str(report.faults[0])


ARRIVALS = {  # body -> what is said of the first two who do not meet
    "for i in range(4):\n    if (t + i) % 2 == 0: cuda.syncthreads()": "in turn 2 and turn 1 of the loop on line 9",
    "if t < 4: v = meet(1)\nelse: v = meet(2)": "called from line 10 and from line 9",
    "v = meet(1) if t < 4 else meet(2)": "in a helper called at two calls on line 9",
    "v = cuda.shfl_sync(-1, t, 1) if t < 4 else cuda.shfl_sync(-1, t, 2)": "which has come there too; they are at two calls on line 9",
    "for i in range(3):\n    if i != 1 or t < 4: v = cuda.shfl_sync(-1, t, 1)": "they are in turn 2 and turn 3 of the loop on line 9",
    "if t < 4: cuda.syncthreads()\nelse:\n    cuda.syncthreads()": "thread 4 waits at this barrier, thread 0 at the one on line 9",
    "if t < 4: cuda.syncthreads()": "thread 0 waits, thread 4 never comes",
    "while t < 4:\n    cuda.syncthreads()\n    break": "thread 4 never comes",
    "if t == 0: v = cuda.syncthreads_count(1)\nelse: v = cuda.syncthreads_or(1)": "at the one on line 9",
    "def inner(v):\n    cuda.syncthreads()\n    return v\nif t < 4: t = inner(t)": "thread 0 waits, thread 4 never comes",
    "for i in range(t % 2 + 1):\n    cuda.syncthreads()": "thread 0 never comes",
}
HELPER = """from numba import cuda
@cuda.jit(device=True)
def meet(v):
    cuda.syncthreads()
    return v
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
"""


@pytest.mark.parametrize("body", ARRIVALS)
def test_threads_meet_only_at_one_arrival(body: str) -> None:
    source = HELPER + "".join(f"    {line}\n" for line in body.split("\n"))
    report = run(load(source, "kernel"), 1, 8, np.zeros(8, np.int32))
    assert report.faults[0].kind in ("barrier", "barriers")
    assert ARRIVALS[body] in str(report.faults[0])


def test_one_helper_may_be_met_in_from_anywhere_by_all() -> None:
    source = (
        HELPER
        + """    def inner(v):
        cuda.syncthreads()
        return v
    v = 0
    for i in range(3):
        if x[7] == 0: v = meet(1) + inner(2)
        else: v = inner(meet(i))
    cuda.syncthreads()
    x[t] = v
"""
    )
    x = np.zeros(8, np.int32)
    assert run(load(source, "kernel"), 1, 8, x) and x.tolist() == [3] * 8


# ---- atomics

INF, NAN = math.inf, math.nan
ATOMICS = [  # (change, type, what is there, the value, what is there then)
    ("add", "int32", 2**31 - 1, 1, -(2**31)),
    ("add", "uint32", 2**32 - 1, 2, 1),
    ("add", "float32", 1.0, 2.0, 3.0),
    ("sub", "uint32", 0, 1, 2**32 - 1),
    ("sub", "int64", 5, 7, -2),
    ("max", "int32", -5, 3, 3),
    ("max", "float32", 1.0, NAN, 1.0),
    ("max", "float32", NAN, 1.0, NAN),
    ("min", "float32", 1.0, -INF, -INF),
    ("min", "float32", NAN, 1.0, NAN),
    ("nanmax", "float32", NAN, 1.0, 1.0),
    ("nanmax", "float32", 1.0, NAN, 1.0),
    ("nanmin", "float32", NAN, 1.0, 1.0),
    ("nanmin", "float32", 2.0, 1.0, 1.0),
    ("and_", "int32", 12, 10, 8),
    ("or_", "int32", 12, 10, 14),
    ("xor", "uint32", 12, 10, 6),
    ("inc", "uint32", 3, 3, 0),
    ("inc", "uint32", 2, 3, 3),
    ("dec", "uint32", 0, 3, 3),
    ("dec", "uint32", 9, 3, 3),
    ("dec", "uint32", 2, 3, 1),
    ("exch", "int32", 7, 9, 9),
]


@pytest.mark.parametrize(("name", "kind", "old", "value", "new"), ATOMICS)
@pytest.mark.parametrize("mode", ["race", "full"])
def test_atomics_change_and_return_what_was_there(name, kind, old, value, new, mode):
    x, y = np.array([old], kind), np.array([value, 0], kind)
    body = f"y[1] = cuda.atomic.{name}(x, 0, y[0])"
    assert launched(body, x, y, block=1, mode=mode)
    assert np.array_equal(x, np.array([new], kind), equal_nan=True)
    assert np.array_equal(y[1:], np.array([old], kind), equal_nan=True)


def test_a_comparison_swaps_what_is_there_and_nothing_else() -> None:
    x, y = np.array([5, 6], np.int32), np.zeros(3, np.int32)
    body = """y[0] = cuda.atomic.cas(x, 0, 5, 1)
y[1] = cuda.atomic.cas(x, 1, 5, 1)
y[2] = cuda.atomic.compare_and_swap(x, 1, 8)"""
    assert launched(body, x, y, block=1)
    assert x.tolist() == [8, 6] and y.tolist() == [5, 6, 1]


@pytest.mark.parametrize("kind", ["float32", "int32"])
@pytest.mark.parametrize("name", ["cas", "inc", "and_"])
def test_what_a_device_has_no_atomic_for_is_refused(name: str, kind: str) -> None:
    if (name, kind) in [("cas", "int32"), ("and_", "int32")]:
        return
    call = f"cuda.atomic.{name}(x, 0, {'x[0], ' * (name == 'cas')}x[0])"
    with pytest.raises(ValueError):  # before the run or in it: nothing is computed
        kernel_ = kernel(call, "x")
        kernel_[1, 1](np.zeros(2, kind))


def test_a_comparison_is_a_place_for_an_atomic() -> None:
    x = np.zeros((2, 2), np.int32)
    assert launched("cuda.atomic.add(x, (t > 1, t > 2), 1)", x, block=5)
    assert x.tolist() == [[2, 0], [1, 2]]
    x = np.zeros((1, 2), np.int32)
    (fault,) = launched("cuda.atomic.add(x, (t > 1, 0), 1)", x, block=3).faults
    assert (fault.kind, fault.index) == ("index", [1, 0])


def test_sums_by_atomics_are_rounded_in_full_mode() -> None:
    x = np.array([1, 2.0**-24, 2.0**-24], np.float32)
    for mode in ("race", "full"):
        y = np.zeros(1, np.float32)
        launched("cuda.atomic.add(y, 0, x[t])", x, y, block=3, mode=mode)
        assert y[0] == (1 if mode == "full" else np.float32(1 + 2.0**-23))


# ---- what a launch may be


def test_three_dimensions_all_through() -> None:
    body = """i, j, k = cuda.grid(3)
a, b, c = cuda.gridsize(3)
x[i, j, k] = (i * b + j) * c + k
z = cuda.threadIdx.z + cuda.blockIdx.z * cuda.blockDim.z"""
    x = np.zeros((4, 6, 2), np.int32)
    report = launched(body, x, grid=(2, 3, 1), block=(2, 2, 2))
    assert report and x.ravel().tolist() == list(range(48))
    said = fault("if cuda.threadIdx.z == 1: x[9] = 1", x.ravel()[:4], block=(2, 1, 2))
    assert "thread (0, 0, 1) asks for x[9]; its shape is [4]" in str(said)


LIMITS = {
    (2**31, 1): "grid: 2147483648 along x",
    ((1, 65536), 1): "grid: 65536 along y; a GPU has 65535 at most",
    ((1, 1, 65536), 1): "grid: 65536 along z",
    (1, (1, 1, 65)): "block: 65 along z; a GPU has 64 at most",
    (1, (32, 33)): "a block of 1056 threads; a GPU starts 1024 at most",
    (2**30, 1): "too many to simulate",
}


@pytest.mark.parametrize("shape", LIMITS)
def test_no_launch_is_larger_than_a_gpu_takes(shape: tuple) -> None:
    report = run(kernel("x[0] = 1", "x"), *shape, [0.0])
    assert LIMITS[shape] in str(report.faults[0])


NONE = [
    (0, 1),
    (1, 0),
    (1, (1, 2, 3, 4)),
    (1.5, 1),
    (-1, 1),
    (None, 1),
    ("2", 1),
    (1, math.nan),
    (1, ()),
    ([1, 0], 1),
]


@pytest.mark.parametrize("shape", NONE)
def test_a_launch_that_is_none_is_an_error(shape: tuple) -> None:
    with pytest.raises(ValueError, match="grid: expected|block: expected"):
        run(kernel("x[0] = 1", "x"), *shape, [0.0])


NO_OPTIONS = [
    ("turns", -1, "whole numbers from 1, got -1"), ("turns", 0, "from 1, got 0"),
    ("turns", 1.5, "from 1, got 1.5"), ("turns", "8", "from 1, got '8'"),
    ("turns", None, "from 1, got None"), ("shared", -1, "from 0, got -1"),
    ("beat", 5, "a function, got 5"), ("beat", "x", "a function, got a text"),
    ("trace", 5, "a function, got 5"), ("trace", [], "a function, got a list"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "said"), NO_OPTIONS)
def test_an_option_that_is_none_is_named(name: str, value: object, said: str) -> None:
    """And is no fault of the kernel's."""
    with pytest.raises(ValueError, match=f"^{name}: expected .*{said}$"):
        launched("while x[t] < 3: x[t] += 1", np.zeros(4, np.int32), **{name: value})


def test_few_turns_are_enough_for_a_kernel_without_a_while() -> None:
    body = "cuda.syncthreads()\nfor i in range(2):\n    cuda.syncthreads()\nx[t] = 1"
    assert launched(body, np.zeros(4, np.int32), turns=1)


NO_ARGUMENTS = [  # what a kernel cannot take, and what is said after its name
    (2**64, "64 bits at most, got 18446744073709551616"), (-(2**63) - 1, "64 bits"),
    (1j, "a number or an array, got 1j"), (memoryview(b"ab"), "a number or an array"),
    (np.zeros(2, complex), "numbers of .*; got complex128"),
    (np.array(["a"]), "numbers of .*; got <U1"), (np.str_("a"), "numbers of .*<U1"),
    (["a"], "numbers in its lists, got a text"), ([1, 2**31], "32 bits, got 2147483648"),
    (np.zeros(2, ">f4"), "this machine's order of bytes; got >f4"),
    (np.zeros(2, ">i8"), "this machine's order of bytes; got >i8"),
    ([[1, 2], [3]], r"rows of one shape, got \(2,\) and \(1,\)"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "said"), NO_ARGUMENTS, ids=range(len(NO_ARGUMENTS)))
def test_an_argument_that_is_none_is_named(value: object, said: str) -> None:
    with pytest.raises(ValueError, match=f"^y: expected .*{said}"):
        launched("pass", [0.0], value)


@pytest.mark.filterwarnings("error")
def test_what_is_too_large_for_an_array_is_infinite_there() -> None:
    x = np.array([3e38, 1], np.float32)
    assert launched("x[0] = x[0] * x[0]", x, block=1) and x[0] == math.inf


def test_a_list_holds_what_its_type_holds() -> None:
    y = np.zeros(1)
    assert launched("y[0] = x[0]", [0.1], y, block=1, mode="full")
    assert y[0] == np.float32(0.1)
    assert launched("y[0] = x[0]", [np.float64(3), 0], y, block=1) and y[0] == 3


def test_dynamic_shared_memory_has_the_size_of_the_launch() -> None:
    body = "s = cuda.shared.array(0, float32)\ns[t] = x[t]\ncuda.syncthreads()\n"
    ready = kernel(body + "x[t] = s[3 - t]", "x")
    x = np.arange(4, dtype=np.float32)
    ready[1, 4, 0, 16](x)
    assert x.tolist() == [3, 2, 1, 0]
    with pytest.raises(Fault, match=r"kernel\[grid, block, stream, bytes\]"):
        ready[1, 4](x)
    with pytest.raises(Fault, match=r"asks for s\[3\]; its shape is \[3\]"):
        ready[1, 4, 0, 12](x)
    assert run(ready, 1, 4, x, shared=16).shared_bytes == 16
    assert run(ready, 1, 4, x, shared=50000).faults[0].kind == "shared"


def test_barriers_are_counted_in_all_blocks() -> None:
    def waits(x):
        for _ in range(3):
            cuda.syncthreads()
        x[cuda.grid(1)] = 1.0

    assert run(waits, 2, 4, [0.0] * 8).barriers == 2 * 3


def test_two_dynamic_arrays_are_one_memory() -> None:
    body = """a = cuda.shared.array(0, float32)
b = cuda.shared.array(0, float32)
a[t] = x[t]
v = b[3 - t]"""
    said = fault(body, np.zeros(4, np.float32), shared=16)
    assert "the same as a[" in str(said)


@pytest.mark.parametrize("size", ["-1", "(0, 4)", "(2, -3)"])
@pytest.mark.parametrize("space", ["shared", "local"])
def test_no_array_has_a_size_below_one(space: str, size: str) -> None:
    with pytest.raises(ValueError):
        kernel(f"s = cuda.{space}.array({size}, float32)\nx[t] = 1.0", "x")[1, 1]([0.0])


def test_rows_and_arrays_can_be_gone_through() -> None:
    body = """a = cuda.local.array(3, float32)
for i in range(3): a[i] = float32(i)
s = float32(0)
for v in a: s += v
for v in x[1]: s += v
y[0] = s"""
    y = np.zeros(1, np.float32)
    assert launched(body, np.array([[1, 2], [10, 20]], np.float32), y, block=1)
    assert y[0] == 33
    beneath = type("A", (), {"ndim": 2, "__getitem__": lambda s, k: k})()
    part = View(beneath, [1, range(3)])
    assert list(part) == [(1, 0), (1, 1), (1, 2)] and len(part) == 3


TABLE = np.array([1.0, 2.0], np.float32)


def constant(line: str) -> object:
    """A kernel of one line, in a world that has a table."""
    source = f"def kernel(x):\n    {line}\n"
    return load(source, "kernel", {"TABLE": TABLE}, whole=False)


def test_a_constant_array_of_the_world_is_read_only_and_has_its_bounds() -> None:
    for line, says in [
        ("x[0] = TABLE[-1]", r"asks for TABLE\[-1\]; its shape is \[2\]"),
        ("x[0] = TABLE[2]", r"asks for TABLE\[2\]"),
    ]:
        with pytest.raises(Fault, match=says):
            constant(line)[1, 1]([0.0])
    with pytest.raises(ValueError):
        constant("TABLE[0] = 3.0")[1, 1]([0.0])
    assert TABLE.tolist() == [1, 2]


# ---- what never ends

ENDLESS = {
    "while True: pass": 3,
    "for i in range(10**15): pass": 3,
    "while True:\n    cuda.syncthreads()": 4,
    "for i in range(10**6):\n    for j in range(10**6): pass": 4,
    "while x[0] == 0: pass": 3,
    "while cuda.atomic.cas(y, 0, 1, 2) != 1: pass": 3,
}


@pytest.mark.parametrize("body", ENDLESS)
def test_a_loop_without_end_is_a_fault_with_its_line_and_thread(body: str) -> None:
    x, y = np.zeros(4, np.int32), np.zeros(4, np.int32)
    said = fault(body, x, y, turns=2000)
    assert (said.kind, said.line, said.threads) == ("endless", ENDLESS[body], [0])


STUCK = {
    "while True: pass": 3,
    "while x[0] == 0: pass": 3,
    "i = 0\nwhile i < 9:\n    i = (i + 1) % 8": 4,
    "i = 0\nwhile i >= 0: i += 1": 4,
    "while True:\n    cuda.syncthreads()": 4,
    "while t < 9:\n    cuda.syncwarp()\n    cuda.syncthreads()": 5,
    "while cuda.atomic.add(y, 0, 0) == 0: pass": 3,
    "while cuda.atomic.add(y, 1 - t % 2, 0) == 0: pass\ncuda.atomic.exch(y, t % 2, 1)": 3,
    "if t == 0:\n    while cuda.atomic.add(y, 0, 0) == 0: pass\ncuda.syncthreads()": 4,
    "while cuda.atomic.add(y, 0, 0) == 0:\n    cuda.syncthreads()": 3,
    "for i in range(10**15): pass": 3,
}


@pytest.mark.parametrize("grid", [1, 3])
@pytest.mark.parametrize("body", STUCK)
def test_a_loop_without_end_is_found_at_the_default_settings(
    body: str, grid: int
) -> None:
    x, y = np.zeros(4, np.int32), np.zeros(4, np.int32)
    said = fault(body, x, y, grid=grid)
    assert (said.kind, said.line, said.threads) == ("endless", STUCK[body], [0])


@pytest.mark.parametrize("body", ["x[t] = 0", "y[t] = 0", "y[t] = math.nan"])
def test_storing_the_same_number_again_changes_nothing(body: str) -> None:
    said = fault(f"while True: {body}", np.zeros(4, np.int32), np.zeros(4, np.float32))
    assert "nothing changes from turn to turn" in str(said)


# What looks like standing still: only one thing changes, or the loop is begun anew.
LONG = [
    "i = 0\nwhile i < 20000: i += 1",
    "while x[g] < 500: x[g] += 1",
    "z = cuda.local.array(1, float32)\nz[0] = 0.0\ni = 0\nwhile i < 200:\n"
    "    i += math.copysign(1.0, z[0]) < 0\n    z[0] = -z[0]",
    "while cuda.atomic.add(x, g, 1) < 500: pass",
    "s = cuda.local.array(1, int32)\ns[0] = 0\nwhile s[0] < 500: s[0] += 1",
    "s = cuda.shared.array(4, int32)\ns[t] = 0\nwhile s[t] < 500: s[t] += 1",
    "i = 0\nwhile i < 500:\n    i += 1\n    cuda.syncthreads()",
    "i = 0\nwhile i < 500:\n    if t == 3: i += 1\n    i = cuda.shfl_sync(-1, i, 3)",
    "i = 0\nwhile cuda.syncthreads_count(int32(i < 400)) > 3:\n    if t == 2: i += 1",
    "i = 0\nwhile cuda.atomic.add(y, 0, 0) == 0 and i < 700: i += 1",
    "i = 0\nwhile i < 40:\n    j = 0\n    while j < 63: j += 1\n    i += 1",
    "i = 0\nwhile i < 40:\n    j = 0\n    while j < 64: j += 1\n    i += 1",
    "v = float32(0)\nfor i in range(40):\n    j = 0\n    while j < 64: j += 1\n    v += i",
    "if t == 0:\n    i = 0\n    while i < 500:\n        i += 1\n        cuda.syncwarp(1)\n"
    "    cuda.atomic.exch(y, 0, 1)\nelse:\n    while cuda.atomic.add(y, 0, 0) == 0: pass",
    "for i in range(1500):\n    for j in range(2000):\n        if j == 0: break",
]


@pytest.mark.parametrize("grid", [1, 3])
@pytest.mark.parametrize("body", LONG)
def test_a_long_loop_that_ends_is_none(body: str, grid: int) -> None:
    x, y = np.zeros(12, np.int32), np.zeros(4, np.int32)
    assert launched("g = cuda.grid(1)\n" + body, x, y, grid=grid, block=4)


def test_long_loops_that_end_are_none() -> None:
    body = """for i in range(900):
    for j in range(900):
        if j == 1: break
x[t] = 1"""
    assert launched(body, np.zeros(4, np.int32), turns=2000)


# ---- what is said

SAID = {
    "x[t] = x[t + 1]": r"overwrites x\[1\], which thread 0 read on line 3",
    "x[0] = float32(t)": "thread 1 and thread 0 both write x[0], with no barrier"
    " between: 1 now, 0 before on line 3",
    "if t == 0: x[0] = 2.5\nelse: x[t] = x[0]": "it got 2.5",
    "if t: x[-t] = 1.0": "thread 1 asks for x[-1]; its shape is [8], and a negative"
    " index counts from the end",
    "x[t + 7] = 1.0": "thread 1 asks for x[8]; its shape is [8]",
    "x[0] = t < 3": "both write x[0], with no barrier between: 0 now, 1 before",
    "if t == 0: v = x[0]\nx[0] = 5.0": "overwrites x[0], which thread 0 read on line 3",
    "for k in range(2 if t == 0 else 1): x[0] = k + min(t, 1)": "both write x[0], with no"
    " barrier between: 1 now, another number before on line 3",
    "p = 1.0, 2.0\nx[t] = p[t]": "thread 2: IndexError: p[2] is asked for; there are 2",
}


@pytest.mark.parametrize("body", SAID)
def test_a_message_says_what_a_thread_did_with_the_value(body: str) -> None:
    said = str(fault(body, np.arange(8, dtype=np.float32)))
    assert SAID[body].replace("\\", "") in said


# What all threads write, and with how many blocks that is benign.
SAME = {
    "x[0] = 5.0": 2,
    "x[0] = y[0]": 2,  # a NaN
    "x[0] = -0.0": 2,
    "x[0] = -0.0 if t else 0.0": 0,
    "x[0] = 5.0 + t": 0,
    "if t: x[0] = 5.0\nelse: x[0] = 5.0": 0,  # on two lines
    "x[0] = 5.0\nx[0] = 6.0": 0,
    "cuda.atomic.add(x, 0, 1.0)\ncuda.syncthreads()\nx[0] = 5.0": 1,
    "if t == 0: cuda.atomic.add(x, 0, 1.0)\nx[0] = 5.0": 0,
    "x[0] = 5.0\nv = x[0]": 0,
    "x[0] = 5.0\ncuda.syncthreads()\nv = x[0]": 1,
    "for k in range(2):\n    x[0] = 5.0\n    cuda.syncthreads()": 2,
    "for k in range(2):\n    x[0] = k\n    cuda.syncthreads()": 1,
    "for k in range(2): x[0] = k": 0,
}


@pytest.mark.parametrize("grid", [1, 2])
@pytest.mark.parametrize("body", SAME)
def test_the_same_bits_on_one_line_are_benign(body: str, grid: int) -> None:
    x, y = np.zeros(2, np.float32), np.full(2, np.nan, np.float32)
    report = launched(body, x, y, grid=grid)
    assert bool(report) == (grid <= SAME[body]), report
    if report:
        (note,) = report.notes
        assert (note.kind, note.severity, note.array) == ("race", "benign", "x")
        assert note.line == note.earlier and "benign: " in repr(report)


def test_what_activemask_gives_is_noted_as_unmodelled() -> None:
    report = launched("x[t] = cuda.activemask()", np.zeros(4, np.int32))
    (note,) = report.notes
    assert report and (note.kind, note.severity) == ("activemask", "unmodelled")


FLAG = """if t == WAITS:
    while y[0] == 0: pass
    x[1] = x[0] + 1
elif t == 1 - WAITS:
    x[0] = 41
    cuda.threadfence()
    y[0] = 1"""


@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize("waits", [0, 1])
def test_a_flag_without_atomics_is_a_race_whoever_comes_first(waits, blocks) -> None:
    body = FLAG.replace("WAITS", str(waits))
    if blocks == 2:
        body = body.replace("t ==", "cuda.blockIdx.x ==")
    x, y = np.zeros(2, np.int32), np.zeros(1, np.int32)
    report = launched(body, x, y, grid=blocks, block=3 - blocks)
    assert {(f.kind, f.array) for f in report.faults} == {("race", "x"), ("race", "y")}
    assert x.tolist() == [41, 42]
    for stuck in (body.replace("y[0] = 1", "y[0] = 0"), "while y[0] == 0: pass"):
        x[:] = y[:] = 0
        report = launched(stuck, x, y, grid=blocks, block=3 - blocks)
        assert report.faults[-1].kind == "endless" and not y[0]


def test_two_blocks_are_not_asked_for_a_barrier() -> None:
    said = fault("x[0] = cuda.blockIdx.x", np.zeros(1, np.float32), grid=2, block=1)
    assert "nothing to order the two" in str(said) and said.other_block == [0, 0]


def test_a_report_says_who_had_left() -> None:
    body = """s = cuda.shared.array(4, float32)
if t == 3: return
s[t] = x[t]
cuda.syncthreads()
x[t] = s[t + 1]"""
    report = launched(body, np.zeros(4, np.float32))
    assert report.exits == [{"threads": [3], "line": 6, "block": [0, 0]}]
    assert "nobody has written; thread 3 had left before the barrier on line 6" in str(
        report.faults[0]
    )
