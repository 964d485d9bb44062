"""Machine code read, and how often it runs: on texts written by hand."""

import pytest

from kernellab import counting, sass
from kernellab.counting import Executed

# A loop of ptxas's making: a test before it, a body, a test after it; then a store.
LOOP = """
kernel:
.text.kernel:
	//## File ".nv_debug_ptx_txt", line 10
        /*0000*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;
	//## File ".nv_debug_ptx_txt", line 11
        /*0010*/                   ISETP.NE.AND P0, PT, R2, RZ, PT ;
	//## File ".nv_debug_ptx_txt", line 12
        /*0020*/              @!P0 BRA `(.L_x_0) ;
	//## File ".nv_debug_ptx_txt", line 13
        /*0030*/                   IADD3 R3, R3, 0x4, RZ ;
        /*0038*/                   IADD3 R2, R2, 0x4, RZ ;
	//## File ".nv_debug_ptx_txt", line 21
        /*003c*/                   FADD.FTZ R9, R9, R9 ;
.L_x_1:
	//## File ".nv_debug_ptx_txt", line 20
        /*0040*/                   LDS.128 R4, [R3] ;
	//## File ".nv_debug_ptx_txt", line 22
        /*0050*/                   FFMA.FTZ R8, R4, R5, R8 ;
        /*0060*/                   FFMA.FTZ R8, R6, R7, R8 ;
	//## File ".nv_debug_ptx_txt", line 23
        /*0070*/               @P0 BRA `(.L_x_1) ;
.L_x_0:
	//## File ".nv_debug_ptx_txt", line 30
        /*0080*/                   STG.E [R10.64], R8 ;
	//## File ".nv_debug_ptx_txt", line 31
        /*0090*/                   EXIT ;
.L_x_2:
        /*00a0*/                   BRA `(.L_x_2);
        /*00b0*/                   NOP;
"""
# 64 threads; half of them go round the loop, five times each.
RAN = [
    Executed(10, "mov.u32", 64, 2),
    Executed(11, "setp.ne.s32", 64, 2),
    Executed(12, "bra", 64, 2),
    Executed(13, "add.s32", 32, 1),
    Executed(20, "ld.shared.v4.f32", 160, 5),
    Executed(21, "add.ftz.f32", 160, 5),
    Executed(22, "fma.rn.f32", 160, 5),
    Executed(23, "bra", 160, 5),
    Executed(30, "st.global.f32", 64, 2),
    Executed(31, "ret", 64, 2),
]


def blocks(text: str = LOOP) -> list[sass.Block]:
    return sass.blocks_of(sass.read(text))


def changed(line: int, **change: object) -> list[Executed]:
    return [one._replace(**change) if one.line == line else one for one in RAN]


# ---- reading ----


def test_instructions_have_guards_labels_and_lines_of_ptx() -> None:
    found = sass.read(LOOP)
    assert [one.name for one in found][-4:] == ["STG", "EXIT", "BRA", "NOP"]
    assert found[2][:4] == (0x20, "!P0", "BRA", "`(.L_x_0)")
    assert found[6].labels == (".L_x_1",) and found[8].ptx == 22
    assert found[2].target == ".L_x_0" and found[2].is_conditional


def test_blocks_end_where_control_parts_or_meets() -> None:
    found = blocks()
    assert [block.after for block in found] == [[3, 1], [2], [2, 3], []]
    assert [block.leaves for block in found] == [False, False, False, True]


def test_a_label_may_stand_at_an_instruction_that_does_nothing() -> None:
    text = LOOP.replace(".L_x_0:", ".L_x_0:\n        /*007c*/ NOP ;")
    assert [block.after for block in blocks(text)] == [[3, 1], [2], [2, 3], []]
    assert blocks(text)[3].body[0].name == "NOP"


def test_a_call_of_a_place_in_the_function_is_a_branch() -> None:
    text = LOOP.replace("@P0 BRA `(.L_x_1)", "@P0 CALL.REL.NOINC `(.L_x_1)")
    assert [block.after for block in blocks(text)] == [[3, 1], [2], [2, 3], []]


