"""Faults planted in Triton's kernels: ptxsim's verdict is that of a check of all pairs.

`python -m tools.faults.ptx` plants every change, and writes the table. These tests plant
some of each kind in each text; addresses and guards only in one text of each kernel.
"""

from collections import Counter
from datetime import date
from itertools import groupby

import numpy as np
import pytest

import ptx
import ptxsim
from ptxsim import memory
from ptxsim.access import Access
from tests.ptxsim.happens_before import Log
from tools.common import records
from tools.faults import ptx as planted
from triton_ptx import TEXTS

# How many changes of a kind are planted in each text.
TAKEN = {"barrier removed": 4, "commit removed": 2, "release removed": 3}
# The first text of each kernel. The others differ in what is ordered and when, but not in
# how an address is checked.
FIRST = {TEXTS[x]["kernel"]: x for x in reversed(planted.CASES)}.values()
ORDER = {"barrier removed", "commit removed", "wait removed", "wait for one group less"}
TABLE = records.load(planted.FILE)


def some(text: planted.Text) -> list[planted.Change]:
    """Return some changes of each kind, spread over the text."""
    found = []
    for what, group in groupby(planted.changes(text), lambda change: change.what):
        if text.name not in FIRST and what not in ORDER:
            continue
        own = list(group)
        step = -(-len(own) // TAKEN.get(what, 1))
        found += own[step // 2 :: step]
    return found


@pytest.mark.parametrize("text", planted.TEXTS, ids=planted.CASES)
def test_verdicts_are_those_of_a_check_of_all_pairs(text: planted.Text) -> None:
    chosen = some(text)
    rows, wrong = planted.plant(text, chosen.__contains__)
    assert wrong == []
    assert sum(row[2] for row in rows) == len(chosen)


# ---- the table ----


def test_the_table_says_where_it_comes_from() -> None:
    source = planted.source()
    assert {key: TABLE[key] for key in ("what", "command", "columns")} == {
        key: source[key] for key in ("what", "command", "columns")
    }
    assert TABLE["versions"].keys() == source["versions"].keys()
    assert date.fromisoformat(TABLE["date"])


def test_the_table_has_every_change_and_all_that_count_are_found() -> None:
    places = Counter(
        (text.name, change.what)
        for text in planted.TEXTS
        for change in planted.changes(text)
    )
    rows = [dict(zip(TABLE["columns"], row, strict=True)) for row in TABLE["rows"]]
    assert {(x["text"], x["change"]): x["planted"] for x in rows} == places
    for row in rows:
        assert row["found"] == row["counts"]
        classes = ("not executed", "counts", "numbers only", "redundant")
        assert sum(row[name] for name in classes) == row["planted"]
        assert len(row["lines"]) == row["redundant"]


# ---- what the tests stand on ----


def first(name: str, what: str, which: int = 0) -> planted.Change:
    return [x for x in planted.changes(planted.archived(name)) if x.what == what][which]


def complaints(change: planted.Change) -> list[str]:
    return planted.plant(change.text, change.__eq__)[1]


def test_a_fault_that_is_not_found_is_a_complaint(monkeypatch) -> None:
    monkeypatch.setattr(memory.Space, "settle", lambda self: None)  # nobody reads
    (said,) = complaints(first("softmax", "barrier removed", 1))
    assert "(as launched): not found" in said


def test_a_fault_that_is_none_is_a_complaint(monkeypatch) -> None:
    monkeypatch.setattr(Access, "wait", lambda self, left, act: None)
    said = " ".join(complaints(first("matmul-fp16-2-stages", "barrier removed")))
    assert "(as launched): no fault: copy under way" in said


FILL = """.shared .align 16 .b8 S[256];
mov.u32 %r0, %tid.x;
ld.param.u64 %rd1, [p4];
shl.b32 %r1, %r0, 2;
mov.u32 %r2, S;
add.u32 %r3, %r1, %r2;
xor.b32 %r4, %r1, {far};
add.u32 %r4, %r4, %r2;
mul.wide.u32 %rd2, %r0, 4;
add.s64 %rd1, %rd1, %rd2;
"""
STORE, LOAD = "st.shared.u32 [%r3], %r0;\n", "ld.shared.u32 %r5, [%r4];\n"
COPY = "cp.async.ca.shared.global [%r3], [%rd1], 4;\ncp.async.commit_group;\n"
WAIT, MEET = "cp.async.wait_group 0;\n", "bar.sync 0;\n"
# A body, how far away a thread reads, and what is wrong with it.
SMALL = [
    (STORE + MEET + LOAD, 128, set()),
    (STORE + LOAD, 0, set()),
    (STORE + LOAD, 128, {"race"}),
    (STORE + LOAD, 4, {"race"}),
    (STORE + "bar.warp.sync -1;\n" + LOAD, 4, set()),
    (STORE + "bar.warp.sync -1;\n" + LOAD, 128, {"race"}),
    (STORE + MEET + LOAD + STORE, 128, {"race"}),
    (STORE + MEET + LOAD + MEET + STORE, 128, set()),
    (LOAD, 0, {"uninitialised"}),
    (COPY + WAIT + MEET + LOAD, 128, set()),
    (COPY + WAIT + LOAD, 0, set()),
    (COPY + WAIT + LOAD, 128, {"race"}),
    (COPY + MEET + LOAD, 0, {"copy under way"}),
    (COPY + MEET + WAIT + LOAD, 128, {"race"}),
    (COPY + COPY + WAIT.replace("0", "1") + MEET + LOAD, 128, {"copy under way"}),
    (STORE + MEET + LOAD, 256, {"out of bounds"}),
    (STORE + MEET + LOAD, 2, {"misaligned", "out of bounds"}),
    ("st.shared.u32 [S], 3;\n", 0, set()),
    ("st.shared.u32 [S], %r0;\n", 0, {"race"}),
    (STORE + "red.shared.add.u32 [%r4], 1;\n", 0, set()),
    (STORE + MEET + "red.shared.add.u32 [S], 1;\n", 0, set()),
    (STORE + MEET + "red.shared.add.u32 [S], 1;\n" + LOAD, 0, {"race"}),
    ("st.global.u32 [%rd1], 1;\n", 0, {"input overwritten"}),
]


# The same where the array that is copied may be written, by the thread itself or by one of
# the other warp.
OWN = "st.global.u32 [%rd1], %r0;\n"
OTHER = "xor.b64 %rd3, %rd1, 128;\nst.global.u32 [%rd3], %r0;\n"
SOURCES = [
    (COPY + WAIT + OWN, set()),
    (COPY + OWN + WAIT, {"copy under way"}),
    (COPY + MEET + OTHER + MEET + WAIT, {"copy under way"}),
    (COPY + MEET + WAIT + OTHER, {"race"}),
    (COPY + WAIT + MEET + OTHER, set()),
    (OTHER + COPY + WAIT, {"race"}),
]


@pytest.mark.parametrize("body, far, kinds", SMALL)
def test_the_oracle_knows_small_kernels(body: str, far: int, kinds: set) -> None:
    check(FILL.format(far=far) + body, [], kinds)


@pytest.mark.parametrize("body, kinds", SOURCES)
def test_the_oracle_knows_what_copies_read(body: str, kinds: set) -> None:
    check(FILL.format(far=0) + body, [0], kinds)


def check(body: str, changed: list[int], kinds: set[str]) -> None:
    """Compare what the oracle finds, and the fault that ptxsim raises, with some kinds."""
    text, args = ptx.module(body, 2, 64), (np.zeros(64, "u4"), np.zeros(64, "u4"))
    log = Log(args, [], changed, 0)
    ptxsim.run(text, 1, args, changed=changed, check=False, step=log)
    assert {conflict.kind for conflict in log.conflicts()} == kinds
    for how in planted.RECORDS:
        fault = None
        try:
            with planted.recorded(how):
                ptxsim.run(text, 1, args, changed=changed)
        except ptxsim.Fault as raised:
            fault = raised
        assert fault.kind in kinds if fault else not kinds


SHARE = """mov.u32 %r0, %tid.x;
ld.param.u64 %rd1, [p4];
ld.param.u64 %rd2, [p11];
setp.eq.u32 %p1, %r0, 0;
setp.ne.u32 %p2, %r0, 32;
@!%p1 bra $TAKE;
st.global.u32 [%rd1], 7;
{give}
$TAKE:
@%p2 bra $END;
$SPIN:
ld.acquire.gpu.global.u32 %r3, [%rd2];
setp.eq.u32 %p3, %r3, 0;
@%p3 bra $SPIN;
{take}
$END:
"""
READ = "ld.global.u32 %r4, [%rd1];"
PUBLISHED = [
    ("st.release.gpu.global.u32 [%rd2], 1;", READ, set()),
    ("st.relaxed.gpu.global.u32 [%rd2], 1;", READ, {"race"}),
    ("fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd2], 1;", READ, set()),
    ("atom.acq_rel.gpu.global.exch.b32 %r9, [%rd2], 1;", READ, set()),
    ("atom.relaxed.gpu.global.exch.b32 %r9, [%rd2], 1;", READ, {"race"}),
    # A release is for its own address.
    (
        "st.release.gpu.global.u32 [%rd2+4], 1; st.relaxed.gpu.global.u32 [%rd2], 1;",
        READ,
        {"race"},
    ),
]


@pytest.mark.parametrize("give, take, kinds", PUBLISHED)
def test_the_oracle_knows_what_is_published(give: str, take: str, kinds: set) -> None:
    text = ptx.module(SHARE.format(give=give, take=take), 2, 64)
    args = np.zeros(4, "u4"), np.zeros(4, "u4")
    log = Log(args, [], [0, 1], 0)
    ptxsim.run(text, 1, args, check=False, changed=[0, 1], step=log)
    assert {conflict.kind for conflict in log.conflicts()} == kinds
