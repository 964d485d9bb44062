"""What the figures of chapters 7 to 9 and of that on CPUs say, held to the library.

The numbers are tested elsewhere; here it is the sentences that stand for them. A fact
is a piece of text that has to be said in that state, made from the library alone.
"""

import html
import re
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pytest

import blocksim
from kernellab import counts, reports
from livepage import figures
from livepage.figures import registry
from tiledattention.gpu import Build
from tiledattention.gpu.rungs import registers as rung_3

banks = registry.module("banks")
coalescing = registry.module("coalescing")
cpu_blocks = registry.module("cpu-blocks")
cost_by_line = registry.module("cost-by-line")
gpu_ladder = registry.module("gpu-ladder")
kernel_race = registry.module("kernel-race")
smem_budget = registry.module("smem-budget")
three_texts = registry.module("six-steps")
tile_lives = registry.module("where-a-tile-lives")
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
    """A number as the figures write it."""
    return f"{x:.{decimals}f}"


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
    """What a pair of a query and a key costs on each rung, and the rung below it."""
    for d, device, upto in product(
        gpu_ladder.WIDTHS, gpu_ladder.ARCHS, range(1, len(gpu_ladder.RUNGS) + 1)
    ):
        arch = gpu_ladder.ARCHS[device]
        facts = [
            device,
            f"{100 * gpu_ladder.bound(gpu_ladder.RUNGS[upto - 1], d, device):.0f}%",
        ]
        for rung in gpu_ladder.RUNGS[max(upto - 2, 0) : upto]:
            found = counts.stored(rung, d, arch)
            per_pair = found.warp_instructions * 32 / found.pairs
            facts.append(rounded(per_pair))
            facts += [
                f" {rounded(x / found.pairs, 2).rstrip('0').rstrip('.')}"
                for x in (found.sectors, found.wavefronts)
            ]
        report = reports.stored(gpu_ladder.RUNGS[upto - 1], d, arch)
        facts.append(f" {report.registers} ")
        facts.append(f" {report.occupancy.blocks * report.threads // 32} warps")
        yield {"d": d, "device": device, "upto": upto}, facts


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


def grouped(number: int, language: str) -> str:
    """A number with its thousands apart, as each language has them."""
    if language == "en":
        return f"{number:,}"
    return str(number) if number < 10_000 else f"{number:,}".replace(",", "\u202f")


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
                f" {grouped(truth['moved'], language)} bytes",
                f" {truth['used']} ",
            ]
        if truth["busy"] < 1:
            facts += [rounded(100 * truth["busy"]) + "%"]
        yield state, facts


def queues(language: str) -> Facts:
    """How many wavefronts, in how many parts; and which addresses are refused."""
    many, one, everybody, in_all, stops = {
        "en": ("wavefronts", "one wavefront", "to all of them", "in all",
               "a GPU stops with an error"),
        "es": ("tandas", "una tanda", "a todos", "en total",
               "una GPU se detiene con un error"),
    }[language]  # fmt: skip
    for reads, row, pad, at_once in product(
        banks.READS, (16, 24, 32, 33, 64), (0, 1, 2, 4), banks.AT_ONCE
    ):
        state = {"reads": reads, "row": row, "pad": pad, "at_once": at_once}
        truth = banks.expected(state)
        count, parts = truth["wavefronts"], truth["parts"]
        facts = [f" {row + pad} "] if reads in ("column", "eight") else []
        if not truth["aligned"]:
            yield state, [*facts, stops, f" {4 * at_once} bytes", f" {row + pad} "]
        elif at_once == 1:
            facts += [f" {truth['banks']} "] if count > 1 < truth["banks"] else []
            facts += [everybody] if reads == "same" else []
            yield state, [*facts, f": {count} {many}." if count > 1 else one]
        else:
            total = f": {count} " + (in_all if count == parts else many)
            yield state, [*facts, f" {parts} part", f" {32 // parts} ", total]


