"""What the figures of chapters 7 to 9 say, in every state, held to the library.

The numbers are tested elsewhere; here it is the sentences that stand for them. A fact
is a piece of text that has to be said in that state, made from the library alone.
"""

import html
import math
import re
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pytest

import blocksim
from livepage import figures
from livepage.figures import registry
from onlinesoftmax import costs
from onlinesoftmax.gpu import Build, reports

coalescing = registry.module("coalescing")
gpu_ladder = registry.module("gpu-ladder")
kernel_race = registry.module("kernel-race")
smem_budget = registry.module("smem-budget")
tile_walk = registry.module("tile-walk")

State = dict[str, object]
Facts = Iterator[tuple[State, list[str]]]
SCARCE = {"en": ("threads", "places for blocks", "registers", "shared memory"),
          "es": ("los hilos", "los puestos para bloques", "los registros",
                 "la memoria compartida")}  # fmt: skip


def said(figure: str, state: State, language: str) -> str:
    """The sentence under a figure."""
    still = figures.still(figure, state, language)
    return html.unescape(
        re.sub(r"<[^>]+>", "", re.search(r'<p class="os-say">(.*?)</p>', still)[1])
    )


def rounded(x: float, decimals: int = 0) -> str:
    """A number as the figures write it, halves upwards."""
    return f"{math.floor(x * 10**decimals + 0.5) / 10**decimals:.{decimals}f}"


def percent(part: float) -> str:
    return f"{rounded(100 * part, 1)}%"


# ---- the facts ----


def such(blocks: int, language: str) -> str:
    """So many blocks, in words that fit one as well."""
    if language == "es":
        return f" {blocks} de esos bloques"
    return f" {blocks} such block" + ("s," if blocks > 1 else ",")


def budget(language: str) -> Facts:
    """Registers, blocks and the scarcest thing, as the compiler and the lib have it."""
    for values in product(*smem_budget.SIZES.values()):
        state = dict(zip(smem_budget.SIZES, values))
        report = smem_budget.found(state)
        facts = [f"{rounded(report.shared / 1024, 1)} KiB"]
        if report.registers is None:
            yield state, [*facts, "48 KiB"]
            continue
        fit = report.occupancy
        least = [name for name, limit in zip(SCARCE[language],
                 (fit.limits[key] for key in smem_budget.RESOURCES))
                 if limit == fit.blocks]  # fmt: skip
        join = " and " if language == "en" else " y "
        yield state, [*facts, f" {report.threads} ", f" {report.registers} ",
                      such(fit.blocks, language), rounded(100 * fit.share) + "%",
                      f": {join.join(least)}."]  # fmt: skip


def ladder(language: str) -> Facts:
    """What each rung reads and takes."""
    for d, device in product(gpu_ladder.WIDTHS, gpu_ladder.ARCHS):
        found = [
            reports.stored(rung, d, gpu_ladder.ARCHS[device])
            for rung in gpu_ladder.RUNGS
        ]
        per_product = Build.shipped("registers", d).reads_per_product
        reads = [costs.key_reads(gpu_ladder.N, each.block_q) for each in found[1:]]
        facts = [f" {count} " for count in reads]
        facts += [f"{each.registers}" for each in found]
        facts += [rounded(100 * each.occupancy.share) + "%" for each in found]
        facts += [str(each.spills) for each in found[:2] if each.spills]
        facts += [f"{per_product:.2f}".rstrip("0"), device]
        yield {"d": d, "device": device, "third": True}, facts


def walk(language: str) -> Facts:
    """The last tile, and what was met, by the library's walk."""
    for mask, rows, columns, order in product(
        tile_walk.MASKS, (1, 3, 4), (2, 4, 8), ("queries", "keys")
    ):
        state = {
            "mask": mask,
            "rows": rows,
            "columns": columns,
            "order": order,
            "n": 16,
            "step": 256,
        }
        truth = tile_walk.expected(state)
        now, to = truth["now"], " to " if language == "en" else " a "
        spans = [f"{first + 1}{to}{stop}" if first + 1 < stop else f" {stop}"
                 for first, stop in (now["rows"], now["keys"])]  # fmt: skip
        yield (
            state,
            [
                *spans,
                percent(truth["work"]),
                percent(truth["seen"]),
                *(f" {count}" for count in truth["counts"]),
            ],
        )


