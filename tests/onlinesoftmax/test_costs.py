"""Every closed form against a counter that walks the loops it speaks of."""

import doctest
from itertools import product
from math import gcd, inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocksim import traffic
from kernellab import banks, devices, limits
from onlinesoftmax import costs

small, tiny = st.integers(1, 40), st.integers(1, 9)


def blocks(length: int, block: int) -> list[range]:
    """The blocks of a length, walked one by one."""
    return [range(i, min(i + block, length)) for i in range(0, length, block)]


# ---- arithmetic ----


def walked_matmul(rows: int, inner: int, columns: int) -> int:
    """Multiply and add, one number at a time, and count."""
    count = 0
    for _ in product(range(rows), range(inner), range(columns)):
        count += 2  # one multiplication, one addition
    return count


@given(tiny, tiny, tiny)
def test_operations_of_a_product(rows: int, inner: int, columns: int) -> None:
    walked = walked_matmul(rows, inner, columns)
    assert costs.matmul_flops(rows, inner, columns) == walked


@given(n=small, keys=small, d=tiny, block_q=tiny, block_k=tiny)
def test_operations_of_the_streaming_loop(n, keys, d, block_q, block_k) -> None:
    products = rescales = 0
    for rows, tile in product(blocks(n, block_q), blocks(keys, block_k)):
        products += 2 * len(rows) * len(tile) * d  # scores
        products += 2 * len(rows) * len(tile) * d  # weights times values
        for _ in rows:
            rescales += 1 + d  # l, and every number of o
    assert costs.flops(n, d, keys=keys) == products
    assert costs.rescale_flops(n, d, block_k, keys=keys) == rescales


@given(n=small, keys=small, d=tiny, block_q=tiny, block_k=tiny)
def test_operations_of_the_backward_loop(n, keys, d, block_q, block_k) -> None:
    products = 0
    for rows, tile in product(blocks(n, block_q), blocks(keys, block_k)):
        for _ in product(rows, tile):
            products += 2 * d  # the score, recomputed
            products += 2 * d  # dO · v
            products += 3 * 2 * d  # what it adds to dV, to dQ and to dK
    assert costs.backward_flops(n, d, keys=keys) == products


@given(n=small, d=tiny, block_k=tiny)
def test_the_keys_are_as_many_as_the_queries_unless_given(n, d, block_k) -> None:
    for cost, arguments in [
        (costs.flops, (n, d)),
        (costs.backward_flops, (n, d)),
        (costs.rescale_flops, (n, d, block_k)),
        (costs.dense_footprint, (n,)),
        (costs.dense_traffic, (n, d)),
        (costs.tiled_traffic, (n, d, block_k)),
        (costs.causal_tiles, (n, 3, block_k)),
    ]:
        assert cost(*arguments) == cost(*arguments, keys=n)
        assert cost(*arguments) != cost(*arguments, keys=n + 9)


# ---- bytes ----


class Memory:
    """A memory that counts: the bytes that cross it, and the most it ever held."""

    def __init__(self, itemsize: int) -> None:
        self.itemsize = itemsize
        self.moved = self.held = self.most = 0

    def move(self, numbers: int) -> None:
        self.moved += numbers * self.itemsize

    def take(self, numbers: int) -> None:
        self.held += numbers * self.itemsize
        self.most = max(self.most, self.held)

    def give_back(self, numbers: int) -> None:
        self.held -= numbers * self.itemsize


@given(n=small, keys=small, d=tiny, itemsize=st.sampled_from([1, 2, 4, 8]))
def test_dense_moves_and_holds_the_matrix(n, keys, d, itemsize) -> None:
    memory, steps = Memory(itemsize), []
    memory.take(n * keys)
    for _ in range(n):  # S = Q · K^T: read Q and K, write S
        memory.move(d)
        memory.move(keys)
    for _ in range(keys):
        memory.move(d)
    steps.append(memory.moved)
    for _ in range(n):  # P = softmax(S): read a row, write a row
        memory.move(keys)
        memory.move(keys)
    steps.append(memory.moved - sum(steps))
    for _ in range(n):  # O = P · V: read P and V, write O
        memory.move(keys)
        memory.move(d)
    for _ in range(keys):
        memory.move(d)
    steps.append(memory.moved - sum(steps))
    got = costs.dense_steps(n, d, keys=keys, itemsize=itemsize)
    assert [moved for _, moved in got] == steps
    assert sum(work for work, _ in got) == costs.flops(n, d, keys=keys)
    assert costs.dense_traffic(n, d, keys=keys, itemsize=itemsize) == memory.moved
    assert costs.dense_footprint(n, keys=keys, itemsize=itemsize) == memory.most


