"""What threads do together in ptxsim: memory, barriers, warps, and every kind of fault."""

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import ptx
import ptxsim
from ptxsim import launch, memory
from ptxsim.translate import OPCODES
from tools.kernels.gate import VENV

# Each thread: %r0 its number, %rd1 its place in the output, %r3 its word of S, %r1 S.
START = """mov.u32 %r0, %tid.x;
ld.param.u64 %rd0, [p4];
ld.param.u64 %rd9, [p11];
mul.wide.u32 %rd2, %r0, 4;
add.s64 %rd1, %rd0, %rd2;
mov.u32 %r1, S;
shl.b32 %r2, %r0, 2;
add.s32 %r3, %r1, %r2;
"""
END = "\nst.global.u32 [%rd1], %r9;"
LANE = np.arange(32)


class Body(NamedTuple):
    """A kernel with an output of a word for each thread, and an input of 128 words."""

    code: str
    threads: int = 32
    shared: int = 4096
    align: int = 4
    before: str = ""

    @property
    def text(self) -> str:
        shared = f".shared .align {self.align} .b8 S[{self.shared}];\n"
        return ptx.module(START + self.code, 2, self.threads, shared + self.before)


def run(body: Body, **options: object) -> tuple[np.ndarray, ptxsim.Result]:
    out, source = np.zeros(body.threads, "u4"), np.arange(128, dtype="u4")
    options = {"outputs": [0], "dynamic": 128} | options
    return out, ptxsim.run(body.text, 1, (out, source), **options)


def signed(x: np.ndarray) -> list[int]:
    return x.view("i4").tolist()


def ended(body: Body) -> Body:
    """A body that stores its %r9 at its end, whatever it did before."""
    return body._replace(code=body.code + END)


# ---- what is right ----

TURN = "xor.b32 %r4, %r2, 128;\nadd.s32 %r4, %r4, %r1;\nld.shared.u32 %r9, [%r4];"
SWAP = "xor.b32 %r4, %r2, 4;\nadd.s32 %r4, %r4, %r1;\nld.shared.u32 %r9, [%r4];"
FLY = """mul.wide.u32 %rd4, %r0, 16;
add.s64 %rd3, %rd9, %rd4;
shl.b32 %r4, %r0, 4;
add.s32 %r4, %r4, %r1;
cp.async.cg.shared.global [%r4], [%rd3], 16;
cp.async.commit_group;
cp.async.ca.shared.global [%r4+512], [%rd3], 16, 4;
cp.async.commit_group;
"""
NEXT = """xor.b32 %r5, %r0, 1;
shl.b32 %r5, %r5, 4;
add.s32 %r5, %r5, %r1;
ld.shared.u32 %r9, [%r5+4];"""
LOOP = """mov.u32 %r9, 0;
mov.u32 %r8, 0;
$A: setp.ge.u32 %p1, %r8, %r0;
@%p1 bra $B;
and.b32 %r7, %r8, 1;
setp.eq.s32 %p2, %r7, 0;
@%p2 bra $C;
add.s32 %r9, %r9, 10;
bra.uni $D;
$C: add.s32 %r9, %r9, 1;
$D: add.s32 %r8, %r8, 1;
bra $A;
$B: shfl.sync.bfly.b32 %r9|%p3, %r9, 1, 31, -1;"""
CONST = ".const .align 4 .u32 C[4] = {7, 0xFFFFFFFF, 3};\n.global .align 4 .s32 G = -5;"
UNSIZED = ".extern .shared .align 4 .b8 D[];\n.extern .shared .align 8 .b8 E[];"
DYNAMIC = (
    "mov.u32 %r4, D;\nmov.u32 %r5, E;\nadd.s32 %r4, %r4, %r2;\nadd.s32 %r5, %r5, %r2;"
)
ZERO = "setp.eq.u32 %p1, %r0, 0;\n"
EIGHT = ZERO + "@%p1 st.shared.v2.u32 [%r1], {0, 0};\nmov.u32 %r9, 0;\nbar.sync 0;\n"
# The mask of the half warp of each lane.
HALF = "and.b32 %r5, %r0, 16;\nmov.u32 %r6, 0xffff;\nshl.b32 %r6, %r6, %r5;\n"
# Lanes from 16 on go to $A, those below fall through, and all come to $B.
TWO_WAYS = "setp.gt.u32 %p1, %r0, 15;\n@%p1 bra $A;\n{}\nbra.uni $B;\n$A:\n{}\n$B:"
BARRIERS = (
    "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra $A;\nbar.sync 0;\nbra.uni $B;\n$A: {}\n$B:"
)
LEAVE = "mov.u32 %r9, 7;" + END + "\nsetp.gt.u32 %p1, %r0, {};\n@%p1 ret;\n"
SHARED_64 = "mov.u64 %rd5, S;\ncvta.shared.u64 %rd5, %rd5;\nadd.s64 %rd5, %rd5, %rd2;"

FENCES = [x for x in OPCODES if x.split(".")[0] in ("membar", "fence")]
CVTA = [x for x in OPCODES if x.startswith("cvta")]

ARRIVALS = [x for x in OPCODES if ".arrive" in x]
# Thread 0 writes a number, then sets a flag; the second warp waits for that and reads it.
FLAG = """setp.gt.u32 %p2, %r0, 31;
@%p2 bra $A;
@%p1 st.shared.u32 [%r1+4], 7;
{fence}
@%p1 st.volatile.shared.u32 [%r1], 1;
bra.uni $B;
$A: ld.volatile.shared.u32 %r8, [%r1];
setp.eq.u32 %p3, %r8, 0;
@%p3 bra $A;
ld.shared.u32 %r9, [%r1+4];
$B:
"""
# The same with a counter, of which the second warp reads or does not read the number.
COUNTER = """setp.gt.u32 %p2, %r0, 31;
@%p2 bra $A;
@%p1 st.shared.u32 [%r1+4], 7;
fence.acq_rel.cta;
@%p1 red.shared.add.u32 [%r1], 1;
bra.uni $B;
$A: mov.u32 %r8, 1;
{};
setp.eq.u32 %p3, %r8, 0;
@%p3 bra $A;
ld.shared.u32 %r9, [%r1+4];
$B:
"""
# Each thread draws a ticket, and one of them resets the counter by a plain store.
TICKET = """mov.u32 %r9, 0;
atom.shared.add.u32 %r8, [%r1], 1;
setp.eq.u32 %p3, %r8, {};
@%p3 st.shared.u32 [%r1], 0;
"""
# Each thread adds 1 to a number that a lock protects.
LOCK = """$A: atom.shared.cas.b32 %r8, [%r1], 0, 1;
setp.ne.u32 %p3, %r8, 0;
@%p3 bra $A;
ld.shared.u32 %r9, [%r1+4];
add.u32 %r9, %r9, 1;
st.shared.u32 [%r1+4], %r9;
{fence}
atom.shared.exch.b32 %r8, [%r1], 0;
"""

COUNTING = [x for x in OPCODES if ".red." in x and x.startswith("bar")]
COUNTS = {
    "popc": "{} %r8, 3, %p1;\nadd.u32 %r9, %r9, %r8;\n",
    "or": "{0} %p2, 3, %p1;\n@%p2 add.u32 %r9, %r9, 1000;\n"
    "{0} %p2, 3, !%p3;\n@%p2 add.u32 %r9, %r9, 1;\n",
    "and": "{0} %p2, 3, %p3;\n@%p2 add.u32 %r9, %r9, 100000;\n"
    "{0} %p2, 3, !%p1;\n@%p2 add.u32 %r9, %r9, 1;\n",
}

