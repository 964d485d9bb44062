"""The tool that plants faults in compiled kernels: what it says of those nobody notices.

On a kernel of a few lines, which doubles 0 … 63 from 40 on.
"""

import numpy as np
import pytest

import ptx
import ptxsim
from tiledattention.gpu import Build
from tools.faults import compiled as faults

DOUBLE = """mov.u32 %r0, %tid.x;
ld.param.u64 %rd1, [p4];
ld.param.u64 %rd2, [p11];
mul.wide.u32 %rd3, %r0, 4;
add.s64 %rd1, %rd1, %rd3;
add.s64 %rd2, %rd2, %rd3;
ld.global.f32 %f1, [%rd2];
max.f32 %f1, %f1, %f1;
setp.lt.u32 %p1, %r0, 40;
@%p1 bra $SKIP;
add.f32 %f1, %f1, %f1;
$SKIP:
st.global.f32 [%rd1], %f1;"""
BUILD = Build("naive", 64, 128)
TEXT = ptx.module(DOUBLE, 2, 64)
SUM = faults.Fault("a sum is left out", r"add\.f32[^;]+;", "", 1)
LARGER = faults.Fault("the larger of two", r"max\.f32[^;]+;", "", 1)
NOWHERE = faults.Fault("a sine", r"sin\.approx", "cos.approx", 1)
SAME = faults.Reason("naive", r"max\.f32|larger", "both are the same")
KERNELS = faults.Shipped(
    "naive",
    {BUILD: TEXT},
    {BUILD: dict.fromkeys(range(1, TEXT.count("\n") + 2), "y = 2 * x")},
)


def noticed(rung: str, texts: dict[Build, str]) -> str:
    x, y = np.arange(64, dtype="f4"), np.empty(64, "f4")
    try:
        ptxsim.run(texts[BUILD], 1, (y, x), outputs=[0], limit=100)
    except ptxsim.Fault as fault:
        return str(fault)
    return "" if np.array_equal(y, np.where(x < 40, x, 2 * x)) else "off"


@pytest.fixture
def tool(monkeypatch):
    """Run the tool with these faults and reasons; return how it exits."""

    def run(named, explained=(), count="0") -> int:
        monkeypatch.setattr(faults, "NAMED", named)
        monkeypatch.setattr(faults, "EXPLAINED", explained)
        monkeypatch.setattr(faults, "PORTABLE", ("naive",))
        monkeypatch.setattr(faults, "shipped", lambda rung: KERNELS)
        monkeypatch.setattr(faults, "noticed", noticed)
        monkeypatch.setattr(faults.compiled, "programs", lambda: {"naive": TEXT})
        monkeypatch.setattr(faults.sys, "argv", ["compiled_faults", count])
        return faults.main()

    return run


def test_a_fault_that_is_noticed_is_counted(tool, capsys) -> None:
    assert tool([SUM]) == 0
    said = capsys.readouterr().out
    assert "y = 2 * x | a sum is left out\n      off" in said
    assert "1 of 1 noticed, 0 explained, 0 wrong" in said
    assert "1 named faults noticed" in said and "all as they should be" in said


def test_a_fault_that_nobody_notices_fails(tool, capsys) -> None:
    assert tool([SUM, LARGER]) == 1
    said = capsys.readouterr().out
    assert "the larger of two: NOT NOTICED" in said
    assert "1 of 2 noticed, 0 explained, 1 wrong" in said


def test_a_fault_that_is_explained_does_not_count(tool, capsys) -> None:
    assert tool([SUM, LARGER], [SAME]) == 0
    said = capsys.readouterr().out
    assert "the larger of two\n      both are the same" in said
    assert "1 of 2 noticed, 1 explained, 0 wrong" in said


def test_a_reason_for_what_is_noticed_fails(tool, capsys) -> None:
    assert tool([SUM], [faults.Reason("naive", "sum is left", "it is 0")]) == 1
    assert "noticed, though explained: off" in capsys.readouterr().out


def test_a_reason_is_for_the_kernels_it_names(tool) -> None:
    assert tool([SUM, LARGER], [SAME._replace(kernels="tiled")]) == 1


def test_what_matches_nothing_fails(tool, capsys) -> None:
    assert tool([SUM, NOWHERE]) == 1
    assert "'a sine': no kernel has a place for it" in capsys.readouterr().out
    assert tool([SUM], [faults.Reason(".*", "sine", "it is small")]) == 1
    assert "'it is small': no change matches it" in capsys.readouterr().out


def test_random_changes_are_drawn_and_the_share_is_told(tool, capsys, monkeypatch):
    assert tool([SUM], count="100") == 1
    said = capsys.readouterr().out
    assert "max.f32 %f1, %f1, %f1; → min.f32 %f1, %f1, %f1;" in said
    pool = list(faults.random_ones(KERNELS))
    assert f" of {len(pool)} noticed" in said
    left = [change for change in pool if not noticed("", change.made(KERNELS.texts))]
    assert left and not [c for c in left if f"{c}: NOT NOTICED" not in said]
    monkeypatch.setattr(faults, "WANTED", 1.0)
    tool([SUM], count="100")
    assert "of the random changes are noticed" in capsys.readouterr().out


def test_every_kind_of_random_change_keeps_the_lines(tool) -> None:
    for change in faults.random_ones(KERNELS):
        assert change.made(KERNELS.texts)[BUILD].count("\n") == TEXT.count("\n")


def test_how_many_random_ones_has_to_be_a_number(tool, capsys) -> None:
    assert tool([SUM], count="many") == 2
    assert "got 'many'" in capsys.readouterr().out