@given(
    n=small,
    keys=small,
    d=tiny,
    block_q=tiny,
    block_k=tiny,
    itemsize=st.sampled_from([1, 2, 4, 8]),
)
def test_tiled_moves_the_keys_once_a_query_block(
    n, keys, d, block_q, block_k, itemsize
) -> None:
    memory, reads = Memory(itemsize), [0] * keys
    for rows in blocks(n, block_q):
        memory.move(len(rows) * d)  # the queries
        for tile in blocks(keys, block_k):
            for key in tile:
                reads[key] += 1
                memory.move(d)  # the key
                memory.move(d)  # its value
        memory.move(len(rows) * d)  # the output
    got = costs.tiled_traffic(n, d, block_q, keys=keys, itemsize=itemsize)
    assert got == memory.moved
    assert {costs.key_reads(n, block_q)} == set(reads)


@given(
    n=small,
    keys=small,
    d=tiny,
    block_q=tiny,
    block_k=tiny,
    itemsize=st.sampled_from([2, 4, 8]),
)
def test_tiled_holds_one_tile(n, keys, d, block_q, block_k, itemsize) -> None:
    block_q, block_k = min(block_q, n), min(block_k, keys)
    memory, row = Memory(itemsize), Memory(itemsize)
    row.take(1 + 1 + d)
    for rows in blocks(n, block_q):
        memory.take(len(rows) * (1 + 1 + d))  # m, l, o
        for tile in blocks(keys, block_k):
            memory.take(len(rows) * len(tile))
            memory.give_back(len(rows) * len(tile))
        memory.give_back(len(rows) * (1 + 1 + d))
    assert memory.held == 0
    assert costs.tiled_footprint(block_q, block_k, d, itemsize=itemsize) == memory.most
    assert costs.state_footprint(1, d, itemsize=itemsize) == row.most


@given(n=small, keys=small, itemsize=st.sampled_from([2, 4, 8]))
def test_what_training_holds_by_tables(n, keys, itemsize) -> None:
    memory, lse = Memory(itemsize), Memory(itemsize)
    for _ in range(n):  # the forward pass
        memory.take(keys)  # P, which overwrites the scores
        lse.take(1)
    assert costs.dense_footprint(n, keys=keys, itemsize=itemsize) == memory.held
    assert costs.kept_footprint(n, itemsize=itemsize) == lse.held


def test_scores_are_fp16_and_states_fp32_unless_given() -> None:
    assert costs.dense_footprint(9) == costs.dense_footprint(9, itemsize=2)
    assert costs.dense_traffic(9, 4) == costs.dense_traffic(9, 4, itemsize=2)
    assert costs.dense_steps(9, 4) == costs.dense_steps(9, 4, itemsize=2)
    assert costs.tiled_traffic(9, 4, 2) == costs.tiled_traffic(9, 4, 2, itemsize=2)
    for size, arguments in [
        (costs.state_footprint, (9, 4)),
        (costs.kept_footprint, (9,)),
        (costs.tiled_footprint, (9, 4, 8)),
        (limits.shared_memory, (9, 4, 8)),
    ]:
        assert size(*arguments) == size(*arguments, itemsize=4)


@pytest.mark.parametrize(
    ("n", "itemsize", "block_q", "megabytes"),
    [
        (8192, 2, None, 541),
        (8192, 2, 128, 136),
        (8192, 2, 64, 271),
        (4096, 4, None, 272.6),
        (4096, 4, 16, 539),
        (4096, 4, 32, 271),
        (4096, 4, 64, 136),
        (4096, 4, 128, 69),
    ],
)
def test_traffic_that_the_design_states(n, itemsize, block_q, megabytes) -> None:
    moved = (
        costs.tiled_traffic(n, 64, block_q, itemsize=itemsize)
        if block_q
        else costs.dense_traffic(n, 64, itemsize=itemsize)
    )
    assert moved / 1e6 == pytest.approx(megabytes, abs=0.6)


# ---- tiles ----


def walked_tiles(n: int, block_q: int, block_k: int, keys: int) -> tuple[int, int, int]:
    """Look at every score of every tile."""
    kinds = {"all": 0, "some": 0, "none": 0}
    for rows, tile in product(blocks(n, block_q), blocks(keys, block_k)):
        seen = [key - keys <= row - n for row, key in product(rows, tile)]
        kinds["all" if all(seen) else "some" if any(seen) else "none"] += 1
    return tuple(kinds.values())