RIGHT: dict[str, tuple[Body, object]] = {
    "through shared memory": (
        Body("st.shared.u32 [%r3], %r0;\nbar.sync 0;\n" + TURN, 64), np.arange(64) ^ 32
    ),
    "another barrier's number": (
        Body("st.shared.u32 [%r3], %r0;\nbarrier.sync 5;\n" + TURN, 64), np.arange(64) ^ 32
    ),
    "barriers of other names": (
        Body("st.volatile.shared.u32 [%r3], %r0;\nbarrier.cta.sync.aligned 0;\n"
             "bar.cta.sync 1;\nbarrier.cta.sync 2;\nbarrier.sync.aligned 3;\n" + TURN, 64),
        np.arange(64) ^ 32,
    ),
    "a warp by itself": (
        Body("st.shared.u32 [%r3], %r0;\nbar.warp.sync -1;\n" + SWAP, 64), np.arange(64) ^ 1
    ),
    "a warp by itself, turn after turn": (
        Body("st.shared.u32 [%r3], %r0;\nbar.warp.sync 0xffffffff;\n"
             "ld.shared.u32 %r8, [%r1];\nbar.warp.sync -1;\nst.shared.u32 [%r3], %r2;\n"
             "bar.warp.sync -1;\n" + SWAP), 4 * (LANE ^ 1),
    ),
    "branches meet again": (Body(LOOP), [(x + 1) // 2 + x // 2 * 10 for x in LANE ^ 1]),
    "a predicate": (
        Body("mov.u32 %r9, 5;\nsetp.lt.u32 %p1, %r0, 9;\n@!%p1 add.u32 %r9, %r9, %r0;"),
        np.where(LANE < 9, 5, 5 + LANE),
    ),
    "two predicates at once": (
        Body("setp.lt.u32 %p1|%p2, %r0, 9;\nselp.u32 %r9, 1, 0, %p1;\n"
             "@%p2 add.u32 %r9, %r9, 4;"), np.where(LANE < 9, 1, 4),
    ),
    "a predicate, negated": (
        Body("setp.lt.u32 %p1, %r0, 9;\nsetp.gt.and.u32 %p2, %r0, 3, !%p1;\n"
             "not.pred %p3, %p1;\nmov.pred %p4, %p2;\nselp.u32 %r9, 1, 0, %p4;"),
        np.where(LANE >= 9, 1, 0),
    ),
    "an exit of some": (
        Body("mov.u32 %r9, 1;" + END + "\nsetp.lt.u32 %p1, %r0, 9;\n@%p1 ret;\n"
             "mov.u32 %r9, 2;\nsetp.lt.u32 %p1, %r0, 20;\n@%p1 exit;"),
        np.where(LANE < 20, 1, 2),
    ),
    "vectors": (
        Body("ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd9+16];\n"
             "shl.b32 %r8, %r0, 4;\nadd.s32 %r8, %r8, %r1;\n"
             "st.shared.v2.u32 [%r8], {%r4, %r7};\nst.shared.v2.b32 [%r8+8], {%r5, 40};\n"
             "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r8];\n"
             "mad.lo.u32 %r9, %r5, 100, %r6;\nmad.lo.u32 %r9, %r7, 1000, %r9;", align=16),
        [40705] * 32,
    ),
    "halves of words": (
        Body("mov.u32 %r8, 0x12345678;\nmov.b32 {%h1, %h2}, %r8;\n"
             "mov.b32 %r9, {%h2, %h1};\nmov.b64 %rd5, {%r9, %r0};\n"
             "mov.b64 {%r7, %r8}, %rd5;\nadd.u32 %r9, %r7, %r8;"), 0x56781234 + LANE,
    ),
    "bytes": (
        Body("st.shared.u8 [%r3], 200;\nst.shared.u8 [%r3+1], %r0;\n"
             "ld.shared.s8 %r7, [%r3];\nld.shared.u8 %h1, [%r3+1];\n"
             "cvt.u32.u16 %r8, %h1;\nadd.s32 %r9, %r7, %r8;"), (LANE - 56) % 2**32,
    ),
    "constants": (
        Body("ld.const.u32 %r9, [C+4];\nld.const.s32 %r8, [C+12];\n"
             "ld.global.s32 %r7, [G];\nadd.s32 %r9, %r9, %r8;\nadd.s32 %r9, %r9, %r7;",
             before=CONST), [2**32 - 6] * 32,
    ),
    "a constant by an address of 32 bits": (
        Body("mov.u32 %r4, C;\nld.const.u32 %r9, [%r4+8];", before=CONST), [3] * 32
    ),
    "a variable without a value": (
        Body("ld.global.u32 %r9, [N+4];",
             before=".global .align 4 .u32 N[2];"), [0] * 32,
    ),
    "local memory": (
        Body(".local .align 4 .b8 L[16];\nmov.u64 %rd5, L;\nst.local.u32 [%rd5+8], %r0;\n"
             "ld.local.u32 %r9, [%rd5+8];"), LANE,
    ),
    "generic addresses": (
        Body(SHARED_64 + "\nst.u32 [%rd5], %r0;\ncvta.to.shared.u64 %rd6, %rd5;\n"
             "ld.shared.u32 %r8, [%rd6];\nld.u32 %r9, [%rd9+20];\nadd.u32 %r9, %r9, %r8;"),
        LANE + 5,
    ),
    "fences order nothing, and harm nothing": (
        Body("".join(f"{fence};\n" for fence in FENCES) + "mov.u32 %r9, 1;"), [1] * 32
    ),
    "addresses keep their numbers": (
        Body("".join(f"{opcode} %rd9, %rd9;\n" for opcode in CVTA)
             + "ld.global.u32 %r9, [%rd9+8];"), [2] * 32,
    ),
    "copies that are waited for": (
        Body(FLY + "cp.async.wait_group 1;\nld.shared.u32 %r9, [%r4+4];", align=16),
        4 * LANE + 1,
    ),
    "the rest is filled with zeros": (
        Body(FLY + "cp.async.wait_all;\nld.shared.u32 %r9, [%r4+516];\n"
             "ld.shared.u32 %r8, [%r4+512];\nadd.u32 %r9, %r9, %r8;", align=16), 4 * LANE,
    ),
    "copies that others read": (
        Body(FLY + "cp.async.wait_group 0;\nbar.sync 0;\n" + NEXT, align=16),
        4 * (LANE ^ 1) + 1,
    ),
    "an atomic sum": (
        Body("setp.eq.u32 %p1, %r0, 0;\n@%p1 st.shared.u32 [%r1], 5;\nbar.sync 0;\n"
             "atom.shared.add.u32 %r9, [%r1], 2;"), 5 + 2 * LANE,
    ),
    "an atomic sum, read after a barrier": (
        Body("setp.eq.u32 %p1, %r0, 0;\n@%p1 st.shared.u32 [%r1], 0;\nbar.sync 0;\n"
             "red.shared.add.u32 [%r1], %r0;\nbar.sync 0;\nld.shared.u32 %r9, [%r1];"),
        [496] * 32,
    ),
    "lanes": (
        Body("mov.u32 %r4, %laneid;\nmov.u32 %r5, %lanemask_lt;\npopc.b32 %r9, %r5;\n"
             "add.u32 %r9, %r9, %r4;\nmov.u32 %r5, %warpid;\nmad.lo.u32 %r9, %r5, 100, %r9;\n"
             "mov.u32 %r5, %ntid.x;\nadd.u32 %r9, %r9, %r5;", 64),
        [2 * (x % 32) + x // 32 * 100 + 64 for x in range(64)],
    ),
    "votes": (
        Body("setp.lt.u32 %p1, %r0, 3;\nvote.sync.ballot.b32 %r9, %p1, -1;\n"
             "vote.sync.any.pred %p2, %p1, -1;\nvote.sync.all.pred %p3, !%p1, -1;\n"
             "vote.sync.uni.pred %p4, %p2, 0xffffffff;\n@%p2 add.u32 %r9, %r9, 100;\n"
             "@%p3 add.u32 %r9, %r9, 1000;\n@%p4 add.u32 %r9, %r9, 10000;"),
        [7 + 100 + 10000] * 32,
    ),
    "votes of half a warp": (
        Body(HALF + "setp.lt.u32 %p1, %r0, 3;\nvote.sync.ballot.b32 %r9, %p1, %r6;\n"
             "vote.sync.any.pred %p2, %p1, %r6;\nvote.sync.all.pred %p3, !%p1, %r6;\n"
             "vote.sync.uni.pred %p4, %p1, %r6;\n@%p2 add.u32 %r9, %r9, 100;\n"
             "@%p3 add.u32 %r9, %r9, 1000;\n@%p4 add.u32 %r9, %r9, 10000;"),
        [7 + 100] * 16 + [1000 + 10000] * 16,
    ),
    "numbers that match": (
        Body("and.b32 %r4, %r0, 1;\nmatch.any.sync.b32 %r9, %r4, -1;\n"
             "cvt.u64.u32 %rd5, %r4;\nmatch.any.sync.b64 %r8, %rd5, -1;\n"
             "xor.b32 %r8, %r8, %r9;\nadd.u32 %r9, %r9, %r8;\n"
             "match.all.sync.b64 %r8, %rd5, -1;\nadd.u32 %r9, %r9, %r8;\n"
             "match.all.sync.b32 %r7|%p1, %r4, -1;\n@%p1 mov.u32 %r9, 1;"),
        [0x55555555, 0xAAAAAAAA] * 16,
    ),
    "numbers that match in half a warp": (
        Body(HALF + "match.all.sync.b32 %r9|%p1, %r5, %r6;\n@%p1 add.u32 %r9, %r9, 1;\n"
             "match.any.sync.b32 %r7, 3, %r6;\nmatch.all.sync.b64 %r8, 5, %r6;\n"
             "xor.b32 %r7, %r7, %r8;\nadd.u32 %r9, %r9, %r7;"),
        [0xFFFF + 1] * 16 + [0xFFFF0000 + 1] * 16,
    ),
    "sums of half a warp": (
        Body(HALF + "redux.sync.add.u32 %r9, %r0, %r6;"), [120] * 16 + [376] * 16
    ),
    "half a warp shuffles, then the other": (
        Body(TWO_WAYS.format("shfl.sync.bfly.b32 %r9, %r0, 1, 31, 0xffff;",
                          "shfl.sync.bfly.b32 %r9, %r0, 2, 31, 0xffff0000;")),
        np.where(LANE < 16, LANE ^ 1, LANE ^ 2),
    ),
    "only some shuffle, under a predicate": (
        Body("mov.u32 %r9, 5;\nsetp.lt.u32 %p1, %r0, 8;\n"
             "@%p1 shfl.sync.bfly.b32 %r9, %r0, 1, 31, 0xff;"),
        np.where(LANE < 8, LANE ^ 1, 5),
    ),
    "those who are here together": (
        Body(TWO_WAYS.format("activemask.b32 %r9;\nshfl.sync.bfly.b32 %r9, %r9, 1, 31, %r9;",
                          "activemask.b32 %r9;")), [0xFFFF] * 16 + [0xFFFF0000] * 16,
    ),
    "half a warp meets": (
        Body(HALF + "st.shared.u32 [%r3], %r0;\nbar.warp.sync %r6;\n" + SWAP), LANE ^ 1
    ),
    "halves of a warp meet at two lines": (
        Body("st.shared.u32 [%r3], %r0;\nmov.u32 %r8, -1;\n"
             + TWO_WAYS.format("bar.warp.sync -1;", "add.u32 %r7, %r0, 1;\nbar.warp.sync %r8;")
             + "xor.b32 %r4, %r2, 64;\nadd.s32 %r4, %r4, %r1;\nld.shared.u32 %r9, [%r4];"),
        LANE ^ 16,
    ),
    "half a warp meets, turn after turn": (
        Body(HALF + "shl.b32 %r7, %r5, 2;\nadd.s32 %r7, %r7, %r1;\n"
             "setp.ne.u32 %p2, %r0, %r5;\n@!%p2 st.shared.u32 [%r7], %r0;\n"
             "bar.warp.sync %r6;\nld.shared.u32 %r9, [%r7];\nbar.warp.sync %r6;\n"
             "@!%p2 st.shared.u32 [%r7], 90;\nbar.warp.sync %r6;\n"
             "ld.shared.u32 %r8, [%r7];\nadd.u32 %r9, %r9, %r8;"), [90] * 16 + [106] * 16,
    ),
    "half a warp meets while the other is elsewhere": (
        Body("st.shared.u32 [%r3], %r0;\n" + TWO_WAYS.format(
             "bar.warp.sync 0xffff;\n" + SWAP, "mov.u32 %r9, 0;")),
        np.where(LANE < 16, LANE ^ 1, 0),
    ),
    "one lane hears from a half, and tells the other": (
        Body("st.shared.u32 [%r3], %r0;\nmov.u32 %r9, 1;\nsetp.lt.u32 %p1, %r0, 17;\n"
             "@%p1 bra $A;\nbra.uni $B;\n$A:\nbar.warp.sync 0x1ffff;\n$B:\n"
             "setp.gt.u32 %p1, %r0, 15;\n@%p1 bra $C;\nbra.uni $D;\n$C:\n"
             "bar.warp.sync 0xffff0000;\nld.shared.u32 %r9, [%r1+12];\n$D:"),
        [1] * 16 + [3] * 16,
    ),
    "threads without work leave before a barrier": (
        Body(LEAVE.format(40) + "st.shared.u32 [%r3], %r0;\nbar.sync 0;\nmov.u32 %r9, 40;\n"
             "sub.u32 %r9, %r9, %r0;\nshl.b32 %r9, %r9, 2;\nadd.s32 %r4, %r1, %r9;\n"
             "ld.shared.u32 %r9, [%r4];", 64), [*range(40, -1, -1)] + [7] * 23,
    ),
    "a whole warp leaves before a barrier": (
        Body(LEAVE.format(31) + "st.shared.u32 [%r3], %r0;\nbar.sync 0;\n" + SWAP, 64),
        [*(LANE ^ 1), *[7] * 32],
    ),
    "threads leave, and the rest shuffles": (
        Body(LEAVE.format(23) + "shfl.sync.bfly.b32 %r9, %r0, 1, 31, -1;\n"
             "vote.sync.ballot.b32 %r8, 1, -1;\nadd.u32 %r9, %r9, %r8;"),
        [0xFFFFFF + (x ^ 1) if x < 24 else 7 for x in range(32)],
    ),
    "threads leave, and the rest of the warp meets": (
        Body(LEAVE.format(23) + "st.shared.u32 [%r3], %r0;\nbar.warp.sync -1;\n" + SWAP
             + "\nld.shared.u32 %r8, [%r1];\nbar.warp.sync -1;\nst.shared.u32 [%r1], %r9;"
               "\n".replace("st.shared.u32 [%r1]", "@!%p1 st.shared.u32 [%r3]")),
        [x ^ 1 if x < 24 else 7 for x in range(32)],
    ),
    "a tree, whose leaves leave": (
        Body("st.shared.u32 [%r3], %r0;\nmov.u32 %r9, %r0;" + END + "\nbar.sync 0;\n"
             "mov.u32 %r7, 32;\n$A: setp.ge.u32 %p1, %r0, %r7;\n@%p1 ret;\n"
             "shl.b32 %r5, %r7, 2;\nadd.s32 %r5, %r5, %r3;\nld.shared.u32 %r6, [%r5];\n"
             "ld.shared.u32 %r9, [%r3];\nadd.u32 %r9, %r9, %r6;\nst.shared.u32 [%r3], %r9;\n"
             "bar.sync 0;\nshr.u32 %r7, %r7, 1;\nsetp.ne.u32 %p1, %r7, 0;\n@%p1 bra $A;",
             64), [2016, *range(1, 64)],
    ),
    "a warp meets, and all but one lane leave": (
        Body("st.shared.u32 [%r3], %r0;\nmov.u32 %r9, 0;" + END + "\nbar.warp.sync -1;\n"
             "and.b32 %r5, %r0, 31;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 ret;\n"
             "ld.shared.u32 %r9, [%r3+20];\nbar.sync 0;\nst.shared.u32 [%r3+20], 1;", 64),
        [5, *[0] * 31, 37, *[0] * 31],
    ),
    "barriers without alignment at two lines": (
        Body("st.shared.u32 [%r3], %r0;\n" + TWO_WAYS.format("barrier.sync 3;", "barrier.sync 3;")
             + SWAP), LANE ^ 1,
    ),
    "warps at two barriers of one number": (
        Body("st.shared.u32 [%r3], %r0;\n" + BARRIERS.format("barrier.sync.aligned 0;") + TURN,
             64), np.arange(64) ^ 32,
    ),
    "a barrier counts": (
        Body("setp.lt.u32 %p1, %r0, 9;\nsetp.lt.u32 %p3, %r0, 99;\nmov.u32 %r9, 0;\n"
             + "".join(COUNTS[opcode.split(".red.")[1].split(".")[0]].format(opcode)
                       for opcode in COUNTING), 64),
        [6 * (9 + 1000 + 100000)] * 64,
    ),
    "a barrier counts what is the same for all": (
        Body("bar.red.popc.u32 %r9, 0, 1;", 64), [64] * 64
    ),
    "a barrier counts those who have not left": (
        Body(LEAVE.format(40) + "setp.gt.u32 %p2, %r0, 9;\nbar.red.popc.u32 %r9, 0, %p2;", 64),
        [31] * 41 + [7] * 23,
    ),
    "a barrier that counts is a barrier": (
        Body("st.shared.u32 [%r3], %r0;\nsetp.lt.u32 %p1, %r0, 9;\n"
             "bar.red.popc.u32 %r8, 0, %p1;\n" + TURN, 64), np.arange(64) ^ 32,
    ),
    "all write the same number": (
        Body("st.shared.u32 [%r1], 9;\nbar.sync 0;\nld.shared.u32 %r9, [%r1];", 64), [9] * 64
    ),
    "all write the same number, warp by warp": (
        Body("shr.u32 %r5, %r0, 5;\nshl.b32 %r4, %r5, 2;\nadd.s32 %r4, %r4, %r1;\n"
             "st.shared.u32 [%r4], %r5;\nbar.warp.sync -1;\nld.shared.u32 %r9, [%r4];", 64),
        [0] * 32 + [1] * 32,
    ),
    "all write the same numbers, turn after turn": (
        Body("mov.u32 %r7, 0;\n$A: st.shared.u32 [%r1], %r7;\nst.global.u32 [%rd0], %r7;\n"
             "bar.sync 0;\nld.shared.u32 %r9, [%r1];\nld.global.u32 %r8, [%rd0];\n"
             "add.u32 %r9, %r9, %r8;\nbar.sync 0;\nadd.u32 %r7, %r7, 1;\n"
             "setp.lt.u32 %p1, %r7, 4;\n@%p1 bra $A;\nbar.sync 0;", 64), [6] * 64,
    ),
    "the same number on two ways, from one line of the source": (
        Body("mov.u32 %r9, 1;\n" + TWO_WAYS.format(".loc 1 5 3\nst.shared.u32 [%r1], 9;",
             ".loc 1 5 9\nst.shared.u32 [%r1], 9;") + ".loc 1 6 1\n"
             "bar.sync 0;\nld.shared.u32 %r9, [%r1];", before='.file 1 "kernel.py"'),
        [9] * 32,
    ),
    "a barrier for so many threads": (
        Body("st.shared.u32 [%r3], %r0;\nbarrier.cta.sync.aligned 3, 64;\n" + TURN, 64),
        np.arange(64) ^ 32,
    ),
    "barriers of each warp": (
        Body("mov.u32 %r8, %warpid;\nst.shared.u32 [%r3], %r0;\nbar.sync %r8, 32;\n"
             + SWAP, 64), np.arange(64) ^ 1,
    ),
    "one warp hands over to the other": (
        Body("mov.u32 %r9, 0;\nsetp.lt.u32 %p1, %r0, 32;\n@!%p1 bra $A;\n"
             "st.shared.u32 [%r3], %r0;\n"
             + "".join(f"{x} {i}, 64;\n" for i, x in enumerate(ARRIVALS))
             + "bra.uni $B;\n$A:\n"
             + "".join(f"bar.sync {i}, 64;\n" for i in range(len(ARRIVALS)))
             + TURN + "\n$B:", 64), [0] * 32 + [*LANE],
    ),
    "a flag, and a fence on the way": (
        Body(ZERO + "mov.u32 %r9, 0;\n@%p1 st.shared.v2.u32 [%r1], {0, 0};\nbar.sync 0;\n"
             + FLAG.format(fence="fence.acq_rel.cta;"), 64, align=8), [0] * 32 + [7] * 32,
    ),
    "a flag that is released": (
        Body(ZERO + "mov.u32 %r9, 0;\n@%p1 st.shared.v2.u32 [%r1], {0, 0};\nbar.sync 0;\n"
             + FLAG.format(fence="").replace("st.volatile", "st.release.cta"), 64, align=8),
        [0] * 32 + [7] * 32,
    ),
    "a lock": (
        Body(ZERO + "@%p1 st.shared.v2.u32 [%r1], {0, 0};\nbar.sync 0;\n"
             + LOCK.format(fence="membar.cta;") + "bar.sync 0;\nld.shared.u32 %r9, [%r1+4];",
             40, align=8), [40] * 40,
    ),
    "a lock that is acquired and released": (
        Body(ZERO + "@%p1 st.shared.v2.u32 [%r1], {0, 0};\nbar.sync 0;\n"
             + LOCK.format(fence="").replace(
                 "atom.shared.exch", "atom.release.cta.shared.exch")
             + "bar.sync 0;\nld.shared.u32 %r9, [%r1+4];", 40, align=8), [40] * 40,
    ),
    "a sum of a block in global memory, read after a barrier": (
        Body(ZERO + "@%p1 st.global.u32 [%rd0], 0;\nbar.sync 0;\n"
             "red.global.add.u32 [%rd0], %r0;\nbar.sync 0;\nld.global.u32 %r9, [%rd0];\n"
             "bar.sync 0;"), [496] * 32,
    ),
    "neighbours read an output, and later its owner changes it": (
        Body("st.global.u32 [%rd1], %r0;\nbar.sync 0;\nxor.b32 %r4, %r2, 4;\n"
             "cvt.u64.u32 %rd4, %r4;\nadd.s64 %rd4, %rd4, %rd0;\nld.global.u32 %r8, [%rd4];\n"
             "bar.sync 0;\nld.global.u32 %r9, [%rd1];\nadd.u32 %r9, %r9, %r8;"),
        LANE + (LANE ^ 1),
    ),
    "a sum of a block in global memory, and later of one thread": (
        Body(ZERO + "mov.u32 %r9, 0;\n@%p1 st.global.u32 [%rd0], 0;\nbar.sync 0;\n"
             "red.global.add.u32 [%rd0], 1;\nbar.sync 0;\n"
             "@%p1 red.global.add.u32 [%rd0], 1;\n@%p1 ld.global.u32 %r9, [%rd0];"),
        [33] + [0] * 31,
    ),
    "a mask of all lanes in a register": (
        Body("mov.u32 %r8, -1;\nshfl.sync.idx.b32 %r9, %r0, 7, 31, %r8;"), [7] * 32
    ),
    "part of a warp": (
        Body("shfl.sync.bfly.b32 %r9, %r0, 1, 31, -1;", 40), np.arange(40) ^ 1
    ),
    "some wait in a loop for what others do later": (
        Body(ZERO + "@%p1 st.shared.u32 [%r1], 0;\nbar.sync 0;\nmov.u32 %r9, 0;\n"
             "setp.gt.u32 %p1, %r0, 31;\n@%p1 bra $B;\n"
             "$A: atom.shared.or.b32 %r9, [%r1], 0;\nsetp.eq.u32 %p2, %r9, 0;\n"
             "@%p2 bra $A;\nbra.uni $C;\n$B: mov.u32 %r7, 0;\n"
             "$D: add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p2, %r7, 50;\n@%p2 bra $D;\n"
             "setp.eq.u32 %p2, %r0, 40;\n@%p2 atom.shared.exch.b32 %r8, [%r1], 5;\n$C:", 64),
        [5] * 32 + [0] * 32,
    ),
    "two who wait for each other, turn after turn": (
        Body("setp.lt.u32 %p1, %r0, 2;\n@%p1 st.shared.u32 [%r3], 0;\nbar.sync 0;\n"
             "mov.u32 %r9, 0;\nand.b32 %r4, %r0, 31;\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra $E;\n"
             "shr.u32 %r5, %r0, 5;\nsetp.eq.u32 %p4, %r5, 1;\n@%p4 bra $B;\n"
             "$A: atom.shared.or.b32 %r9, [%r1], 0;\nand.b32 %r6, %r9, 1;\n"
             "setp.eq.u32 %p2, %r6, 1;\n@%p2 bra $A;\nsetp.gt.u32 %p3, %r9, 3;\n@%p3 bra $E;\n"
             "red.shared.add.u32 [%r1], 1;\nbra.uni $A;\n"
             "$B: atom.shared.or.b32 %r9, [%r1], 0;\nand.b32 %r6, %r9, 1;\n"
             "setp.eq.u32 %p2, %r6, 0;\n@%p2 bra $D;\nred.shared.add.u32 [%r1], 1;\n"
             "$D: setp.lt.u32 %p3, %r9, 3;\n@%p3 bra $B;\n$E:", 64),
        [4, *[0] * 31, 3, *[0] * 31],
    ),
    "numbers of every base": (
        Body("mov.u32 %r9, 010;\nadd.u32 %r9, %r9, 0b101;\nadd.u32 %r9, %r9, -017U;\n"
             "mov.f32 %f1, 1.25e3;\nmov.f64 %d1, -2.5E+2;\nmov.f32 %f2, 3.;\n"
             "cvt.rzi.s32.f32 %r8, %f1;\nadd.s32 %r9, %r9, %r8;\n"
             "cvt.rzi.s32.f64 %r8, %d1;\nadd.s32 %r9, %r9, %r8;\n"
             "cvt.rzi.s32.f32 %r8, %f2;\nadd.s32 %r9, %r9, %r8;\n"
             "ld.global.u32 %r8, [%rd9+010];\nadd.s32 %r9, %r9, %r8;"),
        [8 + 5 - 15 + 1250 - 250 + 3 + 2] * 32,
    ),
    "a special register with a sign": (
        Body("cvt.s64.s32 %rd5, %lanemask_gt;\nmov.b64 {%r8, %r9}, %rd5;"),
        [2**32 - 1] * 31 + [0],
    ),
    "a number of dynamic bytes": (
        Body("mov.u32 %r9, %dynamic_smem_size;"), [128] * 32
    ),
    "unsized arrays begin at one address": (
        Body(DYNAMIC + "st.shared.u32 [%r3], 100;\nst.shared.u32 [%r4], %r0;\n"
             "ld.shared.u32 %r9, [%r5];\nld.shared.u32 %r8, [%r3];\n"
             "add.u32 %r9, %r9, %r8;", before=UNSIZED), LANE + 100,
    ),
}  # fmt: skip


# Operands of the instructions that do nothing.
HINTS = {"prefetch": "[%rd9]", "prefetchu": "[%rd9]", "applypriority": "[%rd9], 128"}
HINTS |= {"pmevent": "3", "nanosleep": "%r0"}
EVERY_HINT = "\n".join(
    f"{x} {HINTS[x.split('.')[0]]};" for x in OPCODES if x.split(".")[0] in HINTS
)
RIGHT["hints do nothing"] = (Body(f"{EVERY_HINT}\nmov.u32 %r9, %r0;"), LANE)


@pytest.mark.parametrize("name", RIGHT)
def test_threads_do_what_the_manual_says(name: str) -> None:
    body, expected = RIGHT[name]
    out, _ = run(ended(body))
    assert out.tolist() == list(np.asarray(expected).tolist())


def reduced(how: str, values: list[int]) -> int:
    total = values[0]
    for x in values[1:]:
        total = {"add": total + x, "min": min(total, x), "max": max(total, x),
                 "and": total & x, "or": total | x, "xor": total ^ x}[how]  # fmt: skip
    return total


REDUX = [x for x in OPCODES if x.startswith("redux")]


@pytest.mark.parametrize("opcode", REDUX)
def test_one_number_of_a_whole_warp(opcode: str) -> None:
    body = f"mad.lo.s32 %r4, %r0, 7, -50;\n{opcode} %r9, %r4, -1;{END}"
    numbers = [7 * x - 50 for x in range(32)]
    if not opcode.endswith("s32"):
        numbers = [x % 2**32 for x in numbers]
    out, _ = run(Body(body))
    assert set(out.tolist()) == {reduced(opcode.split(".")[2], numbers) % 2**32}


def shuffled(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The pseudocode of the manual's section on shfl.sync."""
    by, clamp, mask = b & 31, c & 31, c >> 8 & 31
    most, least = lane & mask | clamp & ~mask & 31, lane & mask
    j = {"up": lane - by, "down": lane + by, "bfly": lane ^ by}.get(mode)
    j = least | by & ~mask & 31 if j is None else j
    inside = j >= most if mode == "up" else j <= most
    return (j if inside else lane), inside


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize("b", [0, 1, 5, 16, 31, 40])
@pytest.mark.parametrize("c", [0, 31, 0x181F, 0x1C1F, 0x1800, 0x1007])
def test_shuffles(mode: str, b: int, c: int) -> None:
    body = (
        f"shfl.sync.{mode}.b32 %r9|%p1, %r0, {b}, {c}, -1;\n@%p1 add.u32 %r9, %r9, 100;"
    )
    expected = [shuffled(mode, lane, b, c) for lane in range(32)]
    out, _ = run(Body(body + END))
    assert out.tolist() == [lane + 100 * inside for lane, inside in expected]


# ---- loads, stores and atomics of every form ----


def spaced(opcode: str) -> str:
    """A body that stores a word and loads it, with `opcode` for one of the two."""
    words = opcode.split(".")
    kind, vector = words[-1], next((w for w in words if w in ("v2", "v4")), "")
    size = int(kind[1:]) // 8
    count = int(vector[1:]) if vector else 1
    names = {1: "%h", 2: "%h", 4: "%f" if kind == "f32" else "%r", 8: "%rd"}[size]
    names = "%d" if kind == "f64" else names
    first = ", ".join(f"{names}{10 + i}" for i in range(count))
    operand = f"{{{first}}}" if vector else first
    if "ld" in words:
        return f"{opcode} {operand}, [%rd20];"
    return f"{opcode} [%rd20], {operand};"


LOADS = [x for x in OPCODES if x.split(".")[0] in ("ld", "st") and "param" not in x]
PLACES = {
    "global": "mov.u64 %rd20, %rd9;", "": "mov.u64 %rd20, %rd9;", "const": "mov.u64 %rd20, C;",
    "shared": "mov.u64 %rd20, S;", "local": "mov.u64 %rd20, L;",
}  # fmt: skip


def by_space(opcodes: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for opcode in opcodes:
        space = next((w for w in opcode.split(".") if w in PLACES), "")
        found.setdefault(space, []).append(opcode)
    return found


def every_access(space: str) -> Body:
    """All loads and stores of a state space, one after the other, of the same bytes."""
    opcodes = by_space(LOADS)[space]
    lines = [".local .align 16 .b8 L[64];", PLACES[space]]
    if space in ("shared", "local"):
        lines += [f"st.{space}.u32 [%rd20+{4 * i}], %r0;" for i in range(8)]
    for opcode in opcodes:
        if opcode.startswith("st") and space in ("global", ""):
            load = "ld" + opcode[2:].replace(".wb", "").replace(".wt", "")
            lines.append(spaced(load))
        lines.append(spaced(opcode) if opcode.startswith("ld") else spaced("ld" + re.sub(
            r"\.(wb|cg|cs|wt)", "", opcode[2:])) + "\n" + spaced(opcode))  # fmt: skip
    lines += [f"ld.{space}.u32 %r9, [%rd20+4];".replace("..", ".")]
    before = ".const .align 16 .u32 C[8] = {0, 1, 2, 3, 4, 5, 6, 7};"
    return Body("\n".join(lines) + END, 1, align=16, before=before)


@pytest.mark.parametrize("space", PLACES)
def test_every_load_and_store_moves_its_bytes_and_no_others(space: str) -> None:
    out, _ = run(every_access(space), changed=[1])
    assert out.tolist() == [0 if space in ("shared", "local") else 1]


ATOMICS = [x for x in OPCODES if x.split(".")[0] in ("atom", "red")]


def python_atomic(how: str, old: float, value: float, other: float) -> float:
    ways = {
        "add": old + value, "min": min(old, value), "max": max(old, value),
        "exch": value, "cas": other if old == value else old,
        "inc": 0 if old >= value else old + 1,
        "dec": value if old == 0 or old > value else old - 1,
    }  # fmt: skip
    if how in ("and", "or", "xor"):
        return {"and": old & value, "or": old | value, "xor": old ^ value}[how]
    return ways[how]


def atomic_body(opcode: str) -> Body:
    """One thread: memory holds 12, the operation takes 10 (and 3); old, then new."""
    words = opcode.split(".")
    size = int(words[-1][1:]) // 8
    register = {"f32": "%f1", "f64": "%d1"}.get(
        words[-1], "%r20" if size == 4 else "%rd20"
    )
    numbers = {"f32": ("0f41400000", "0f41200000"), "f64": ("0d4028000000000000",
               "0d4024000000000000")}.get(words[-1], ("12", "10"))  # fmt: skip
    place = "[%r1]" if "shared" in words else "[%rd9]"
    space = "shared" if "shared" in words else "global"
    extra = ", 3" if "cas" in words else ""
    value = "12" if "cas" in words else numbers[1]
    result = f"{register}, " if words[0] == "atom" else ""
    store = f"st.{space}.b{8 * size} {place}, {register};"
    read = f"ld.{space}.b{8 * size} %rd21, {place};" if size == 8 else (
        f"ld.{space}.b32 %r21, {place};\ncvt.u64.u32 %rd21, %r21;")  # fmt: skip
    code = f"mov.{words[-1].replace('s', 'u')} {register}, {numbers[0]};\n{store}\n"
    code += f"{opcode} {result}{place}, {value}{extra};\n{read}\n"
    code += "st.global.u64 [%rd1], %rd21;"
    return Body(code, 1, align=8)


@pytest.mark.parametrize("opcode", ATOMICS)
def test_atomics(opcode: str) -> None:
    words = opcode.split(".")
    out = np.zeros(1, "u8")
    source = np.zeros(4, "u8")
    ptxsim.run(atomic_body(opcode).text, 1, (out, source), outputs=[0], changed=[1])
    value = 12 if "cas" in words else 10
    expected = python_atomic(words[-2], 12, value, 3)
    kind = {"f32": "f4", "f64": "f8"}.get(words[-1], f"u{int(words[-1][1:]) // 8}")
    assert out.view(kind)[0] == expected


def test_atomic_sums_in_global_memory_take_subnormal_floats_for_zero() -> None:
    """And those in shared memory do not (PTX ISA, atom)."""
    code = "mov.f32 %f1, {};\nst.{}.f32 {}, %f1;\nred.{}.add.f32 {}, {};\n"
    code += "ld.{}.b32 %r9, {};"
    small, normal = "0f80000100", "0f00800000"  # -0.3·10⁻⁴², and 2⁻¹²⁶
    for first, second, shared, global_ in (
        (small, "0f00000000", 0x80000100, 0),
        (small, small, 0x80000200, 0x80000000),
        (normal, "0f80800001", 0x80000001, 0x80000000),
        (normal, small, 0x007FFF00, 0x00800000),
    ):
        for space, place, bits in (
            ("shared", "[%r1]", shared), ("global", "[%rd1]", global_),
        ):  # fmt: skip
            parts = first, space, place, space, place, second, space, place
            out, _ = run(Body(code.format(*parts) + END, 1))
            assert out.tolist() == [bits]


# ---- what is wrong: each fault, and beside it what only looks like one ----

WRONG: dict[str, tuple[str, Body, Body | None]] = {
    "a barrier too few": (
        "race", Body("st.shared.u32 [%r3], %r0;\n" + TURN, 64),
        Body("st.shared.u32 [%r3], %r0;\nbar.sync 0;\n" + TURN, 64),
    ),
    "written after others read": (
        "race",
        Body("st.shared.u32 [%r3], %r0;\nbar.sync 0;\n" + TURN + "st.shared.u32 [%r3], 1;", 64),
        Body("st.shared.u32 [%r3], %r0;\nbar.sync 0;\n" + TURN
             + "bar.sync 0;\nst.shared.u32 [%r3], 1;", 64),
    ),
    "all write to one word": (
        "race", Body("mov.u32 %r9, 0;\nst.shared.u32 [%r1], %r0;"),
        Body(ZERO + "mov.u32 %r9, 0;\n@%p1 st.shared.u32 [%r1], %r0;"),
    ),
    "two names of dynamic shared memory": (
        "race",
        Body(DYNAMIC + "st.shared.u32 [%r4], %r0;\nxor.b32 %r5, %r5, 4;\n"
             "st.shared.u32 [%r5], 7;\nld.shared.u32 %r9, [%r4];", before=UNSIZED),
        Body(DYNAMIC + "st.shared.u32 [%r4], %r0;\nbar.sync 0;\nxor.b32 %r5, %r5, 4;\n"
             "st.shared.u32 [%r5], 7;\nbar.sync 0;\nld.shared.u32 %r9, [%r4];",
             before=UNSIZED),
    ),
    "behind dynamic shared memory": (
        "out of bounds",
        Body(DYNAMIC + "mov.u32 %r9, 0;\nst.shared.u32 [%r5+4], %r0;", before=UNSIZED),
        Body(DYNAMIC + "mov.u32 %r9, 0;\nst.shared.u32 [%r5], %r0;", before=UNSIZED),
    ),
    "two warps, and only one of them meets": (
        "race", Body("st.shared.u32 [%r3], %r0;\nbar.warp.sync -1;\n" + TURN, 64),
        Body("st.shared.u32 [%r3], %r0;\nbar.warp.sync -1;\n" + SWAP, 64),
    ),
    "read by two warps, then written after one of them met": (
        "race",
        Body("st.shared.u32 [%r3], %r0;\nbar.sync 0;\nld.shared.u32 %r9, [%r1];\n"
             "bar.warp.sync -1;\n" + ZERO + "@%p1 st.shared.u32 [%r1], 7;", 64),
        Body("st.shared.u32 [%r3], %r0;\nbar.sync 0;\nsetp.gt.u32 %p2, %r0, 31;\n"
             "mov.u32 %r9, 0;\n@!%p2 ld.shared.u32 %r9, [%r1];\n"
             "bar.warp.sync -1;\n" + ZERO + "@%p1 st.shared.u32 [%r1], 7;", 64),
    ),
    "an output, written after others read it": (
        "race",
        Body("st.global.u32 [%rd1], %r0;\nbar.sync 0;\nld.global.u32 %r8, [%rd0];\n"
             "mov.u32 %r9, 7;" + END),
        Body("st.global.u32 [%rd1], %r0;\nbar.sync 0;\nld.global.u32 %r8, [%rd0];\n"
             "bar.sync 0;\nmov.u32 %r9, 7;" + END),
    ),
    "a variable of the module, written after others read it": (
        "race",
        Body("ld.global.s32 %r9, [G];\n" + ZERO + "@%p1 st.global.u32 [G], 1;", before=CONST),
        Body("ld.global.s32 %r9, [G];\nbar.sync 0;\n" + ZERO + "@%p1 st.global.u32 [G], 1;",
             before=CONST),
    ),
    "in a warp with no meeting": (
        "race", Body("st.shared.u32 [%r3], %r0;\n" + SWAP),
        Body("st.shared.u32 [%r3], %r0;\nld.shared.u32 %r9, [%r3];"),
    ),
    "global memory": (
        "race", Body("mov.u32 %r9, 0;\nst.global.u32 [%rd0], %r0;"), Body("mov.u32 %r9, 0;")
    ),
    "global memory, read by another": (
        "race",
        Body("st.global.u32 [%rd1], %r0;\nxor.b32 %r4, %r2, 4;\ncvt.u64.u32 %rd4, %r4;\n"
             "add.s64 %rd4, %rd4, %rd0;\nld.global.u32 %r9, [%rd4];"),
        Body("st.global.u32 [%rd1], %r0;\nbar.sync 0;\nxor.b32 %r4, %r2, 4;\n"
             "cvt.u64.u32 %rd4, %r4;\nadd.s64 %rd4, %rd4, %rd0;\nld.global.u32 %r9, [%rd4];\n"
             "bar.sync 0;"),
    ),
    "an atomic sum is read at once": (
        "race",
        Body(ZERO + "@%p1 st.shared.u32 [%r1], 0;\nbar.sync 0;\nred.shared.add.u32 [%r1], 1;\n"
             "ld.shared.u32 %r9, [%r1];"),
        Body(ZERO + "@%p1 st.shared.u32 [%r1], 0;\nbar.sync 0;\nred.shared.add.u32 [%r1], 1;\n"
             "bar.sync 0;\nld.shared.u32 %r9, [%r1];"),
    ),
    "an atomic sum and a store": (
        "race",
        Body("mov.u32 %r9, 0;\n" + ZERO + "@%p1 st.shared.u32 [%r1], 0;\n"
             "red.shared.add.u32 [%r1], 1;"),
        Body("mov.u32 %r9, 0;\n" + ZERO + "@%p1 st.shared.u32 [%r1], 0;\n"
             "@%p1 red.shared.add.u32 [%r1], 1;\n@%p1 ld.shared.u32 %r9, [%r1];"),
    ),
    "an atomic sum from nothing": (
        "uninitialised", Body("atom.shared.add.u32 %r9, [%r3], 1;"),
        Body("st.shared.u32 [%r3], 1;\natom.shared.add.u32 %r9, [%r3], 1;"),
    ),
    "read before it is written": (
        "uninitialised", Body("ld.shared.u32 %r9, [%r3];"),
        Body("st.shared.u32 [%r3], 1;\nld.shared.u32 %r9, [%r3];"),
    ),
    "half of it is written": (
        "uninitialised", Body("st.shared.u16 [%r3], 1;\nld.shared.u32 %r9, [%r3];"),
        Body("st.shared.u16 [%r3], 1;\nst.shared.u16 [%r3+2], 1;\nld.shared.u32 %r9, [%r3];"),
    ),
    "an output is read": (
        "uninitialised", Body("ld.global.u32 %r9, [%rd1];"), Body("mov.u32 %r9, 1;")
    ),
    "local memory before it is written": (
        "uninitialised", Body(".local .align 4 .b8 L[8];\nld.local.u32 %r9, [L+4];"),
        Body(".local .align 4 .b8 L[8];\nst.local.u32 [L+4], 3;\nld.local.u32 %r9, [L+4];"),
    ),
    "behind shared memory": (
        "out of bounds", Body("mov.u32 %r9, 0;\nst.shared.u32 [%r3+3972], %r0;"),
        Body("mov.u32 %r9, 0;\nst.shared.u32 [%r3+3968], %r0;"),
    ),
    "half of a word behind shared memory": (
        "out of bounds", Body("mov.u32 %r9, 0;\nst.shared.u32 [%r1+4], 1;", 1, shared=6),
        Body("mov.u32 %r9, 0;\nst.shared.u16 [%r1+4], 1;", 1, shared=6),
    ),
    "before an array": (
        "out of bounds", Body("ld.global.u32 %r9, [%rd9+-4];"),
        Body("ld.global.u32 %r9, [%rd9+0];"),
    ),
    "behind an array": (
        "out of bounds", Body("ld.global.u32 %r9, [%rd9+512];"),
        Body("ld.global.u32 %r9, [%rd9+508];"),
    ),
    "nowhere": (
        "out of bounds", Body("mov.u64 %rd5, 0;\nld.u32 %r9, [%rd5];"),
        Body("mov.u64 %rd5, 0;\n" + ZERO + "mov.u32 %r9, 0;\nsetp.gt.u32 %p1, %r0, 40;\n"
             "@%p1 ld.u32 %r9, [%rd5];"),
    ),
    "behind local memory": (
        "out of bounds",
        Body(".local .align 4 .b8 L[8];\nmov.u32 %r9, 0;\nst.local.u32 [L+8], 3;"),
        Body(".local .align 4 .b8 L[8];\nmov.u32 %r9, 0;\nst.local.u32 [L+4], 3;"),
    ),
    "a copy that reads on": (
        "out of bounds", Body(FLY.replace("[%rd3], 16;", "[%rd3+16], 16;"), align=16),
        Body(FLY.replace("[%rd3], 16;", "[%rd3], 16;") + "mov.u32 %r9, 0;", align=16),
    ),
    "an address between words": (
        "misaligned", Body("mov.u32 %r9, 0;\nst.shared.u32 [%r3+2], %r0;"),
        Body("mov.u32 %r9, 0;\nst.shared.u16 [%r3+2], 7;"),
    ),
    "a vector between vectors": (
        "misaligned", Body("ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd9+8];"),
        Body("ld.global.v2.u32 {%r8, %r9}, [%rd9+8];"),
    ),
    "an array that is aligned by luck": (
        "misaligned", Body("mov.u32 %r9, 0;\nst.shared.v4.u32 [%r1], {%r0, %r0, %r0, %r0};",
                           1, align=8),
        Body("mov.u32 %r9, 0;\nst.shared.v4.u32 [%r1], {%r0, %r0, %r0, %r0};", 1, align=16),
    ),
    "a copy between vectors": (
        "misaligned", Body(FLY.replace("[%rd3], 16;", "[%rd3+4], 16;"), align=16), None
    ),
    "nobody waits for the copy": (
        "copy under way", Body(FLY + "ld.shared.u32 %r9, [%r4];", align=16),
        Body(FLY + "cp.async.wait_group 1;\nld.shared.u32 %r9, [%r4];", align=16),
    ),
    "a wait for too few": (
        "copy under way",
        Body(FLY + "cp.async.wait_group 1;\nld.shared.u32 %r9, [%r4+512];", align=16),
        Body(FLY + "cp.async.wait_group 0;\nld.shared.u32 %r9, [%r4+512];", align=16),
    ),
    "a barrier is no wait": (
        "copy under way", Body(FLY + "bar.sync 0;\nld.shared.u32 %r9, [%r4];", align=16),
        Body(FLY + "cp.async.wait_all;\nbar.sync 0;\nld.shared.u32 %r9, [%r4];", align=16),
    ),
    "written under a copy": (
        "copy under way",
        Body("mov.u32 %r9, 0;\n" + FLY + "st.shared.u32 [%r4], %r0;", align=16),
        Body("mov.u32 %r9, 0;\n" + FLY + "cp.async.wait_all;\nst.shared.u32 [%r4], %r0;",
             align=16),
    ),
    "another thread's copy": (
        "race", Body(FLY + "cp.async.wait_group 0;\n" + NEXT, align=16),
        Body(FLY + "cp.async.wait_group 0;\nbar.sync 0;\n" + NEXT, align=16),
    ),
    "warps at barriers of two numbers": (
        "barrier", Body("mov.u32 %r9, 0;\n" + BARRIERS.format("bar.sync 1;"), 64),
        Body("mov.u32 %r9, 0;\n" + BARRIERS.format("bar.sync 0;"), 64),
    ),
    "a warp at a barrier that counts, another at one that does not": (
        "barrier", Body("mov.u32 %r9, 0;\n" + BARRIERS.format("bar.red.popc.u32 %r9, 0, %p1;"),
                        64), None,
    ),
    "threads of a warp at two barriers": (
        "warp not whole",
        Body("mov.u32 %r9, 0;\n" + TWO_WAYS.format("bar.sync 0;", "bar.sync 0;")),
        Body("mov.u32 %r9, 0;\n" + TWO_WAYS.format("barrier.sync 0;", "barrier.sync 0;")),
    ),
    "a barrier for some of a warp": (
        "warp not whole",
        Body("mov.u32 %r9, 0;\n" + TWO_WAYS.format("bar.sync 0;", "") + "\nbar.sync 0;"),
        Body("mov.u32 %r9, 0;\n" + TWO_WAYS.format("", "mov.u32 %r9, 2;") + "\nbar.sync 0;"),
    ),
    "a predicate keeps some of a warp from a barrier": (
        "warp not whole",
        Body("mov.u32 %r9, 0;\nsetp.lt.u32 %p1, %r0, 16;\n@%p1 bar.sync 0;"),
        Body("mov.u32 %r9, 0;\nsetp.lt.u32 %p1, %r0, 64;\n@%p1 bar.sync 0;"),
    ),
    "a shuffle for some of a warp": (
        "warp not whole",
        Body("mov.u32 %r9, 0;\n" + TWO_WAYS.format("shfl.sync.bfly.b32 %r9, %r0, 1, 31, -1;",
             "") + "\nbar.sync 0;"),
        Body(TWO_WAYS.format("shfl.sync.bfly.b32 %r9, %r0, 1, 31, 0xffff;", "mov.u32 %r9, 1;")
             + "\nbar.sync 0;"),
    ),
    "a mask with a lane too many": (
        "warp not whole",
        Body(TWO_WAYS.format("shfl.sync.bfly.b32 %r9, %r0, 1, 31, 0x1ffff;", "mov.u32 %r9, 1;")
             + "\nbar.sync 0;"),
        Body(TWO_WAYS.format("shfl.sync.bfly.b32 %r9, %r0, 1, 31, 0xffff;", "mov.u32 %r9, 1;")
             + "\nbar.sync 0;"),
    ),
    "masks that differ": (
        "warp not whole",
        Body("mov.u32 %r8, 3;\n" + ZERO + "@%p1 mov.u32 %r8, 1;\nmov.u32 %r9, 0;\n"
             "setp.lt.u32 %p2, %r0, 2;\n@%p2 bra $A;\nbra.uni $B;\n"
             "$A: vote.sync.ballot.b32 %r9, 1, %r8;\n$B: bar.sync 0;"),
        Body("mov.u32 %r8, 2;\n" + ZERO + "@%p1 mov.u32 %r8, 1;\nmov.u32 %r9, 0;\n"
             "setp.lt.u32 %p2, %r0, 2;\n@%p2 bra $A;\nbra.uni $B;\n"
             "$A: vote.sync.ballot.b32 %r9, 1, %r8;\n$B: bar.sync 0;"),
    ),
    "a mask without the thread": (
        "warp not whole", Body("mov.u32 %r8, 0xffff;\nmatch.any.sync.b32 %r9, %r0, %r8;"),
        Body("mov.u32 %r9, 0;\nmov.u32 %r8, 0xffff;\nsetp.lt.u32 %p1, %r0, 16;\n"
             "@%p1 match.any.sync.b32 %r9, %r0, %r8;"),
    ),
    "a shuffle from the other half": (
        "shuffle", Body(HALF + "shfl.sync.bfly.b32 %r9, %r0, 16, 31, %r6;"),
        Body(HALF + "shfl.sync.bfly.b32 %r9, %r0, 8, 31, %r6;"),
    ),
    "a shuffle from who has left": (
        "shuffle", Body(LEAVE.format(23) + "shfl.sync.bfly.b32 %r9, %r0, 8, 31, -1;"),
        Body(LEAVE.format(23) + "shfl.sync.bfly.b32 %r9, %r0, 4, 31, -1;"),
    ),
    "half a warp meets, and reads from the other": (
        "race", Body(HALF + "st.shared.u32 [%r3], %r0;\nbar.warp.sync %r6;\n"
                     + SWAP.replace("%r2, 4", "%r2, 64")),
        Body(HALF + "st.shared.u32 [%r3], %r0;\nbar.warp.sync %r6;\n"
             + SWAP.replace("%r2, 4", "%r2, 32")),
    ),
    "half a warp meets, and overwrites what the other reads": (
        "race",
        Body(HALF + "st.shared.u32 [%r3], %r0;\nbar.sync 0;\nld.shared.u32 %r9, [%r1];\n"
             "bar.warp.sync %r6;\n" + ZERO + "@%p1 st.shared.u32 [%r1], 5;"),
        Body(HALF + "st.shared.u32 [%r3], %r0;\nbar.sync 0;\nmov.u32 %r9, 3;\n"
             "setp.lt.u32 %p1, %r0, 16;\n@%p1 ld.shared.u32 %r9, [%r1];\n"
             "bar.warp.sync %r6;\n" + ZERO + "@%p1 st.shared.u32 [%r1], 5;"),
    ),
    "a thread leaves, and a barrier does not wait for what it wrote": (
        "race",
        Body("st.shared.u32 [%r3], %r0;\n" + LEAVE.format(15) + "bar.sync 0;\n"
             "ld.shared.u32 %r9, [%r3+64];"),
        Body("st.shared.u32 [%r3], %r0;\nbar.sync 0;\n" + LEAVE.format(15) + "bar.sync 0;\n"
             "ld.shared.u32 %r9, [%r3+64];"),
    ),
    "a thread leaves, and others write later what it read": (
        "race",
        Body("st.shared.u32 [%r3], %r0;\nbar.sync 0;\nld.shared.u32 %r8, [%r1];\n"
             + LEAVE.format(15) + "bar.sync 0;\nbar.sync 0;\n" + ZERO
             + "@%p1 st.shared.u32 [%r1], 5;", 64),
        Body("st.shared.u32 [%r3], %r0;\nbar.sync 0;\nld.shared.u32 %r8, [%r1];\nbar.sync 0;\n"
             + LEAVE.format(15) + "bar.sync 0;\nbar.sync 0;\n" + ZERO
             + "@%p1 st.shared.u32 [%r1], 5;", 64),
    ),
    "a thread leaves that wrote to global memory": (
        "race",
        Body(LEAVE.format(15) + "bar.sync 0;\nadd.s64 %rd4, %rd1, 64;\n"
             "ld.global.u32 %r9, [%rd4];"),
        Body("mov.u32 %r9, 7;" + END + "\nbar.sync 0;\nsetp.gt.u32 %p1, %r0, 15;\n@%p1 ret;\n"
             "bar.sync 0;\nadd.s64 %rd4, %rd1, 64;\nld.global.u32 %r9, [%rd4];"),
    ),
    "a thread leaves after its atomic": (
        "race",
        Body(ZERO + "@%p1 st.shared.u32 [%r1], 0;\nbar.sync 0;\nred.shared.add.u32 [%r1], 1;\n"
             + LEAVE.format(15) + "bar.sync 0;\nld.shared.u32 %r9, [%r1];"),
        Body(ZERO + "@%p1 st.shared.u32 [%r1], 0;\nbar.sync 0;\n" + LEAVE.format(15)
             + "red.shared.add.u32 [%r1], 1;\nbar.sync 0;\nld.shared.u32 %r9, [%r1];"),
    ),
    "a warp meets, and a lane leaves that wrote afterwards": (
        "race",
        Body("mov.u32 %r9, 0;" + END + "\nbar.warp.sync -1;\nst.shared.u32 [%r3], %r0;\n"
             "and.b32 %r5, %r0, 31;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 ret;\nbar.sync 0;\n"
             "ld.shared.u32 %r9, [%r3+20];", 64),
        Body("mov.u32 %r9, 0;" + END + "\nst.shared.u32 [%r3], %r0;\nbar.warp.sync -1;\n"
             "and.b32 %r5, %r0, 31;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 ret;\nbar.sync 0;\n"
             "ld.shared.u32 %r9, [%r3+20];", 64),
    ),
    "barriers without alignment of two numbers": (
        "barrier",
        Body("mov.u32 %r9, 0;\n" + TWO_WAYS.format("barrier.sync 3;", "barrier.sync 4;")),
        Body("mov.u32 %r9, 0;\n" + TWO_WAYS.format("barrier.sync 3;", "barrier.sync 3;")),
    ),
    "the same number, and one other": (
        "race", Body("mov.u32 %r9, 9;\nmax.u32 %r8, %r0, 1;\nst.shared.u32 [%r1], %r8;"),
        Body("mov.u32 %r9, 9;\nmin.u32 %r8, %r0, 0;\nst.shared.u32 [%r1], %r8;"),
    ),
    "the same number, read beside it": (
        "race", Body("st.shared.u32 [%r1], 9;\nld.shared.u32 %r9, [%r1];"),
        Body("st.shared.u32 [%r1], 9;\nbar.sync 0;\nld.shared.u32 %r9, [%r1];"),
    ),
    "the same number, after a read": (
        "race",
        Body(ZERO + "@%p1 st.shared.u32 [%r1], 9;\nbar.sync 0;\nld.shared.u32 %r9, [%r1];\n"
             "st.shared.u32 [%r1], 9;"),
        Body(ZERO + "@%p1 st.shared.u32 [%r1], 9;\nbar.sync 0;\nld.shared.u32 %r9, [%r1];\n"
             "bar.sync 0;\nst.shared.u32 [%r1], 9;"),
    ),
    "the same number, over another one by the same thread": (
        "race",
        Body("mov.u32 %r9, 0;\n" + ZERO + "@%p1 st.shared.u32 [%r1], 7;\n"
             "@%p1 st.shared.u32 [%r1], 9;\n@!%p1 st.shared.u32 [%r1], 9;"),
        Body("mov.u32 %r9, 0;\n" + ZERO + "@%p1 st.shared.u32 [%r1], 7;\nbar.sync 0;\n"
             "st.shared.u32 [%r1], 9;"),
    ),
    "half of a word is the same": (
        "race",
        Body("mov.u32 %r9, 0;\nshl.b32 %r8, %r0, 16;\nst.shared.u32 [%r1], %r8;\n"
             "@%p1 st.shared.u16 [%r1], 0;".replace("@%p1 ", ZERO + "@%p1 ")),
        Body("mov.u32 %r9, 0;\nshr.u32 %r8, %r0, 16;\nst.shared.u32 [%r1], %r8;\n"
             + ZERO + "bar.sync 0;\n@%p1 st.shared.u16 [%r1], 0;"),
    ),
    "the same number, by two instructions": (
        "race",
        Body("mov.u32 %r9, 1;\n" + TWO_WAYS.format("st.shared.u32 [%r1], 9;",
             "st.shared.u32 [%r1], 9;")),
        Body("mov.u32 %r9, 1;\n" + TWO_WAYS.format("", "") + "st.shared.u32 [%r1], 9;"),
    ),
    "a flag, and no fence": (
        "race",
        Body(ZERO + "mov.u32 %r9, 0;\n@%p1 st.shared.v2.u32 [%r1], {0, 0};\nbar.sync 0;\n"
             + FLAG.format(fence=""), 64, align=8),
        Body(ZERO + "mov.u32 %r9, 0;\n@%p1 st.shared.v2.u32 [%r1], {0, 0};\nbar.sync 0;\n"
             + FLAG.format(fence="fence.sc.cta;"), 64, align=8),
    ),
    "a fence before what it should publish": (
        "race",
        Body(ZERO + "mov.u32 %r9, 0;\n@%p1 st.shared.v2.u32 [%r1], {0, 0};\nbar.sync 0;\n"
             "fence.sc.cta;" + FLAG.format(fence=""), 64, align=8), None,
    ),
    "a flag that is read by a plain load": (
        "race",
        Body(ZERO + "mov.u32 %r9, 0;\n@%p1 st.shared.v2.u32 [%r1], {0, 0};\nbar.sync 0;\n"
             + FLAG.format(fence="membar.gl;").replace("ld.volatile", "ld"), 64, align=8), None,
    ),
    "a counter whose number nobody reads": (
        "race",
        Body(ZERO + "mov.u32 %r9, 0;\n@%p1 st.shared.v2.u32 [%r1], {0, 0};\nbar.sync 0;\n"
             + COUNTER.format("atom.shared.add.u32 %r7, [%r1], 0"), 64, align=8),
        Body(ZERO + "mov.u32 %r9, 0;\n@%p1 st.shared.v2.u32 [%r1], {0, 0};\nbar.sync 0;\n"
             + COUNTER.format("atom.shared.add.u32 %r8, [%r1], 0"), 64, align=8),
    ),
    "a ticket: who has not the last one resets the counter": (
        "race",
        Body(ZERO + "@%p1 st.shared.u32 [%r1], 0;\nbar.sync 0;\n" + TICKET.format(5), 64),
        Body(ZERO + "@%p1 st.shared.u32 [%r1], 0;\nbar.sync 0;\n" + TICKET.format(63), 64),
    ),
    "a sum of which nobody reads the result, then a reset": (
        "race",
        Body(ZERO + "@%p1 st.shared.u32 [%r1], 0;\nbar.sync 0;\nmov.u32 %r9, 0;\n"
             "red.shared.add.u32 [%r1], 1;\nsetp.eq.u32 %p3, %r0, 63;\n"
             "@%p3 st.shared.u32 [%r1], 0;", 64), None,
    ),
    "a release orders its own address only": (
        "race",
        Body(ZERO + "mov.u32 %r9, 0;\n@%p1 st.shared.v4.u32 [%r1], {0, 0, 0, 0};\n"
             "bar.sync 0;\n" + FLAG.format(fence="@%p1 st.release.cta.shared.u32 [%r1+8], 1;"),
             64, align=16),
        Body(ZERO + "mov.u32 %r9, 0;\n@%p1 st.shared.v4.u32 [%r1], {0, 0, 0, 0};\n"
             "bar.sync 0;\n" + FLAG.format(fence="@%p1 st.release.cta.shared.u32 [%r1], 2;"),
             64, align=16),
    ),
    "a lock that is left without a fence": (
        "race",
        Body(ZERO + "@%p1 st.shared.v2.u32 [%r1], {0, 0};\nbar.sync 0;\n"
             + LOCK.format(fence=""), 64, align=8), None,
    ),
    "a flag that nobody sets": (
        "endless",
        Body(ZERO + "mov.u32 %r9, 0;\n@%p1 st.shared.v2.u32 [%r1], {0, 0};\nbar.sync 0;\n"
             + FLAG.format(fence="membar.cta;").replace("[%r1], 1;", "[%r1], 0;"), 64, align=8),
        None,
    ),
    "a barrier for more threads than come": (
        "barrier", Body("mov.u32 %r9, 0;\nbar.sync 1, 96;", 64),
        Body("mov.u32 %r9, 0;\nbar.sync 1, 64;", 64),
    ),
    "a barrier for two numbers of threads": (
        "barrier",
        Body("mov.u32 %r9, 0;\nmov.u32 %r8, 64;\nsetp.lt.u32 %p1, %r0, 32;\n"
             "@%p1 mov.u32 %r8, 96;\nbar.sync 1, %r8;", 64), None,
    ),
    "a barrier for half a warp": (
        "barrier", Body("mov.u32 %r9, 0;\nmov.u32 %r8, 16;\nbar.sync 1, %r8;", 64), None,
    ),
    "a barrier with a number too large": (
        "barrier", Body("mov.u32 %r9, 0;\nbar.sync %r0;", 64),
        Body("mov.u32 %r9, 0;\nmov.u32 %r8, 15;\nbar.sync %r8;", 64),
    ),
    "a warp only arrives, and reads": (
        "race",
        Body("st.shared.u32 [%r3], %r0;\nsetp.lt.u32 %p1, %r0, 32;\nmov.u32 %r9, 0;\n"
             "@%p1 bra $A;\nbar.sync 1, 64;\nbra.uni $B;\n$A: bar.arrive 1, 64;\n"
             + TURN + "\n$B:", 64),
        Body("st.shared.u32 [%r3], %r0;\nsetp.lt.u32 %p1, %r0, 32;\nmov.u32 %r9, 0;\n"
             "@!%p1 bra $A;\nbar.arrive 1, 64;\nbra.uni $B;\n$A: bar.sync 1, 64;\n"
             + TURN + "\n$B:", 64),
    ),
    "the same number, by an atomic and a store": (
        "race",
        Body("mov.u32 %r9, 0;\n" + ZERO + "@%p1 st.shared.u32 [%r1], 9;\nbar.sync 0;\n"
             "@%p1 red.shared.max.u32 [%r1], 9;\n@!%p1 st.shared.u32 [%r1], 9;"),
        Body("mov.u32 %r9, 0;\n" + ZERO + "@%p1 st.shared.u32 [%r1], 9;\nbar.sync 0;\n"
             "@%p1 red.shared.max.u32 [%r1], 9;\nbar.sync 0;\n@!%p1 st.shared.u32 [%r1], 9;"),
    ),
    "a store and an atomic by one, then an atomic by another": (
        "race",
        Body("mov.u32 %r9, 0;\n" + ZERO + "@%p1 st.shared.u32 [%r1], 0;\n"
             "@%p1 red.shared.add.u32 [%r1], 1;\n@!%p1 red.shared.add.u32 [%r1], 1;"),
        Body("mov.u32 %r9, 0;\n" + ZERO + "@%p1 st.shared.u32 [%r1], 0;\nbar.sync 0;\n"
             "@%p1 red.shared.add.u32 [%r1], 1;\n@!%p1 red.shared.add.u32 [%r1], 1;"),
    ),
    "atomics on a word and on half of it": (
        "race", Body(EIGHT + "@%p1 red.shared.add.u64 [%r1], 1;\n"
                     "@!%p1 red.shared.add.u32 [%r1+4], 1;", align=8),
        Body(EIGHT + "@%p1 red.shared.add.u64 [%r1], 1;\nbar.sync 0;\n"
             "@!%p1 red.shared.add.u32 [%r1+4], 1;", align=8),
    ),
    "atomics of a thread on half of a word and on all of it, beside one on all": (
        "race", Body(EIGHT + "@%p1 red.shared.add.u32 [%r1+4], 1;\n"
                     "@%p1 red.shared.add.u64 [%r1], 1;\n"
                     "@!%p1 red.shared.add.u64 [%r1], 1;", align=8),
        Body(EIGHT + "@%p1 red.shared.add.u32 [%r1+4], 1;\nbar.sync 0;\n"
             "@%p1 red.shared.add.u64 [%r1], 1;\n@!%p1 red.shared.add.u64 [%r1], 1;", align=8),
    ),
    "a shuffle from nobody": (
        "shuffle", Body("shfl.sync.bfly.b32 %r9, %r0, 16, 31, -1;", 8),
        Body("shfl.sync.bfly.b32 %r9, %r0, 4, 31, -1;", 8),
    ),
    "a shuffle that a lane of its mask skips": (
        "warp not whole",
        Body("mov.u32 %r9, 0;\nsetp.lt.u32 %p1, %r0, 7;\n"
             "@%p1 shfl.sync.bfly.b32 %r9, %r0, 1, 31, -1;"),
        Body("mov.u32 %r9, 0;\nsetp.lt.u32 %p1, %r0, 70;\n"
             "@%p1 shfl.sync.bfly.b32 %r9, %r0, 1, 31, -1;"),
    ),
    "a warp's meeting for some of it": (
        "warp not whole",
        Body("mov.u32 %r9, 0;\nsetp.lt.u32 %p1, %r0, 7;\n@%p1 bar.warp.sync -1;\nbar.sync 0;"),
        Body("mov.u32 %r9, 0;\nsetp.lt.u32 %p1, %r0, 7;\n@%p1 bar.warp.sync 127;\nbar.sync 0;"),
    ),
    "halves of a warp meet with two masks": (
        "warp not whole",
        Body("mov.u32 %r9, 0;\n" + TWO_WAYS.format("bar.warp.sync -1;", "bar.warp.sync 0xffff;")
             + "\nbar.sync 0;"),
        Body("mov.u32 %r9, 0;\n" + TWO_WAYS.format("bar.warp.sync -1;", "bar.warp.sync -1;")
             + "\nbar.sync 0;"),
    ),
    "an input is written": (
        "input overwritten", Body("mov.u32 %r9, 0;\n" + ZERO + "@%p1 st.global.u32 [%rd9], 1;"),
        Body("mov.u32 %r9, 0;\nld.global.u32 %r8, [%rd9];"),
    ),
    "a constant is written": (
        "input overwritten",
        Body("mov.u32 %r9, 0;\n" + ZERO + "mov.u64 %rd5, C;\ncvta.const.u64 %rd5, %rd5;\n"
             "@%p1 st.u32 [%rd5], 1;", before=CONST),
        Body("mov.u32 %r9, 0;\n" + ZERO + "@%p1 st.global.u32 [G], 1;", before=CONST),
    ),
    "a division by zero": (
        "division by zero", Body("div.u32 %r9, 7, %r0;"),
        Body("mov.u32 %r9, 0;\nsetp.gt.u32 %p1, %r0, 0;\n@%p1 rem.s32 %r9, 7, %r0;"),
    ),
    "the kernel gives up": (
        "trap", Body("mov.u32 %r9, 0;\nsetp.eq.u32 %p1, %r0, 9;\n@%p1 trap;"),
        Body("mov.u32 %r9, 0;\nsetp.eq.u32 %p1, %r0, 99;\n@%p1 trap;"),
    ),
    "a loop without an end": (
        "endless", Body("mov.u32 %r9, 0;\n$A: setp.lt.u32 %p1, %r9, 1;\n@%p1 bra $A;"),
        Body("mov.u32 %r9, 0;\n$A: add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r9, 90;\n"
             "@%p1 bra $A;"),
    ),
    "a barrier, turn after turn": (
        "endless", Body("mov.u32 %r9, 0;\n$A: bar.sync 0;\nbra $A;"),
        Body("mov.u32 %r9, 0;\n$A: bar.sync 0;\nadd.u32 %r9, %r9, 1;\n"
             "setp.lt.u32 %p1, %r9, 15;\n@%p1 bra $A;"),
    ),
    "a warp's meeting, turn after turn": (
        "endless", Body("mov.u32 %r9, 0;\n$A: bar.warp.sync -1;\nbra $A;"), None
    ),
    "nothing is written": ("not written", Body("setp.eq.u32 %p1, %r0, 3;\n@%p1 ret;\n"
                                               "mov.u32 %r9, 0;"), Body("mov.u32 %r9, 0;")),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_fault_is_found_and_what_looks_like_it_is_none(name: str) -> None:
    kind, body, near = WRONG[name]
    body = ended(body)
    with pytest.raises(ptxsim.Fault, match=f"^{kind}: ") as caught:
        run(body, limit=1000)
    fault = caught.value
    if kind != "not written":
        assert fault.text in " ".join(body.text.splitlines()[fault.line - 1].split())
        assert fault.block == (0, 0) and 0 <= fault.thread < body.threads
    if near is not None:
        run(ended(near), limit=1000)


def test_lanes_that_shuffle_at_two_lines_are_refused_by_name() -> None:
    """The manual lets them: only the qualifiers and the mask have to be the same."""
    shuffle = "shfl.sync.bfly.b32 %r9, %r0, 16, 31, -1;"
    code = TWO_WAYS.format(shuffle, "add.u32 %r7, %r0, 1;\n" + shuffle)
    with pytest.raises(ptxsim.Unsupported, match=r"shfl.*other lanes .* at line \d+"):
        run(Body(code + END))


def test_every_kind_of_fault_is_planted() -> None:
    listed = ptxsim.__doc__.split("Faults\n------\n")[1].split("\n\n")[0]
    kinds = re.findall(r"^(\w[\w ]*?)  ", listed, re.M)
    assert {kind for kind, *_ in WRONG.values()} == set(kinds)


def test_there_is_room_for_many_barriers(monkeypatch) -> None:
    loop = "mov.u32 %r9, 0;\n$A: bar.sync 0;\nadd.u32 %r9, %r9, 1;\n"
    loop += "setp.lt.u32 %p1, %r9, 50;\n@%p1 bra $A;"
    run(Body(loop + END))
    for tags in (memory.IN_BLOCK, memory.IN_GRID):
        assert tags.latest > 100_000
        with monkeypatch.context() as few:
            few.setattr(tags, "latest", 40)
            with pytest.raises(
                ptxsim.Fault, match=r"^endless: line \d+, .*: bar.sync 0: "
            ):
                run(Body(loop + END))


ENDING = {
    "store": "setp.lt.u32 %p1, %r0, {};\n@%p1 st.global.u32 [%rd1], %r0;",
    "load": "setp.lt.u32 %p1, %r0, {};\n@%p1 ld.global.u32 %r9, [%rd1];",
    "copy": "cp.async.ca.shared.global [%r1], [%rd0], 16, {};",
}


@pytest.mark.parametrize("size", range(17))
@pytest.mark.parametrize("what", ENDING)
def test_an_array_ends_at_its_last_byte(what: str, size: int) -> None:
    unit = 1 if what == "copy" else 4
    for count in range(16 // unit + 1):
        text = Body(
            ENDING[what].format(count), 1 if what == "copy" else 32, align=16
        ).text
        args = np.zeros(size, "u1"), np.zeros(1, "u4")
        if count * unit <= size:
            ptxsim.run(text, 1, args, changed=[0])
            continue
        with pytest.raises(ptxsim.Fault, match="^out of bounds: "):
            ptxsim.run(text, 1, args, changed=[0])


def test_two_blocks_race_for_one_word_and_a_barrier_does_not_help() -> None:
    code = "mov.u32 %r9, %ctaid.x;\nbar.sync 0;" + END
    out, source = np.zeros(32, "u4"), np.zeros(128, "u4")
    with pytest.raises(ptxsim.Fault, match="^race: .*written twice"):
        ptxsim.run(Body(code).text, 2, (out, source), outputs=[0])
    with pytest.raises(
        ptxsim.Fault, match=r"^race: .*block \(1, 0\)"
    ):  # batch by batch
        ptxsim.run(Body(code).text, 2, (out, source), outputs=[0], lanes=32)


@pytest.mark.parametrize("lanes", [64, 4096])  # batch by batch, and all at once
@pytest.mark.parametrize(
    ("first", "second", "borne"),
    [
        (".gpu", ".sys", True), ("", ".relaxed.gpu", True), (".cta", ".cta", False),
        (".cta", ".gpu", False), ("", ".relaxed.cta", False),
    ],
)  # fmt: skip
def test_atomics_of_two_blocks_need_a_scope_that_holds_both(
    first: str, second: str, borne: bool, lanes: int
) -> None:
    code = "mov.u32 %r4, %ctaid.x;\nsetp.eq.u32 %p1, %r4, 0;\n"
    code += f"@%p1 red{first}.global.add.u32 [%rd0], 1;\nbar.sync 0;\n"
    code += f"@%p1 red{first}.global.add.u32 [%rd0], 1;\n"
    code += f"@!%p1 red{second}.global.add.u32 [%rd0], 1;"
    text, args = Body(code, 64).text, (np.zeros(1, "u4"), np.zeros(1, "u4"))
    ptxsim.run(text, 1, args, changed=[0])
    assert args[0][0] == 128
    if borne:
        ptxsim.run(text, 2, args, changed=[0], lanes=lanes)
        assert args[0][0] == 128 * 2 + 64
        return
    with pytest.raises(ptxsim.Fault, match="^race: .*by an atomic operation"):
        ptxsim.run(text, 2, args, changed=[0], lanes=lanes)


def test_the_same_number_from_several_threads_is_listed_as_benign() -> None:
    store = "mov.u32 %r9, 0;\nst.shared.u32 [%r1], 9;\nst.shared.u32 [%r3+4], %r0;"
    _, result = run(Body(store + END, shared=8192))
    (only,) = result.notes
    assert (only.kind, only.severity, only.text) == (
        "race", "benign", "st.shared.u32 [%r1], 9"
    )  # fmt: skip
    assert "several threads write the same number" in only.detail
    assert repr(result).endswith(" warp instructions, 1 benign>")
    _, result = run(Body(ZERO + "@%p1 st.shared.u32 [%r1], 9;\nmov.u32 %r9, 0;" + END))
    assert result.notes == () and "benign" not in repr(result)


# A sum of a warp as it was written before Volta: lanes were in step, so they had no barrier.
IN_STEP = "st.volatile.shared.u32 [%r3], %r0;\n" + "".join(
    f"setp.lt.u32 %p1, %r0, {half};\n@!%p1 bra $END{half};\n"
    f"ld.volatile.shared.u32 %r8, [%r3];\nld.volatile.shared.u32 %r7, [%r3+{4 * half}];\n"
    f"add.u32 %r8, %r8, %r7;\nst.volatile.shared.u32 [%r3], %r8;\n$END{half}:\n"
    for half in (16, 8, 4, 2, 1)
)


def test_a_strong_load_of_what_comes_in_no_order_is_noted_unless_it_is_a_release() -> (
    None
):
    _, result = run(Body(IN_STEP + "mov.u32 %r9, 0;" + END))
    assert {note.severity for note in result.notes} == {"unmodelled"}
    assert "other runs may read another number" in result.notes[0].detail
    for name in ("a flag, and a fence on the way", "a flag that is released"):
        _, result = run(ended(RIGHT[name][0]))
        assert result.notes == (), name


def test_the_same_number_from_several_blocks_is_benign_if_all_they_wrote_is() -> None:
    source = np.zeros(128, "u4")
    codes = {
        "mov.u32 %r9, 7;": 1,
        "mov.u32 %r9, %ctaid.x;": None,
        "mov.u32 %r9, 5;" + END + "\nbar.sync 0;\nmov.u32 %r9, 7;": None,
        "mov.u32 %r8, %ctaid.x;\nsetp.eq.u32 %p1, %r8, 0;\nmov.u32 %r9, 7;\n"
        "@%p1 st.global.u32 [%rd1], 5;\nbar.sync 0;": None,
    }
    for lanes in (32, 4096):  # batch by batch, and all at once
        for code, benign in codes.items():
            text, out = Body(code + END).text, np.zeros(32, "u4")
            if benign is None:
                with pytest.raises(ptxsim.Fault, match="^race: "):
                    ptxsim.run(text, 3, (out, source), outputs=[0], lanes=lanes)
                continue
            result = ptxsim.run(text, 3, (out, source), outputs=[0], lanes=lanes)
            assert len(result.notes) == benign and set(out.tolist()) == {7}


def test_what_is_read_by_one_and_changed_by_another_is_a_race() -> None:
    read = "xor.b32 %r4, %r2, 4;\ncvt.u64.u32 %rd4, %r4;\nadd.s64 %rd4, %rd4, %rd0;\n"
    read += "ld.global.u32 %r9, [%rd4];\n"
    with pytest.raises(ptxsim.Fault, match=r"^race: .*read by thread"):
        run(Body(read + END), outputs=[], changed=[0])
    run(Body(read + "bar.sync 0;" + END), outputs=[], changed=[0])


def test_a_counter_of_many_warps_is_remembered_in_full() -> None:
    """All other words of the array take no room for it."""
    code = "atom.global.add.u32 %r9, [%rd9], 1;\nmov.u32 %r4, %ctaid.x;\n"
    code += "mad.lo.u32 %r4, %r4, 1024, %r0;\nmul.wide.u32 %rd2, %r4, 4;\n"
    code += "add.s64 %rd1, %rd0, %rd2;\n" + END
    out, count = np.zeros(1 << 16, "u4"), np.zeros(1, "u4")
    result = ptxsim.run(
        Body(code, 1024).text, 64, (out, count), outputs=[0], changed=[1]
    )
    assert result.notes == () and sorted(out) == list(range(1 << 16))


def test_blocks_that_wait_for_later_ones_run_with_as_many_as_a_gpu_holds(
    monkeypatch,
) -> None:
    code = "mov.u32 %r9, 1;\n" + ZERO + "@%p1 red.global.add.u32 [%rd9], 1;\n"
    code += "$A: atom.global.or.b32 %r8, [%rd9], 0;\nsetp.ne.u32 %p2, %r8, 4;\n"
    code += "@%p2 bra $A;\n"
    code += "mov.u32 %r4, %ctaid.x;\nmad.lo.u32 %r4, %r4, 32, %r0;\n"
    code += "mul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd1, %rd0, %rd2;\n" + END
    text = Body(code).text

    def run_four(**options: int) -> None:
        out, count = np.zeros(128, "u4"), np.zeros(1, "u4")
        ptxsim.run(text, 4, (out, count), outputs=[0], changed=[1], **options)

    monkeypatch.setattr(launch, "LANES_THAT_WAIT", 64)
    run_four()
    late = r"^endless: .*the blocks from \(2, 0\) on have not begun"
    with pytest.raises(ptxsim.Fault, match=late):
        run_four(lanes=64)
    monkeypatch.setattr(launch, "MOST_LANES", 64)
    with pytest.raises(ptxsim.Fault, match=late):
        run_four()


def test_without_checks_only_the_numbers_count() -> None:
    out, _ = run(Body("st.shared.u32 [%r3], %r0;\n" + SWAP + END), check=False)
    assert out.tolist() == (LANE ^ 1).tolist()


@pytest.mark.parametrize("check", [True, False])
def test_a_block_goes_on_from_a_barrier_while_another_waits_for_it(check: bool) -> None:
    """Block 0 sets a flag behind its barrier; until then block 1 does not come to its."""
    code = "mov.u32 %r4, %ctaid.x;\nmad.lo.u32 %r5, %r4, 64, %r0;\n"
    code += "mul.wide.u32 %rd2, %r5, 4;\nadd.s64 %rd1, %rd0, %rd2;\nmov.u32 %r9, 3;\n"
    code += ZERO + "setp.ne.and.u32 %p2, %r4, 0, %p1;\n$A: @!%p2 bra $B;\n"
    code += "ld.volatile.global.u32 %r8, [%rd9];\nsetp.eq.u32 %p2, %r8, 0;\nbra $A;\n"
    code += "$B: bar.sync 0;\nsetp.eq.and.u32 %p2, %r4, 0, %p1;\n"
    code += "@%p2 st.volatile.global.u32 [%rd9], 1;\n" + END
    out, flag = np.zeros(128, "u4"), np.zeros(1, "u4")
    options = {"outputs": [0], "changed": [1], "check": check, "limit": 100_000}
    ptxsim.run(Body(code, 64).text, 2, (out, flag), **options)
    assert (out == 3).all()


def test_counts_of_banks_and_sectors() -> None:
    """32 words side by side; 32 words in one bank; one word; 16 bytes a thread."""
    code = "st.shared.u32 [%r3], 1;\nshl.b32 %r5, %r0, 7;\nadd.s32 %r5, %r5, %r1;\n"
    code += (
        "st.shared.u32 [%r5+256], 2;\nshl.b32 %r6, %r0, 4;\nadd.s32 %r6, %r6, %r1;\n"
    )
    code += "bar.sync 0;\nld.shared.u32 %r9, [%r1];\nbar.sync 0;\n"
    code += "st.shared.v4.u32 [%r6], {%r0, %r0, %r0, %r0};\n"
    code += "ld.global.u32 %r8, [%rd9+64];"
    _, result = run(Body(code + END, align=16, shared=8192), profile=True)
    found = {c.instruction.text: c for c in result.counts if c.turns or c.requests}
    waves = [(c.wavefronts, c.turns) for c in found.values() if c.turns]
    assert waves == [(1, 1), (32, 1), (1, 1), (4, 4)]
    sectors = [(c.sectors, c.requests) for c in found.values() if c.requests]
    assert sectors == [(1, 1), (4, 1)]


SCALARS = [x for x in OPCODES if x.startswith("ld.param") and ".v" not in x]


def scalars() -> str:
    """A kernel that adds up numbers of every type, which are its arguments."""
    kinds = [opcode.split(".")[-1] for opcode in SCALARS]
    given = ", ".join(f".param .{kind} q{i}" for i, kind in enumerate(kinds))
    lines = ["mov.f64 %d1, 0d0000000000000000;"]
    for i, (opcode, kind) in enumerate(zip(SCALARS, kinds, strict=True)):
        wide = kind.replace("b", "u")
        register = {"f32": "%f1", "f64": "%d2", "8": "%rd3"}.get(kind, "%rd3")
        if kind[0] != "f" and kind[1:] != "64":
            register = "%r3" if kind[1:] == "32" else "%h3"
        lines.append(f"{opcode} {register}, [q{i}];")
        if kind != "f64":
            way = "cvt.f64.f32" if kind == "f32" else f"cvt.rn.f64.{wide}"
            lines.append(f"{way} %d2, {register};")
        lines.append("add.f64 %d1, %d1, %d2;")
    lines += ["ld.param.u64 %rd1, [p4];", "st.global.f64 [%rd1], %d1;"]
    return ptx.MODULE.format(
        target="sm_90a", before="", threads=1, body="\n".join(lines),
        parameters=f"{ptx.parameters(1)}, {given}",
    )  # fmt: skip


def test_numbers_are_handed_over_as_they_are() -> None:
    out = np.zeros(1)
    kinds = [opcode.split(".")[-1] for opcode in SCALARS]
    names = {"b": "uint", "u": "uint", "s": "int", "f": "float"}
    given = [
        getattr(np, f"{names[kind[0]]}{kind[1:]}")(i + 1)
        for i, kind in enumerate(kinds)
    ]
    ptxsim.run(scalars(), 1, (out, *given), outputs=[0])
    assert out[0] == sum(range(1, len(kinds) + 1))


COPIES = [x for x in OPCODES if x.startswith("cp.async.c") and "commit" not in x]


def test_every_form_of_a_copy() -> None:
    out, _ = run(every_copy())
    assert out.tolist() == (4 * LANE).tolist()


def every_copy() -> Body:
    lines = FLY.splitlines()[:4]
    lines += [f"{opcode} [%r4], [%rd3], 16;\ncp.async.wait_all;" for opcode in COPIES]
    return Body("\n".join([*lines, "ld.shared.u32 %r9, [%r4];"]) + END, align=16)


# ---- the assembler that is not ours ----

PTXAS = list(VENV.glob("lib/*/site-packages/nvidia/cuda_nvcc/bin/ptxas"))


def kernels() -> list[str]:
    """Every text of these tests, and all opcodes of test_ptxsim_numbers.py."""
    bodies = [body for body, _ in RIGHT.values()] + [
        body for _, body, _ in WRONG.values()
    ]
    bodies += [near for *_, near in WRONG.values() if near]
    # With lines of several files in one text, ptxas 13 ends by a segmentation fault.
    bodies = [body for body in bodies if ".loc 1" not in body.code]
    bodies += [*(every_access(space) for space in PLACES), every_copy()]
    bodies += [atomic_body(opcode) for opcode in ATOMICS]
    bodies += [Body(f"{opcode} %r9, %r0, -1;{END}") for opcode in REDUX]
    bodies += [
        Body(f"shfl.sync.{mode}.b32 %r9, %r0, 1, 31, -1;{END}")
        for mode in ("up", "down", "idx")
    ]
    groups: dict[tuple, list[str]] = {}
    for opcode in OPCODES:
        if opcode.split(".")[0] not in APART:
            groups.setdefault(tuple(ptx.signature(opcode)[1]), []).append(opcode)
    texts = [ptx.text_of(group) for group in groups.values()]
    texts.append(ptx.text_of(["lop3.b32"], ("0x1a",)))
    texts += [ptx.mma_text(opcode) for opcode in OPCODES if opcode.startswith("mma")]
    texts += [ptx.ldmatrix_text(x) for x in OPCODES if x.startswith("ldmatrix")]
    slots = [x for x in OPCODES if ".param." in x]
    texts.append(ptx.policies([x for x in OPCODES if x.startswith("createpolicy")]))
    return [body.text for body in bodies] + [*texts, scalars(), ptx.calls(slots)]


APART = (
    "ld",
    "st",
    "atom",
    "red",
    "cp",
    "bra",
    "ret",
    "exit",
    "trap",
    "bar",
    "barrier",
)
APART += ("shfl", "vote", "redux", "match", "activemask", "membar", "fence", "cvta")
APART += ("lop3", "mma", "ldmatrix", "brx", "call", "createpolicy", *HINTS)


def one_file(texts: list[str]) -> str:
    """Many modules as one: each kernel and its variables get names of their own."""
    head = "\n".join(texts[0].splitlines()[:3]) + "\n"
    found = []
    for i, text in enumerate(texts):
        body = "\n".join(text.splitlines()[3:])
        for name in ("k", "S", "C", "G", "D", "E"):
            body = re.sub(rf"(?<![\w%$]){name}(?=[(\[;+ \]])", f"{name}_{i}", body)
        body = re.sub(r"(?<![\w%])([pq])(\d+)(?=[\],)])", rf"\g<1>{i}_\2", body)
        body = re.sub(r"(?<![\w%$.])f(?=[(,])", f"f_{i}", body)
        found.append(re.sub(r"\$(\w)", rf"$L{i}_\1", body))
    return head + "\n".join(found)


@pytest.mark.skipif(
    not PTXAS and not os.environ.get("CI"), reason="no ptxas in .venv-gpu"
)
def test_nvidia_s_assembler_takes_every_text(tmp_path: Path) -> None:
    file = tmp_path / "all.ptx"
    file.write_text(one_file(kernels()), "ascii")
    command = [PTXAS[0], "-arch=sm_90a", "-O0", "-o", tmp_path / "out", file]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert not done.returncode, done.stderr[:3000]


def test_every_opcode_stands_in_a_text() -> None:
    written = set().union(*(ptx.words(text) for text in kernels()))
    assert {
        x for x in OPCODES if not (".v4." in x and x.endswith("64"))
    } - written == set()
