"""What is stored of attention on tensor cores, and one of its verdicts, made again."""

import json
import re
from functools import partial

import pytest

from kernellab import counts, devices
from tools.faults import barriers
from tools.faults import ptx as faults
from tools.kernels import tensor

STORED = json.loads(tensor.STORED.read_text("utf-8"))
KERNELS = STORED["kernels"]
PLANTED = STORED["planted"]
FILES = dict(tensor.TRITON.values())
TRITON = [one for one in KERNELS if one["text"] in FILES]
RUNG = [one for one in KERNELS if one["text"] == "numba"]
PTX = tensor.SHOWN.read_text("utf-8").splitlines()
SOURCE = tensor.triton.ATTENTION.read_text("utf-8").splitlines()
PRODUCTS = 16 * 8 * 16  # multiplications of one mma


def name(one: dict) -> str:
    return "-".join(str(one[x]) for x in ("text", "d", "block_k", "warps", "stages"))


kernels = pytest.mark.parametrize("one", KERNELS, ids=map(name, KERNELS))
triton = pytest.mark.parametrize("one", TRITON, ids=map(name, TRITON))


def test_what_is_stored_is_of_the_kernels_as_they_are() -> None:
    assert tensor.gate() == [], "run `make kernels`"


@kernels
def test_kinds_add_up_to_the_whole(one: dict) -> None:
    assert sum(one["kinds"].values()) == one["instructions"]
    assert one["kinds"]["tensor"] == one["mma"]


@kernels
def test_each_pair_takes_two_products_of_a_row(one: dict) -> None:
    """One for the score and one for the output, d multiplications each."""
    assert one["mma"] == one["pairs"] * 2 * one["d"] / PRODUCTS


@kernels
def test_a_loop_multiplies_one_tile(one: dict) -> None:
    """Each warp has its share of the rows of the tile."""
    products = one["block_q"] * one["block_k"] * 2 * one["d"] / PRODUCTS
    assert one["static"]["mma"] == products / one["warps"]
    assert one["static"]["barriers"] > 0 and one["static"]["waits"]
    assert one["ldmatrix_wavefronts"] == 4  # four matrices, and no conflict


@triton
def test_lines_add_up_to_the_whole(one: dict) -> None:
    rows = one["lines"].values()
    assert one["kinds"] == {
        kind: sum(row.get(kind, 0) for row in rows) for kind in one["kinds"]
    }
    products = [int(line) for line, row in one["lines"].items() if "tensor" in row]
    source = FILES[one["text"]].read_text("utf-8").splitlines()
    written = [line for line, text in enumerate(source, 1) if "tl.dot(" in text]
    assert sorted(products) == written
    assert len(written) == one["written"]["products"] == 2


@pytest.mark.parametrize("one", RUNG, ids=map(name, RUNG))
def test_totals_of_the_rung_are_those_of_its_counts_by_line(one: dict) -> None:
    stored = counts.stored("tensor", one["d"], tensor.ARCH, dtype=tensor.DTYPE)
    assert one["instructions"] == stored.warp_instructions
    assert one["kinds"] == stored.by_kind() and one["pairs"] == stored.pairs


@pytest.mark.parametrize("d", tensor.OWN)
@pytest.mark.parametrize("text", FILES)
def test_each_text_is_stored_at_the_tiles_of_the_rung_and_at_its_best(text, d) -> None:
    (rung,) = (x for x in RUNG if x["d"] == d)
    size = [rung[x] for x in ("block_q", "block_k", "warps")]
    some = [x for x in TRITON if (x["text"], x["d"]) == (text, d)]
    same = [x for x in some if x["same_tiles"]]
    assert [[x["block_q"], x["block_k"], x["warps"]] for x in same] == [size] * 2
    assert {x["stages"] for x in same} == set(tensor.OWN_STAGES)
    (best,) = (x for x in some if x["best"])
    assert not best["spills"]
    assert best["instructions"] == min(
        x["instructions"] for x in some if not x["spills"]
    )


@triton
def test_only_the_text_of_equal_work_leaves_full_tiles_unmasked_and_fuses_the_scale(
    one: dict,
) -> None:
    source = FILES[one["text"]].read_text("utf-8").splitlines()
    (mask,) = (line for line, text in enumerate(source, 1) if "tl.where(" in text)
    equal = one["text"] == "triton-equal"
    assert (str(mask) not in one["lines"]) == equal
    scores = one["pairs"] / devices.WARP
    assert (one["kinds"]["fma"] >= scores) == equal


def test_triton_writes_no_step_that_its_compiler_decides() -> None:
    decided = (
        "ldmatrix",
        "copies",
        "commits",
        "waits",
        "barriers",
        "shuffles",
        "swizzles",
    )
    for one in KERNELS:
        written = [x for x in decided if one["written"][x]]
        assert written == (list(decided) if one["text"] == "numba" else [])


# ---- what is planted ----


def test_every_barrier_commit_and_wait_is_planted() -> None:
    for kind, pattern in (("barrier", "bar.sync"), ("commit", "commit_group"),
                          ("wait", "wait_group")):  # fmt: skip
        lines = [at for at, text in enumerate(PTX, 1) if pattern in text]
        planted = {x["ptx_line"] for x in PLANTED if x["kind"] == kind}
        assert lines and planted == set(lines)


def test_what_is_needed_is_found_and_nothing_else() -> None:
    for row in PLANTED:
        assert row["needed"] == bool(row["fault"])
        assert PTX[row["ptx_line"] - 1] == row["text"]
        assert SOURCE[row["source_line"] - 1].strip() == row["source"]
    assert [row for row in PLANTED if row["needed"] and row["right"]]


def test_a_stored_message_names_both_sides() -> None:
    for fault in filter(None, (row["fault"] for row in PLANTED)):
        named = {int(x) for x in re.findall(r"\bline (\d+)", fault["message"])}
        assert named & {side["ptx"] for side in fault["lines"]}


@pytest.mark.parametrize("needed", [True, False])
def test_a_stored_verdict_is_that_of_a_run(needed: bool) -> None:
    rows = zip(PLANTED, barriers.changes(), strict=True)
    row, change = next(x for x in rows if x[0]["needed"] == needed)
    assert barriers.verdict(change) == row


@pytest.mark.parametrize("rows", [1, 100, 200])
def test_what_is_not_needed_is_not_needed_for_other_sizes(rows) -> None:
    """One tile, two and four, with ragged ends."""
    text = barriers.text()._replace(case=partial(faults.attention, rows))
    for row, change in zip(PLANTED, barriers.changes(), strict=True):
        if not row["needed"]:
            assert faults.examined(text, change.ptx).conflicts == set()