@given(n=small, keys=small, block_q=tiny, block_k=tiny)
def test_causal_tiles(n, keys, block_q, block_k) -> None:
    got = costs.causal_tiles(n, block_q, block_k, keys=keys)
    assert got == walked_tiles(n, block_q, block_k, keys)
    rows, across = costs.tiles_along(n, block_q), costs.tiles_along(keys, block_k)
    assert sum(got) == rows * across


@pytest.mark.parametrize(
    ("n", "block_q", "block_k", "expected"),
    [(16, 4, 4, (6, 4, 6)), (1024, 128, 64, (56, 16, 56))],
)
def test_causal_tiles_that_the_design_states(n, block_q, block_k, expected) -> None:
    assert costs.causal_tiles(n, block_q, block_k) == expected


# ---- the roofline ----


def test_a_roofline_bends_at_the_ridge() -> None:
    ridge = costs.ridge(300.0, 2.0)
    under = [costs.roofline(x * ridge, 300.0, 2.0) for x in (0.5, 1, 2)]
    assert under == [150, 300, 300]


many, few = st.integers(1, 10**6), st.integers(1, 99)


@given(many, many, few, few)
def test_the_least_time_is_the_slower_of_two(work, moved, peak, bandwidth) -> None:
    ceiling = costs.roofline(costs.intensity(work, moved), peak, bandwidth)
    got = costs.least_time(work, moved, peak, bandwidth)
    assert got == pytest.approx(work / ceiling)
    assert costs.least_time(0, moved, peak, bandwidth) == moved / bandwidth


@pytest.mark.parametrize(
    ("block_q", "expected"), [(None, 31.8), (64, 63.5), (128, 126)]
)
def test_intensities_that_the_design_states(block_q, expected) -> None:
    moved = (
        costs.tiled_traffic(8192, 64, block_q)
        if block_q
        else costs.dense_traffic(8192, 64)
    )
    got = costs.intensity(costs.flops(8192, 64), moved)
    assert got == pytest.approx(expected, abs=0.06)


# ---- a multiprocessor ----


@given(tiny, tiny, tiny, st.sampled_from([2, 4, 8]))
def test_shared_memory_is_four_arrays(block_q, block_k, d, itemsize) -> None:
    arrays = [(block_q, d), (block_k, d), (block_k, d), (block_q, block_k)]
    counted = sum(itemsize for shape in arrays for _ in product(*map(range, shape)))
    assert limits.shared_memory(block_q, block_k, d, itemsize=itemsize) == counted


def packed(
    threads: int, registers: int, shared: int, on: devices.Multiprocessor
) -> int:
    """Put block after block onto a multiprocessor until one does not fit."""
    quarters = [on.registers // 4] * 4
    room, free, resident = on.shared, on.threads, 0
    portion = 0
    while portion < shared + on.shared_reserved:
        portion += on.shared_unit
    held = 0
    while held < registers * 32:
        held += 256
    while resident < on.blocks and shared <= on.shared_block:
        left = threads
        while left > 0:
            quarters.sort()
            quarters[-1] -= held  # to the quarter with most registers left
            free, left = free - 32, left - 32
        room -= portion
        if min(quarters) < 0 or free < 0 or room < 0:
            break
        resident += 1
    return resident


@given(
    st.integers(1, 1024),
    st.integers(0, 255),
    st.integers(0, 240_000),
    st.sampled_from(devices.capabilities()),
)
def test_occupancy_is_what_packing_finds(
    threads, registers, shared, capability
) -> None:
    on = devices.multiprocessor(capability)
    got = limits.occupancy(threads, registers, shared, on)
    assert got.blocks == packed(threads, registers, shared, on)
    assert got.limits[got.limit] == min(got.limits.values()) == got.blocks
    assert 0 <= got.share <= 1


def clock_by_clock(other, products, wavefronts, special, on) -> int:
    """How long a multiprocessor takes that always finds a warp which can go on."""
    left = {"fp32": products, "shared": wavefronts, "special": special, "other": other}
    rate = {"fp32": on.fp32 / 32, "shared": 1, "special": on.special / 32, "other": 4}
    credit = dict.fromkeys(left, 0.0)
    clocks = 0
    while any(left.values()):
        clocks += 1
        slots = 4
        for part in sorted(left, key=lambda part: -left[part] / rate[part]):
            credit[part] = min(credit[part] + rate[part], max(rate[part], 1))
            while slots and left[part] and credit[part] >= 1:
                slots, left[part], credit[part] = (
                    slots - 1,
                    left[part] - 1,
                    credit[part] - 1,
                )
    return clocks


@given(
    *[st.integers(0, 60)] * 4,
    st.sampled_from(devices.capabilities()),
)
def test_the_bound_is_what_a_multiprocessor_without_waiting_takes(
    other, products, wavefronts, special, capability
) -> None:
    on = devices.multiprocessor(capability)
    issued = other + products + wavefronts + special
    found = limits.bound(issued, products, wavefronts, special, on)
    took = clock_by_clock(other, products, wavefronts, special, on)
    assert found.clocks == max(found.needs.values()) == found.needs[found.limit]
    assert found.clocks <= took <= found.clocks + 4


def test_a_bound_of_less_than_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="wavefronts: expected 0 or more, got -1"):
        limits.bound(1, 1, -1, 0, devices.multiprocessor("9.0"))