def loads(language: str) -> Facts:
    """The pieces of a load, and how busy the arithmetic is."""
    for stride, start, warps in product((0, 1, 2, 3, 8, 32), (0, 1, 31), (1, 6, 7)):
        state = {"stride": stride, "start": start, "warps": warps}
        truth = coalescing.expected(state)
        run = "i" if stride == 1 else f"{stride}·i"
        facts = [
            f" {start} + {run}" if start and stride else f" {run if stride else start}"
        ]
        if truth["transactions"] > 1:
            facts += [
                f" {truth['transactions']} ",
                f" {truth['moved']:,} bytes",
                f" {truth['used']} ",
            ]
        if truth["busy"] < 1:
            facts += [rounded(100 * truth["busy"]) + "%"]
        yield state, facts


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize(
    ("figure", "facts"),
    [("smem-budget", budget), ("gpu-ladder", ladder), ("tile-walk", walk),
     ("coalescing", loads)],
)  # fmt: skip
def test_what_is_said_is_what_the_library_finds(
    figure: str, facts: Callable[[str], Facts], language: str
) -> None:
    for state, wanted in facts(language):
        sentence = said(figure, state, language)
        missing = [fact for fact in wanted if fact not in sentence]
        assert not missing, (state, missing, sentence)


# ---- what the predictions explain ----


def test_halving_a_tile_makes_no_room_where_registers_have_run_out() -> None:
    half = dict(smem_budget.HALF)
    for tile in (16, 32):
        report = smem_budget.found(half | {"tile": tile})
        fit, registers = report.occupancy, report.registers * report.threads
        assert fit.limit == "registers" and fit.limits["shared"] > fit.blocks == 3
        assert 0.9 * 65536 < fit.blocks * registers <= 65536
        assert (fit.blocks + 1) * registers > 65536
    options = registry.strings("smem-budget")["en"]["options"]
    assert options[smem_budget.SPEC.prediction.answer] == "Not one more"


def test_rung_3_fetches_each_key_twice_as_often_as_rung_2_at_64() -> None:
    _, tiled, registers = (Build.shipped(rung, 64) for rung in gpu_ladder.RUNGS)
    assert (registers.block_q, tiled.block_q) == (64, 128)
    assert registers.reads_per_product < 0.5 < tiled.reads_per_product


def test_a_column_moves_eight_times_a_row() -> None:
    row, column = (
        coalescing.expected({"stride": s, "start": 0, "warps": 1}) for s in (1, 32)
    )
    assert (row["transactions"], column["transactions"]) == (4, 32)
    assert np.isclose(1 - column["share"], 7 / 8)


# ---- the race ----

MEETINGS = """
def kernel(x, out):
    t = cuda.threadIdx.x
    s = cuda.shared.array(4, float32)
    s[t] = x[t]
    MEET
    out[PLACE] = s[3 - t]
"""


@pytest.mark.parametrize(
    ("meet", "place", "says"),
    [
        ("cuda.syncthreads()", "t", "This run has no race"),
        ("cuda.syncwarp()", "t", "they wait for each other without a barrier"),
        ("pass", "t", "This kernel has a race"),
        ("cuda.syncthreads()", "0", "a race in global memory, not drawn"),
        ("cuda.syncwarp()", "0", "a race in global memory, not drawn"),
        ("cuda.syncthreads()", "t + 1", "The run stopped early"),
    ],
)
def test_the_race_s_figure_has_the_simulator_s_verdict(meet, place, says) -> None:
    source = MEETINGS.replace("MEET", meet).replace("PLACE", place)
    ones = np.ones(4, np.float32)
    kernel = blocksim.load(source, "kernel", whole=False)
    report = blocksim.run(kernel, 1, 4, ones, 0 * ones, log=True)
    log = report.log | {"source": source}
    last = max(1, len(log["blocks"][-1]["phases"]))
    sentence = said("kernel-race", {"kernel": "yours", "log": log, "step": last}, "en")
    assert says in sentence
    assert ("no race" in sentence) == (not report.faults)


def test_atomic_changes_are_not_said_to_be_reads() -> None:
    """The last phase says no more of the others than that none has a race."""
    source = MEETINGS.replace("MEET", "cuda.syncwarp()").replace("PLACE] = ", "t] = ")
    source += "    cuda.syncthreads()\n    cuda.atomic.add(s, 0, x[t])\n"
    kernel = blocksim.load(source, "kernel", whole=False)
    ones = np.ones(4, np.float32)
    report = blocksim.run(kernel, 1, 4, ones, 0 * ones, log=True)
    log = report.log | {"source": source}
    first, last = (
        said("kernel-race", {"kernel": "yours", "log": log, "step": k}, "en")
        for k in (1, 2)
    )
    assert not report.faults and "without a barrier" in first
    assert "No two threads collide." in last and "This run has no race" in last


def test_touches_collide_exactly_where_the_simulator_finds_a_race() -> None:
    """As long as barriers alone order them, every collision is a race."""
    for state in kernel_race.states(np.random.default_rng(3)):
        found = kernel_race.expected(state)
        assert not any(phase["ordered"] for phase in found["phases"])
        assert found["race"] == any(phase["clashes"] for phase in found["phases"])
