"""Numbers are written alike by both Pythons and by a page, digit for digit."""

import json
import math
import random
import re
from pathlib import Path
from typing import Any

import pytest
from py_mini_racer import MiniRacer

import marking
from livepage import modules, numbers
from livepage.drills.expression import read
from livepage.engine import new_engine as engine
from livepage.numbers import show
from patience import PATIENCE

HOME = Path(numbers.__file__).parent
CLAIMS = [
    (2.0, "2"), (-3.0, "−3"), (-0.0, "0"), (8589934592, "8589934592"),
    (-(2**53) + 1, "−9007199254740991"), (2.0**53, "9.0072\u00a0×\u00a010¹⁵"),
    (1e22, "1\u00a0×\u00a010²²"), (123456.7, "123457"), (99999.7, "100000"),
    (9999.96, "10000"), (2.5000001, "2.5"), (0.1353352832, "0.13534"),
    (2**-8, "0.0039062"), (3 * 2**-8, "0.011719"), (0.0001, "0.0001"),
    (0.000099999999, "0.0001"), (1.5e-7, "1.5\u00a0×\u00a010⁻⁷"),
    (-5e-324, "−4.9407\u00a0×\u00a010⁻³²⁴"), (1.7976931348623157e308, "1.7977\u00a0×\u00a010³⁰⁸"),
    ("-inf", "−∞"), ("inf", "∞"), ("nan", "NaN"), ("–", "–"), ("about", "about"),
    (None, "–"), ([1, 2.5, ["inf"]], "1, 2.5, ∞"),
]  # fmt: skip


def samples(count: int) -> list[float]:
    """Numbers of every size, with few digits and many, and the halves between digits."""
    rng = random.Random(7)
    found = [
        rng.uniform(1, 10) * 10.0 ** rng.randint(-320, 307) for _ in range(count // 4)
    ]
    found += [rng.uniform(-1e7, 1e7) for _ in range(count // 4)]
    found += [
        round(rng.uniform(0, 10) * 10.0 ** rng.randint(-9, 6), rng.randint(0, 9))
        for _ in range(count // 4)
    ]
    found += [
        rng.randrange(1, 10**8, 2) / 2 ** rng.randint(0, 40) for _ in range(count // 4)
    ]
    ties = [n * 2.0**-k for k in range(1, 25) for n in range(1, 200, 2)]
    edges = [10.0**k for k in range(-330, 309)] + [k - 0.5 for k in range(1, 12)]
    near = [math.nextafter(x, to) for x in edges for to in (-math.inf, math.inf)]
    return [*found, *ties, *edges, *near, *(-x for x in edges)]


SAMPLES = [x for x in samples(16_000) if math.isfinite(x)]
DIGITS = [1, 2, 3, 5, 8, 12]


@pytest.fixture(scope="module")
def v8() -> MiniRacer:
    context = engine()
    context.eval(modules.script(HOME / "numbers.mjs"))
    return context


def ask(v8: MiniRacer, expression: str, values: list[Any]) -> list[str]:
    script = f"JSON.stringify({json.dumps(values)}.map((x) => {expression}))"
    return json.loads(v8.eval(script, timeout_sec=PATIENCE))


@pytest.mark.parametrize(("value", "written"), CLAIMS)
def test_a_number_is_written_as_one_would(
    v8: MiniRacer, value: Any, written: str
) -> None:
    assert show(value) == written
    assert ask(v8, "$numbers.show(x)", [value]) == [written]


@pytest.mark.parametrize("digits", DIGITS)
def test_a_page_writes_what_python_writes(v8: MiniRacer, digits: int) -> None:
    theirs = ask(v8, f"$numbers.show(x, {digits})", SAMPLES)
    for x, there in zip(SAMPLES, theirs, strict=True):
        assert show(x, digits) == there, repr(x)


def test_the_small_python_writes_them_too() -> None:
    """It also computes the numbers: what it makes of a text such as 0.1 is inexact."""
    asked = SAMPLES[:: len(SAMPLES) // 2000] + [n * 2.0**-8 for n in range(1, 300, 2)]
    pairs = [(x, DIGITS[i % len(DIGITS)]) for i, x in enumerate(asked)]
    parts = [pairs[i : i + 300] for i in range(0, len(pairs), 300)]
    for part, report in zip(parts, marking.in_node(list(map(job, parts))), strict=True):
        assert report["fault"] is None, report
        wanted = [show(x, digits) for x, digits in part]
        assert report["printed"].split("\n")[:-1] == wanted


def job(pairs: list[tuple[float, int]]) -> dict[str, Any]:
    """A cell that prints numbers, each handed over as a whole number times 2ᵏ."""
    exact = [(*math.frexp(x), digits) for x, digits in pairs]
    numbers = [(int(part * 2**53), two - 53, digits) for part, two, digits in exact]
    source = (HOME / "numbers.py").read_text(encoding="utf-8")
    text = f"{source}\n\nfor n, two, digits in {numbers}:\n    print(show(times(n, two), digits))\n"
    return {"kind": "cell", "cell": {"text": TIMES + text, "above": [], "needs": []}}


TIMES = """
def times(n, two):
    while two < -1000:
        n, two = n / 2.0 ** 60, two + 60
    return n * 2.0 ** two

"""


@pytest.mark.parametrize("digits", DIGITS)
def test_the_digits_are_those_that_format_rounds_to(digits: int) -> None:
    for x in SAMPLES:
        if x <= 0:
            continue
        figures, power = numbers.rounded(x, digits)
        mantissa, _, exponent = f"{x:.{digits - 1}e}".partition("e")
        assert (figures, power) == (mantissa.replace(".", ""), int(exponent)), repr(x)


@pytest.mark.parametrize("decimals", [0, 1, 2, 3, 6])
def test_fixed_digits_are_those_of_format(v8: MiniRacer, decimals: int) -> None:
    asked = [x for x in SAMPLES if abs(x) < 1e21]
    for x, there in zip(
        asked, ask(v8, f"$numbers.fixed(x, {decimals})", asked), strict=True
    ):
        here = f"{x:.{decimals}f}"
        if float(here) == 0:
            here = here.replace("-", "")
        assert there == here.replace("-", "−"), repr(x)
    odd = ask(v8, "$numbers.fixed(Number(x), 2)", ["NaN", "Infinity", "-Infinity"])
    assert odd == ["NaN", "∞", "−∞"]


def test_what_is_written_is_read_again_as_the_same_number() -> None:
    for x in SAMPLES[::20]:
        again = read(show(x, 12))[0].value
        assert again == pytest.approx(x, rel=1e-11, abs=1e-322), show(x, 12)


def test_in_sentences_thousands_are_grouped(v8: MiniRacer) -> None:
    asked = [999, 1000, 65536, "1234567.891", 0.1234567]
    written = ["999", "1,000", "65,536", "1,234,567.891", "0.1234567"]
    assert ask(v8, "$numbers.grouped(x)", asked) == written


WRITERS = re.compile(r"toPrecision|toLocaleString\(\"en\"|:\.\d+g\}|%\.?\d*g")


def test_nothing_else_writes_numbers_for_readers() -> None:
    """Coordinates of a drawing are no words, and dates no numbers."""
    files = [
        *HOME.glob("drills/**/*.py"), *HOME.glob("drills/**/*.mjs"),
        *HOME.glob("figures/**/*.mjs"), *(HOME.parents[1] / "book/figures").glob("*/*.mjs"),
    ]  # fmt: skip
    found = [file for file in files if WRITERS.search(file.read_text(encoding="utf-8"))]
    assert files and found == []