def test_what_a_block_does_not_use_sets_no_limit() -> None:
    least = limits.occupancy(32, 0, 0, devices.multiprocessor("7.5")).limits
    assert least["registers"] == least["shared"] == inf


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks", "limit"),
    [
        (1024, 32, 0, 2, "threads"),
        (32, 16, 0, 32, "blocks"),
        (256, 255, 0, 1, "registers"),
        (128, 96, 0, 5, "registers"),
        (128, 32, 100 * 1024, 1, "shared"),
        (128, 32, 164 * 1024, 0, "shared"),
        (32, 16, 7372, 19, "shared"),
    ],  # twenty would fit, but for the portions
)
def test_every_resource_can_be_the_scarce_one(
    threads, registers, shared, blocks, limit
) -> None:
    got = limits.occupancy(threads, registers, shared, devices.multiprocessor("8.0"))
    assert (got.blocks, got.limit) == (blocks, limit)


# ---- a warp's memory accesses ----


def walked_sectors(addresses: list[int], width: int, sector: int) -> int:
    """Mark every byte that is asked for, then count the sectors with a mark."""
    marked = {address + byte for address in addresses for byte in range(width)}
    last = max(marked)
    return sum(
        any(byte in marked for byte in range(start, start + sector))
        for start in range(0, last + 1, sector)
    )


@given(st.integers(0, 12), st.integers(0, 20), st.sampled_from([1, 2, 4, 8, 16]))
def test_strided_transactions(stride, start, width) -> None:
    addresses = [(start + lane * stride) * width for lane in range(32)]
    got = banks.strided_transactions(stride, width, start=start)
    assert got == walked_sectors(addresses, width, 32)


