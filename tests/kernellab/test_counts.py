"""What each line of a kernel costs: the stored counts, and the listing made of them."""

import pytest

from kernellab import counts
from kernellab.counts import NO_LINE, Counts
from livepage.figures import registry

cost_by_line = registry.module("cost-by-line")

stored = pytest.mark.parametrize(
    "found", counts.all_stored(), ids=lambda one: "-".join(map(str, one[:6]))
)


@stored
def test_what_is_stored_adds_up(found: Counts) -> None:
    assert sum(found.by_kind().values()) == found.warp_instructions
    assert found.requests <= found.sectors and found.turns <= found.wavefronts


@stored
def test_the_counts_are_of_the_text_as_it_stands(found: Counts) -> None:
    """A comment more, and the numbers of the lines are others: `make kernels`."""
    assert found.text == counts.digest(counts.source(found.rung))


def test_lines_of_inlined_functions_are_told_apart() -> None:
    """They stand above the kernel's `def`, which executes nothing."""
    found = counts.stored("tensor", 64, "sm_80", dtype="float16")
    lines = counts.source("tensor").splitlines()
    heads = [at for at in found.lines if lines[at - 1].strip().startswith("def ")]
    products = {
        lines[at - 1].strip() for at in found.lines if found.lines[at]["tensor"]
    }
    assert heads == []
    assert [line.split("=")[1].strip()[:7] for line in products] == ["ptx.mma"]


def test_nothing_counted_is_said() -> None:
    with pytest.raises(ValueError, match="nothing counted for 'naive', 65, 'sm_80'"):
        counts.stored("naive", 65, "sm_80")


# ---- the listing ----

TEXT = """\
LIMIT = 4


def make(d):
    side = d // 2

    def kernel(x, y):
        t = 0

        u = 1
        for i in range(d):
            # a row
            y[i] = 0
            if i < side:
                y[i] = (
                    x[i] + t
                )

            u += 1
        x[0] = u

    return kernel
"""
LINES = {7: 1, 8: 1, 10: 1, 16: 990, 19: 2, 20: 4}


def test_what_costs_something_stands_with_what_it_stands_in() -> None:
    assert cost_by_line.listing(TEXT, LINES) == [
        (7, 7, 0, "def kernel(x, y):"),
        (8, 10, 1, ""),
        (11, 11, 1, "for i in range(d):"),
        (13, 13, 2, "y[i] = 0"),
        (14, 14, 2, "if i < side:"),
        (15, 17, 3, "y[i] = x[i] + t"),
        (19, 20, 1, ""),
    ]


@pytest.mark.parametrize(("cost", "rows"), [(3, 0), (30, 1)])
def test_what_belongs_to_no_line_may_have_a_row(cost: int, rows: int) -> None:
    listing = cost_by_line.listing(TEXT, LINES | {NO_LINE: cost})
    assert listing.count((NO_LINE, NO_LINE, 0, "")) == rows


def test_a_line_of_no_function_stops_no_build() -> None:
    listing = cost_by_line.listing
    assert listing(TEXT, LINES | {1: 3, 99: 3}) == listing(TEXT, LINES)


@pytest.mark.parametrize("rung", cost_by_line.ORDER)
def test_every_instruction_of_a_line_is_in_one_row(rung: str) -> None:
    rows = [row for row in cost_by_line.KERNELS[rung]["rows"] if row[0] != NO_LINE]
    lines = dict(cost_by_line.COUNTED[rung].lines)
    lines.pop(NO_LINE, None)
    assert sum(sum(row[4:]) for row in rows) == sum(
        sum(kinds.values()) for kinds in lines.values()
    )
    ends = [end for row in rows for end in row[:2]]
    assert ends == sorted(ends)


def test_the_costliest_line_of_rung_1_is_that_of_the_output() -> None:
    """As the figure's prediction has it: it rescales, that of the scores does not."""
    rows = sorted(cost_by_line.KERNELS["naive"]["rows"], key=lambda row: -sum(row[4:]))
    most, second = (row[4:] for row in rows[:2])
    assert rows[0][3].startswith("o[c] = alpha * o[c] + p * ")
    assert rows[1][3].startswith("s += ")
    looks = cost_by_line.LOOKS
    fma, other = looks.index("fma"), looks.index("float")
    assert most[fma] == pytest.approx(second[fma], rel=0.05)
    assert most[other] > 0.9 * most[fma] and second[other] == 0