@pytest.mark.parametrize(
    ("operands", "kind"),
    [("R2, -RZ, RZ, 1.875, 0", "integer"), ("R2, RZ, RZ, 0, 0", "integer"),
     ("R2, R4, R5, RZ", "fma"), ("R2, R4, RZ, R5", "fma"), ("RZ, R4, RZ, R5", "fma")],
)  # fmt: skip
def test_a_constant_put_into_a_register_is_no_fma(operands: str, kind: str) -> None:
    assert sass.Instruction(0, "", "HFMA2.MMA", operands, 0).kind == kind


def test_what_is_not_known_is_an_error_that_names_its_place() -> None:
    with pytest.raises(sass.Unknown, match="0x50.*QFMA"):
        sass.read(LOOP.replace("FFMA", "QFMA"))[7].kind  # noqa: B018
    with pytest.raises(sass.Unknown, match="0x70: BRX"):
        blocks(LOOP.replace("@P0 BRA `(.L_x_1)", "@P0 BRX R2"))


# ---- counting ----


def test_blocks_run_as_often_as_their_lines() -> None:
    runs = counting.runs_of(blocks(), RAN)
    assert [one.warps for one in runs] == [2, 1, 5, 2]


def test_an_instruction_moved_before_the_loop_counts_where_it_stands() -> None:
    counted = counting.count(blocks(), RAN)
    assert counted.warps[21, "float"] == 1  # 5 in the PTX
    assert counted.by_kind()["fma"] == 10 and counted.total == 6 + 3 + 20 + 4


def test_lines_of_python_share_what_is_counted() -> None:
    counted = counting.count(blocks(), RAN)
    by_line = counted.by_line({20: 7, 21: 7, 22: 8})
    assert list(by_line) == [0, 7, 8]
    assert by_line[7]["shared"] == 5 and by_line[8]["fma"] == 10
    assert sum(sum(row.values()) for row in by_line.values()) == counted.total


def test_an_access_may_come_in_halves_or_stand_for_several() -> None:
    halves = LOOP.replace(
        "LDS.128 R4, [R3] ;",
        "LDS.64 R4, [R3] ;\n        /*0048*/ LDS.64 R6, [R3+8] ;",
    )
    assert [one.warps for one in counting.runs_of(blocks(halves), RAN)] == [2, 1, 5, 2]
    several = changed(20, opcode="ld.shared.f32")
    assert [one.warps for one in counting.runs_of(blocks(), several)] == [2, 1, 5, 2]


def test_counts_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(counting.Mismatch, match="should make"):
        counting.runs_of(blocks(), changed(30, threads=32))


def test_a_vote_that_leaves_fewer_than_no_thread_is_passed_over() -> None:
    # The compiler has moved two instructions of the loop to the block before it; one of
    # that block's own is left, and only that one tells how often it runs.
    moved = LOOP.replace("line 13\n", "line 21\n")
    own = moved.replace(
        "        /*0038*/", '\t//## File ".nv_debug_ptx_txt", line 13\n        /*0038*/'
    )
    assert [one.warps for one in counting.runs_of(blocks(own), RAN)] == [2, 1, 5, 2]
    # With none left, the branch before it tells: PTX knows whom it sent elsewhere.
    branch = changed(12, taken=32)
    assert [one.warps for one in counting.runs_of(blocks(moved), branch)][1:3] == [1, 5]


def test_a_function_of_the_compiler_runs_as_often_as_it_is_called() -> None:
    text = LOOP.replace(
        "FADD.FTZ R9, R9, R9", "CALL.REL.NOINC `($__internal_0_$div)"
    ).replace(
        ".L_x_2:",
        "$__internal_0_$div:\n"
        "        /*00c0*/ IMAD R1, R1, R1, R1 ;\n"
        "        /*00d0*/ RET.REL.NODEC R4 `(kernel) ;\n.L_x_2:",
    )
    runs = counting.runs_of(blocks(text), RAN)
    assert runs[-1].threads == runs[1].threads == 32


def test_what_is_written_out_several_times_with_conditions_is_refused() -> None:
    twice = LOOP.replace(
        "IADD3 R2, R2, 0x4, RZ ;",
        "IADD3 R2, R2, 0x4, RZ ;\n"
        '\t//## File ".nv_debug_ptx_txt", line 20\n'
        "        /*003a*/              @P1 LDS.128 R4, [R3] ;",
    )
    with pytest.raises(counting.Mismatch, match="line 20 .* several times"):
        counting.runs_of(blocks(twice), RAN)