def served(addresses: list[int], width: int) -> int:
    """Let the banks hand out words, one each in a wavefront, until nobody waits.

    Of each part of the warp in turn: 32 threads, 16 with loads of 8 bytes, 8 with 16.
    """
    together, count = {8: 16, 16: 8}.get(width, 32), 0
    for first in range(0, len(addresses), together):
        part = addresses[first : first + together]
        waiting = {(a + byte) // 4 for a in part for byte in range(width)}
        while waiting:
            handed_out = {word % 32: word for word in waiting}  # one for each bank
            waiting -= set(handed_out.values())
            count += 1
    return count


widths = st.sampled_from([1, 2, 4, 8, 16])
loads = widths.flatmap(
    lambda width: st.tuples(
        st.lists(st.integers(0, 99).map(width.__mul__), max_size=32)
        | st.lists(st.integers(0, 99).map(width.__mul__), min_size=32, max_size=32),
        st.just(width),
    )
)


@given(loads)
def test_wavefronts_are_those_that_the_banks_take(load) -> None:
    assert banks.wavefronts(*load) == served(*load)


@given(st.integers(0, 100), st.integers(0, 100))
def test_a_stride_meets_a_bank_as_often_as_it_shares_factors(stride, start) -> None:
    """Of 32 single words; and where all want the same word, it is handed out once."""
    addresses = [4 * (start + lane * stride) for lane in range(32)]
    assert banks.wavefronts(addresses) == (gcd(stride, 32) if stride else 1)


@given(
    st.lists(st.integers(0, 2000), min_size=1, max_size=32), st.randoms(), widths, tiny
)
def test_who_wants_a_word_and_where_it_begins_do_not_matter(
    places, random, width, shift
) -> None:
    """Threads change places within what is served together; all move by some banks."""
    addresses = [width * place for place in places]
    moved = [address + 16 * shift for address in addresses]
    assert banks.wavefronts(addresses, width) == banks.wavefronts(moved, width)
    if width <= 4:
        random.shuffle(moved)
        assert banks.wavefronts(addresses, width) == banks.wavefronts(moved, width)


@given(loads.filter(lambda load: load[0] and load[1] > 4))
def test_no_merging_of_two_parts_needs_fewer_than_the_least(load) -> None:
    """Two parts of a wide load at once: as many passes as for all words of both."""
    addresses, width = load
    both = 2 * 32 * 4 // width
    pairs = [addresses[i : i + both] for i in range(0, len(addresses), both)]
    merged = sum(banks._longest_queue(pair, width) for pair in pairs)
    counted = banks.wavefronts(addresses, width)
    assert banks.least_wavefronts(counted, 1) <= merged
    same = banks.wavefronts(32 * [addresses[0]], width)
    assert banks.least_wavefronts(same, 1) == len(range(0, 32, both))


@given(st.lists(st.integers(0, 300), min_size=1, max_size=32))
def test_the_simulator_counts_the_same_passes(words) -> None:
    addresses = [4 * word for word in words]
    assert traffic.passes(set(addresses)) == banks.wavefronts(addresses)


# ---- published figures ----


def test_every_figure_has_its_document() -> None:
    assert {"T4", "A100", "H100", "H200"} <= set(devices.names())
    for name in devices.names():
        gpu = devices.gpu(name)
        assert gpu.source.startswith("NVIDIA, ") and "data sheet" in gpu.source
        assert gpu.fp16 > gpu.fp32 > gpu.bandwidth
        on = devices.multiprocessor(gpu.capability)
        assert on.shared_block <= on.shared and "Programming Guide" in on.source


@pytest.mark.parametrize(
    ("capability", "kilobytes"), [("7.5", 64), ("8.0", 164), ("8.9", 100), ("9.0", 228)]
)
def test_shared_memory_that_the_design_states(capability, kilobytes) -> None:
    assert devices.multiprocessor(capability).shared == kilobytes * 1024


# ---- errors ----

ON = devices.multiprocessor("8.0")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: costs.flops(0, 64), "n: expected an integer of at least 1, got 0"),
        (lambda: costs.flops(8, 64.5), "d: .*of at least 1, got 64.5"),
        (lambda: costs.flops(8, 64, keys=-1), "keys: .*got -1"),
        (lambda: costs.backward_flops(8, 0), "d: .*of at least 1, got 0"),
        (lambda: costs.kept_footprint(0), "n: .*of at least 1, got 0"),
        (lambda: costs.kept_footprint(8, itemsize=0), "itemsize: .*got 0"),
        (lambda: costs.rescale_flops(8, 64, 0), "block_k: .*got 0"),
        (lambda: costs.tiled_traffic(8, 64, 0), "block_q: .*got 0"),
        (lambda: costs.tiled_traffic(8, 64, 4, itemsize=0), "itemsize: .*got 0"),
        (lambda: costs.causal_tiles(8, 0, 4), "block_q: .*got 0"),
        (lambda: costs.causal_tiles(8, 4, 0), "block_k: .*got 0"),
        (lambda: costs.intensity(1.0, 0), "moved: expected a number above 0, got 0"),
        (lambda: costs.roofline(1, float("nan"), 1), "peak: .*got nan"),
        (lambda: limits.occupancy(2048, 32, 0, ON), "threads: .*1 to 1024, got 2048"),
        (lambda: limits.occupancy(32, 256, 0, ON), "registers: .*0 to 255, got 256"),
        (lambda: limits.occupancy(32, 32, -1, ON), "shared: .*at least 0, got -1"),
        (lambda: banks.strided_transactions(1, 3), "width: .*divisor of .*32, got 3"),
        (lambda: banks.wavefronts([0], 3), "width: expected 1, 2, 4, 8 or 16, got 3"),
        (lambda: banks.wavefronts([132], 16), "addresses: .*multiples of 16, got 132"),
        (lambda: banks.wavefronts([-4]), "addresses: .*at least 0, got -4"),
        (lambda: banks.wavefronts(range(0, 132, 4)), "expected at most 32, got 33"),
        (lambda: devices.gpu("X"), r"name: expected one of \['T4', .*\], got 'X'"),
        (lambda: devices.multiprocessor("1.0"), "capability: expected one of"),
    ],
)
def test_errors_name_the_argument(call, says) -> None:
    with pytest.raises(ValueError, match=says):
        call()


@pytest.mark.parametrize(
    "module", [banks, costs, devices, limits], ids=lambda module: module.__name__
)
def test_the_examples(module) -> None:
    assert doctest.testmod(module).failed == 0
