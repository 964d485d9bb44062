"""The steps to tensor cores: what is stored of them, and faults planted in their PTX.

What needs the PTX is skipped where nobody has compiled it: `make test-all` does.
"""

import json
import os
import re
from collections.abc import Iterator

import pytest

import ptxsim
from tools.kernels import laboratory, tensor_steps

STORED = json.loads(laboratory.STORED.read_text("utf-8"))["tensor_steps"]
PRODUCTS, COPIES = STORED["products"], STORED["copies"]
NAMES = [*tensor_steps.PRODUCTS, *tensor_steps.COPIES]
COMPILED = pytest.mark.skipif(
    not tensor_steps.cache_file().exists() and not os.environ.get("CI"),
    reason="the kernels are not compiled: make test-all compiles them",
)


def test_every_kernel_is_stored_and_nothing_is_spilled() -> None:
    assert [*PRODUCTS, *COPIES] == NAMES
    assert not [name for name in NAMES if (PRODUCTS | COPIES)[name]["spilled"]]


def test_every_product_is_one_instruction() -> None:
    for name, one in PRODUCTS.items():
        tiles = STORED["sizes"]["tiles"]
        all_keys = STORED["sizes"]["keys"] * tiles
        assert one["multiply_adds"] == one["queries"] * all_keys * STORED["sizes"]["d"]
        assert one["mma"] * 16 * 8 * 16 == one["multiply_adds"], name
        assert one["kinds"]["tensor"] == one["mma"], name
        assert one["kinds"]["shared"] == one["reads"], name


def test_each_step_saves_what_it_is_for() -> None:
    def per_product(name: str, what: str) -> float:
        return PRODUCTS[name][what] / PRODUCTS[name]["mma"]

    assert per_product("loads", "reads") == 4 * per_product("ldmatrix", "reads")
    for narrow, wide in (("loads", "loads_padded"), ("ldmatrix", "padded")):
        saved = per_product(narrow, "wavefronts") / per_product(wide, "wavefronts")
        assert saved == 8
    assert per_product("swizzled", "wavefronts") == per_product("padded", "wavefronts")
    assert PRODUCTS["swizzled"]["shared"] < PRODUCTS["padded"]["shared"]
    assert per_product("strips", "reads") < per_product("swizzled", "reads")
    assert [name for name in PRODUCTS if PRODUCTS[name]["overlapping"]] == ["two_tiles"]
    assert COPIES["asynchronous"]["instructions"] == min(
        one["instructions"] for one in COPIES.values()
    )


# ---- the PTX ----


@COMPILED
@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_are_right_and_there_is_no_fault(name: str) -> None:
    assert not tensor_steps.execute(name, tensor_steps.texts()[name]).notes


def without(text: str, pattern: str) -> Iterator[str]:
    """Return the text without one instruction, for each that matches."""
    for found in re.finditer(rf"{pattern}[^;\n]*;", text):
        yield text[: found.start()] + text[found.end() :]


@COMPILED
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("pattern", ["bar.sync", r"cp\.async\.w", r"cp\.async\.com"])
def test_what_orders_copies_and_reads_is_needed(name: str, pattern: str) -> None:
    text = tensor_steps.texts()[name]
    hasty = list(without(text, pattern))
    assert bool(hasty) == (pattern == "bar.sync" or "cp.async" in text)
    for one in hasty:
        with pytest.raises(
            ptxsim.Fault, match=r"^(race|copy under way|uninit\w+): line"
        ):
            tensor_steps.execute(name, one)


A, B = r"\{(%r\d+), (%r\d+), (%r\d+), (%r\d+)\}", r"\{(%r\d+), (%r\d+)\}"
FRAGMENTS = {
    "transposed": (r"ldmatrix(.*?x4)\.", r"ldmatrix\1.trans."),
    "squares of Q": (rf"(mma.*?), {A}, ", r"\1, {\2, \4, \3, \5}, "),
    "squares of K": (rf"(mma.*?), {B}, ", r"\1, {\3, \2}, "),
}


@COMPILED
@pytest.mark.parametrize("name", tensor_steps.PRODUCTS)
@pytest.mark.parametrize("what", FRAGMENTS)
def test_fragments_that_are_mixed_up_are_noticed(name: str, what: str) -> None:
    mixed, count = re.subn(*FRAGMENTS[what], tensor_steps.texts()[name])
    assert bool(count) == (what != "transposed" or not name.startswith("loads"))
    if count:
        with pytest.raises(AssertionError, match="Arrays are not equal"):
            tensor_steps.execute(name, mixed)