def lines(language: str) -> Facts:
    """What all of a kernel executes, and what each of its lines does."""
    line = {"en": "Line", "es": "Línea"}[language]
    for rung, found in cost_by_line.COUNTED.items():
        total, most = found.warp_instructions, cost_by_line.costliest(rung)
        costs_most = max(sum(row[4:]) for row in cost_by_line.KERNELS[rung]["rows"])
        in_all = rounded(found.a_pair(total), 1)
        fma = rounded(100 * found.by_kind()["fma"] / total) + "%"
        facts = [
            f" {rung}: {in_all} ",
            f" {fma} ",
            f" {most} ",
            percent(costs_most / total),
        ]
        yield {"rung": rung, "bars": True}, facts
        for at, to, _, text, *_ in cost_by_line.KERNELS[rung]["rows"]:
            own = sum(cost_by_line.within(found, at, to))
            cost = rounded(found.a_pair(own), 1)
            facts = [] if cost == "0.0" else [f" {cost} ", in_all, percent(own / total)]
            facts += (
                [f"{line} {at}, "] if text else [f" {at} ", f" {to}:"] if at else []
            )
            yield {"rung": rung, "line": str(at)}, facts


def measured_blocks(language: str) -> Facts:
    """Each stored time, the least of them, and what the block and its tile take."""
    found = cpu_blocks.times(cpu_blocks.FOUND)
    times = "times" if language == "en" else "veces"
    for (i, block), (j, tile) in product(
        enumerate(cpu_blocks.BLOCKS), enumerate(cpu_blocks.TILES)
    ):
        bytes_used = 4 * (2 * block * 64 + 2 * tile * 64 + block * tile)
        facts = [
            f" {grouped(block, language)} ",
            f" {grouped(tile, language)} ",
            f": {found[i, j]:.1f} ms",
        ]
        facts += [
            f" {grouped(bytes_used // 1024, language)} KiB",
            f" {-(-cpu_blocks.N // block)} {times}",
        ]
        if found[i, j] > found.min():
            facts += [f" {rounded(found[i, j] / found.min(), 2)} {times}"]
            facts += [f" {found.min():.1f} ms"]
        yield {"block": block, "tile": tile, "all": True}, facts


def homes(language: str) -> Facts:
    """What a block and its tile take together, and the first cache that holds it."""
    words = registry.strings("where-a-tile-lives")[language]
    for core, (_, *caches) in tile_lives.CORES.items():
        names = [*words["places"][1 : 1 + len(caches)], words["memory"]]
        for block, tile, d in product((16, 64, 512), (8, 96, 1024), (32, 128)):
            kib = 4 * (2 * block * d + 2 * tile * d + block * tile) / 1024
            size = f"{kib:g} KiB" if kib < 1024 else f"{rounded(kib / 1024, 1)} MiB"
            home = names[sum(kib > cache for cache in caches)]
            join = "together" if language == "en" else "en total"
            live = "live in" if language == "en" else "viven en"
            yield (
                {"block": block, "tile": tile, "d": d, "core": core},
                [f" {size.replace('.0 ', ' ')} {join}", f"{live} {home}."],
            )


def texts(language: str) -> Facts:
    """What each step costs in the compiled texts, and who writes waits and barriers."""
    numba, triton = map(three_texts.a_product, three_texts.COMPILED)
    for k in range(len(three_texts.STEPS)):
        facts = [f" {rounded(own[k].sum(), 2)} " for own in (numba, triton)]
        yield {"step": k + 1}, facts
    both = [rounded(own.sum(), 1) for own in (numba, triton)]
    yield {"step": len(three_texts.STEPS)}, [f" {number}" for number in both]
    waits, barriers = {"en": ("waits", "barriers"), "es": ("esperas", "barreras")}[
        language
    ]
    static = three_texts.triton()["static"]
    for written in ((2, 2), (len(static["waits"]), static["barriers"])):
        yield (
            {"step": 1},
            [f"({waits}: {written[0]}, {barriers}: {written[1]})"],
        )


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize(
    ("figure", "facts"),
    [("smem-budget", budget), ("gpu-ladder", ladder), ("tile-walk", walk),
     ("coalescing", loads), ("banks", queues), ("cost-by-line", lines),
     ("cpu-blocks", measured_blocks), ("where-a-tile-lives", homes),
     ("six-steps", texts)],
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


def test_an_mma_is_one_of_more_than_five_instructions() -> None:
    """As six-steps explains: 2048 products, few reads, and then number by number."""
    costs = dict(zip(three_texts.STEPS, three_texts.a_product("numba")))
    found = three_texts.counts.stored("tensor", 64, "sm_80", dtype="float16")
    kinds = found.by_kind()
    assert kinds["tensor"] * 2048 == found.pairs * 2 * 64
    assert found.warp_instructions > 5 * kinds["tensor"] > 10 * kinds["shared"]
    assert costs["weights"].sum() + costs["rescale"].sum() > 1


def test_rung_2_saves_sectors_before_anything_else() -> None:
    naive, tiled = (counts.stored(rung, 64, "sm_80") for rung in gpu_ladder.RUNGS[:2])
    assert tiled.sectors < naive.sectors / 10
    assert naive.warp_instructions / 2 < tiled.warp_instructions
    products = [each.by_kind()["fma"] for each in (naive, tiled)]
    assert np.isclose(*products, rtol=0.01)
    assert gpu_ladder.SPEC.prediction.answer == 1


def test_times_that_the_question_does_not_fit_stop_the_build() -> None:
    """Where larger blocks pay, the right answer would be another one."""
    found, across = cpu_blocks.FOUND, len(cpu_blocks.TILES)
    faster = [[row[0], *[90 - 9 * i] * across] for i, row in enumerate(found.rows)]
    with pytest.raises(ValueError, match="the largest block to take 0.9 times as long"):
        cpu_blocks.tile_of_the_question(found._replace(rows=faster))
    with pytest.raises(ValueError, match="expected L1 and L2, got .*48.*: L2 missing"):
        cpu_blocks.own_caches(found._replace(caches={"L1": 48}))


def test_each_thing_of_the_question_fits_where_all_of_them_do_not() -> None:
    """And the sizes that the question states are those of its block and its core."""
    state = tile_lives.SPEC.defaults() | tile_lives.ASKED
    found = tile_lives.expected(state)
    assert found["sizes"][1:6] == [16, 16, 8, 16, 56]
    assert found["places"][1:6] == [1, 1, 1, 1, 2]
    assert tile_lives.CORES[state["core"]][1] == 32
    assert tile_lives.SPEC.prediction.answer == 1


def test_a_column_moves_eight_times_a_row() -> None:
    row, column = (
        coalescing.expected({"stride": s, "start": 0, "warps": 1}) for s in (1, 32)
    )
    assert (row["transactions"], column["transactions"]) == (4, 32)
    assert np.isclose(1 - column["share"], 7 / 8)


def test_one_number_of_padding_ends_the_queue_of_a_column() -> None:
    column = banks.expected(banks.COLUMN)
    padded = banks.expected(banks.COLUMN | {"pad": 1})
    assert (column["banks"], column["wavefronts"]) == (1, 32)
    assert (padded["banks"], padded["wavefronts"]) == (32, 1)


def test_the_keys_of_register_tiles_are_padded_as_the_figure_pads_them() -> None:
    """Rung 3's threads, eight side by side, read eight keys, four numbers at once."""
    _, keys, padded = (banks.SPEC.defaults() | each for each in banks.SPEC.presets[1:])
    size = Build.shipped("registers", keys["row"])
    assert size.block_k == 8 * rung_3.SIDE == 8 * keys["at_once"]
    assert padded == keys | {"pad": rung_3.PAD * rung_3.SIDE}
    taken = [banks.expected(state)["wavefronts"] for state in (keys, padded)]
    assert taken == [32, keys["at_once"]]


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
    x = np.arange(4, dtype=np.float32)
    kernel = blocksim.load(source, "kernel", whole=False)
    report = blocksim.run(kernel, 1, 4, x, 0 * x, log=True)
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


@pytest.mark.parametrize("written", ["1.0", "x[t]"])
def test_the_race_s_figure_lets_two_threads_write_the_same_number(written) -> None:
    source = "def kernel(x):\n    t = cuda.threadIdx.x\n"
    source += f"    s = cuda.shared.array(2, float32)\n    s[t // 2] = {written}\n"
    kernel = blocksim.load(source, "kernel", whole=False)
    report = blocksim.run(kernel, 1, 4, np.arange(4, dtype=np.float32), log=True)
    state = {"kernel": "yours", "log": report.log | {"source": source}, "step": 1}
    sentence = said("kernel-race", state, "en")
    assert ("one line writes alike" in sentence) == (written == "1.0")
    assert ("This run has no race" in sentence) == (written == "1.0")


def test_touches_collide_exactly_where_the_simulator_finds_a_race() -> None:
    """As long as barriers alone order them, every collision is a race."""
    for state in kernel_race.states(np.random.default_rng(3)):
        found = kernel_race.expected(state)
        assert not [phase for phase in found["phases"] if phase["ordered"]]
        assert found["race"] == any(phase["clashes"] for phase in found["phases"])
