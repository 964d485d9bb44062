"""Every verdict on an answer that is not code is earned, in Python and on the page.

The notebook's graders and the page's are twins: what is tried here is tried on both.
"""

import itertools
import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import exp, inf, isfinite, log
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from py_mini_racer import MiniRacer

from livepage import book
from livepage.drills import check, drill, exactness
from livepage.drills.bank import WRITTEN, bank
from livepage.drills.entry import Drill
from livepage.drills.exactness import Rule, asked, rule
from livepage.drills.expression import evaluate, read
from livepage.drills.forms import Card
from livepage.drills.grade import Visit, is_miss, is_unexplained, replies
from livepage.drills.kind import hint_of as earned
from livepage.drills.kinds import KINDS
from livepage.drills.page import bundle
from livepage.drills.payload import payload
from livepage.drills.words import in_language
from livepage.engine import new_engine as engine
from livepage.markup import plain_maths
from onlinesoftmax import State, dense, merge, streaming
from patience import PATIENCE

DRILLS = list(bank().values())
MARKED = [d for d in DRILLS if d.kind not in WRITTEN and "points" not in d.fields]
COMPARED = [d for d in DRILLS if "points" in d.fields]


def of_kind(*kinds: str) -> Any:
    """Parametrise over the marked drills of some kinds."""
    chosen = [d for d in MARKED if d.kind in kinds]
    return pytest.mark.parametrize("d", chosen, ids=lambda d: d.id)


every = pytest.mark.parametrize("d", MARKED, ids=lambda d: d.id)


def graders() -> MiniRacer:
    """Return the page's graders, without a page."""
    context = engine()
    context.eval(bundle(str(Path(__file__).with_name("graders.mjs"))))
    return context


@pytest.fixture(scope="module")
def v8() -> MiniRacer:
    return graders()


def ask(v8: MiniRacer, expression: str) -> Any:
    """Evaluate on the page's side; what JSON cannot carry comes as text."""
    infinite = "(_, v) => typeof v === 'number' && !Number.isFinite(v) ? String(v) : v"
    script = f"JSON.stringify({expression}, {infinite})"
    return json.loads(v8.eval(script, timeout_sec=PATIENCE))


def plainly(value: Any) -> Any:
    """Write a Python outcome as the page's side writes it; what is absent is absent."""
    if isinstance(value, dict):
        return {k: plainly(v) for k, v in value.items() if v is not None}
    if isinstance(value, (list, tuple)):
        return [plainly(v) for v in value]
    if isinstance(value, float) and not isfinite(value):
        return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}[str(value)]
    return value


def alike(a: Any, b: Any) -> bool:
    """Say whether two outcomes are one, but for the last digit of a power."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=1e-13)
    return a == b


def mark_both(v8: MiniRacer, d: Drill, answers: list[Any]) -> list[dict[str, Any]]:
    """Mark answers in both worlds, which have to agree."""
    data = payload(d)
    mine = [KINDS[d.kind].mark(data, answer) for answer in answers]
    told = f"(o) => [o, isMiss(o), isUnexplained(o), replies({json.dumps(d.kind)}, o)]"
    calls = (
        f"{json.dumps(answers)}.map((a) => kinds.{d.kind}.mark(data, a)).map({told})"
    )
    theirs = ask(v8, f"((data) => {calls})({json.dumps(data)})")
    for answer, a, (b, *said) in zip(answers, mine, theirs, strict=True):
        b = {k: v for k, v in b.items() if v is not None}
        assert alike(plainly(a), b), (d.id, answer, a, b)
        assert said == [is_miss(a), is_unexplained(a), replies(d.kind, a)], (
            d.id,
            answer,
            a,
            said,
        )
    return mine


# ---- what a reader may type

ENGLISH = {  # what is typed, and its value; None if it is not a number
    # signs, and the many ways to type them
    "5": 5, " 5 ": 5, "+5": 5, "-5": -5, "−5": -5, "–5": -5, "--5": 5, "5.": 5,
    "2*3": 6, "2×3": 6, "2·3": 6, "2⋅3": 6, "2x3": 6, "2 x 3": 6, "2X3": 6,
    "32x32": 1024, "6/4": 1.5, "6÷4": 1.5, "6:4": 1.5, "6⁄4": 1.5, "1/3": 1 / 3,
    "2^3": 8, "2**3": 8, "2³": 8, "10^12": 1e12, "2^33": 2**33, "-2^2": -4,
    "2^3^2": 512, "2^-1": 0.5, "2**-1": 0.5, "10⁻³": 1e-3, "1.5×10⁴": 15000,
    # exponentials, roots and logarithms
    "e": np.e, "e^-1": exp(-1), "e⁻¹": exp(-1), "e^{-1}": exp(-1), "exp(-1)": exp(-1),
    "EXP(1)": np.e, "exp -1": exp(-1), "5e^-2": 5 * exp(-2), "5 e^-2": 5 * exp(-2),
    "exp(2)^3": exp(6), "e⁻¹⁰ + 1": exp(-10) + 1, "1/e": exp(-1),
    "√2": 2**0.5, "√4": 2, "sqrt(2)/2": 0.5**0.5, "sqrt 4": 2,
    "log(8)": log(8), "ln(e)": 1, "log2(8)": 3, "log₂8": 3, "log10(1000)": 3,
    "pi": np.pi, "π": np.pi, "harmonic(3)": 11 / 6, "H_3": 11 / 6, "H(3)": 11 / 6, "2H_{3}": 11 / 3,
    "abs(-3)": 3, "floor(2.7)": 2,
    "2(3+1)": 8, "[1+1]*2": 4, "1 + 2 × 3 ÷ 4 − 5 · 6": 2.5 - 30,
    # powers of ten, hexadecimal, fractions, shares
    "1e3": 1000, "1e+03": 1000, "1e-03": 0.001, "2e3": 2000,
    "1.5e3": 1500, "10^-3": 0.001,
    "0x10": 16, "0XfF": 255, "½": 0.5, "2½": 2.5, "2 ½": 2.5, "¾": 0.75, "-½": -0.5,
    "50%": 0.5, "50 %": 0.5, "66.5%": 0.665, "50 per cent": 0.5, "50 percent": 0.5,
    "one": 1, "twelve": 12, "half": 0.5, "17 billion": 17e9, "two thousand": 2000,
    # no ordinary numbers
    "inf": math.inf, "∞": math.inf, "-inf": -math.inf, "−∞": -math.inf,
    "+inf": math.inf, "infinity": math.inf, "Infinity": math.inf, "INF": math.inf,
    "nan": math.nan, "NaN": math.nan, "not a number": math.nan, "1/0": math.inf,
    "0/0": math.nan, "exp(1000)": math.inf, "0^0": 1, "(-8)^(1/3)": math.nan,
    # said with what it is, or how it came about
    "= 5": 5, "≈ 2.05": 2.05, "~2.05": 2.05, "l = 2.05": 2.05, "ℓ = 2.05": 2.05,
    "5e^-2 + 1 = 1.68": 1.68,
    # thousands and decimals: only one convention can be meant
    "2.05": 2.05, "2,05": 2.05, "1,37": 1.37, ".5": 0.5, ",5": 0.5, "0,375": 0.375,
    "0.375": 0.375, "1,000,000": 1e6, "1.000.000": 1e6, "1,234.5": 1234.5,
    "1.234,5": 1234.5, "12,34,567": 1234567, "1,00,000": 1e5,
    "17,179,869,184": 17179869184,
    "1 000": 1000, "1\u00a0000": 1000, "1\u202f000": 1000, "1\u2009000": 1000,
    "1'000": 1000, "1’000": 1000, "1_000": 1000, "1 000 000": 1e6, "1 000,5": 1000.5,
    "1'000.5": 1000.5, "1,0000": 1, "1,000,000.5": 1000000.5, "1,5 × 2": 3,
    # as LaTeX writes it
    r"\frac{1}{8}": 0.125, r"\dfrac{e^{-1}}{2e^{-1}}": 0.5, r"e^{-\infty}": 0,
    r"$2 \cdot e^{-1}$": 2 / np.e, r"2^\frac{1}{2}": 2**0.5, r"\ln\frac{8}{2}": np.log(4),
    r"\log_2 64": 6, r"\left(2\right)^3": 8, r"\approx 1\,000": 1000, r"6/\frac12": None,
    r"\frac{1}": None, r"10\5": None, r"2\(3)": None, r"frac": None,
    r"\sqrt{16}": 4, r"\sqrt[3]{8}": None, r"\log_{2} 64": 6, r"\log_{10} 100": None,
    # nothing that could be read
    "": None, " ": None, "x": None, "banana": None, "1+": None, "(1": None, "1)": None,
    "(1;1)": None, ";": None, "2 3": None, "1 .5": None, "1,2,3": None, "1,000,0": None,
    "1,23,456,7": None, "ℓ": None, "$": None, "5 apples": None,
    "1e": np.e, "2e": 2 * np.e,
    "max(1,2)": None, "__proto__": None, "toString": None, "constructor(1)": None,
    "()": None, "exp": None, "exp()": None, "1..5": None, "0x": None, "1 1/2": None,
    "fact(1e9)": None, "import os": None, "8 GiB": None,
}  # fmt: skip
EITHER = {  # two readings: English and continental, or a power of ten and the number e
    "2e+6": (2e6, 2 * np.e + 6), "2e-1": (0.2, 2 * np.e - 1),
    "1,000": (1000, 1), "1.000": (1, 1000), "53.248": (53.248, 53248),
    "16,896": (16896, 16.896), "1,000/2": (500, 0.5), "-1,500": (-1500, -1.5),
    "1,000 + 1.000": (1001, 1001),
}  # fmt: skip
BOUNDED = {  # asks for more than any machine has, or nearly so
    "harmonic(inf)": math.inf, "harmonic(10^12)": 28.208236779,
    "harmonic(nan)": math.nan,
    "harmonic(10^300)": 691.3527435, "harmonic(-1)": None, "harmonic(0)": 0,
    "9^9^9^9": math.inf, "2^2^2^2^2^2": math.inf, "exp(exp(exp(exp(9))))": math.inf,
    "(" * 39 + "1" + ")" * 39: 1, "(" * 41 + "1" + ")" * 41: None,
    "-" * 30 + "1": 1, "-" * 100 + "1": None, "2^" * 60 + "1": None, "(" * 90: None,
    "1" * 200: 1e199 / 0.9, "1" * 201: None, "1e999999999": math.inf,
    "1e-999999999": 0, "1+" * 5000 + "1": None, "sqrt " * 38 + "1": 1,
    "exp " * 45 + "1": None,
}  # fmt: skip


def close_to(found: float, wanted: float) -> bool:
    if math.isnan(wanted) or math.isinf(wanted):
        return found == wanted or (math.isnan(found) and math.isnan(wanted))
    return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("text", [*ENGLISH, *BOUNDED])
def test_what_is_typed_is_read_as_it_is_meant(v8: MiniRacer, text: str) -> None:
    wanted = {**ENGLISH, **BOUNDED}[text]
    if text == "harmonic(-1)":
        wanted = 0
    try:
        values = [reading.value for reading in read(text)]
    except ValueError as error:
        assert wanted is None, f"{text}: {error}"
    else:
        assert wanted is not None, f"{text} was read as {values}"
        assert close_to(values[0], wanted)
        one_way = text in BOUNDED or len(values) == 1
        assert one_way or sum(c in ".,e" for c in text) == 1, values
    assert alike(*both_readings(v8, text))


@pytest.mark.parametrize("text", EITHER)
def test_what_may_mean_two_numbers_is_read_as_both(v8: MiniRacer, text: str) -> None:
    found = [reading.value for reading in read(text)]
    assert found == list(dict.fromkeys(EITHER[text]))
    assert alike(*both_readings(v8, text))


SPANISH = {  # what a reader of a Spanish page types, and what it may mean
    "0,37": [0.37],
    "0.37": [0.37],
    "1,5e-2": [0.015],
    "−2,5": [-2.5],
    "3,5*2": [7.0],
    "exp(0,5)*2": [2 * exp(0.5)],
    "1,234": [1.234, 1234.0],
    "1.234": [1.234, 1234.0],
    "65 504": [65504.0],
    "65.504,5": [65504.5],
    "1,000,000": [1e6],
    "12,345.6": [12345.6],
    ",5": [0.5],
}


@pytest.mark.parametrize("text", SPANISH)
def test_a_comma_is_a_decimal_point_on_a_spanish_page(v8: MiniRacer, text: str) -> None:
    values = [one.value for one in read(text, language="es")]
    assert values == pytest.approx(SPANISH[text])
    theirs = f"readings({json.dumps(text)}, {{}}, 'es').map((r) => r.value)"
    assert ask(v8, theirs) == pytest.approx(values)


@pytest.mark.parametrize("text", ["1, 2", "1,2,3", "0,3,7", "max(1, 2)"])
def test_a_list_is_no_decimal_number_in_spanish(v8: MiniRacer, text: str) -> None:
    with pytest.raises(ValueError):
        read(text, language="es")
    failed = f"(() => {{ try {{ readings({json.dumps(text)}, {{}}, 'es'); return 0 }}"
    assert ask(v8, f"{failed} catch {{ return 1 }} }})()") == 1


SPANISH_WORDS = {
    "4300 millones": 4.3e9, "17 mil millones": 1.7e10, "1 millón": 1e6, "2 billones": 2e12,
    "12,5 por ciento": 0.125, "infinito": inf, "-infinito": -inf, "diez": 10.0,
    "65 mil": 65000.0, "cero": 0.0,
}  # fmt: skip


@pytest.mark.parametrize("text", SPANISH_WORDS)
def test_a_number_may_have_spanish_words(v8: MiniRacer, text: str) -> None:
    assert evaluate(text, language="es") == pytest.approx(SPANISH_WORDS[text])
    theirs = ask(v8, f"String(readings({json.dumps(text)}, {{}}, 'es')[0].value)")
    assert float(theirs.replace("Infinity", "inf")) == pytest.approx(
        SPANISH_WORDS[text]
    )


@of_kind("numeric")
def test_words_of_the_translated_prompt_may_follow_an_answer(
    v8: MiniRacer, d: Drill
) -> None:
    data = KINDS["numeric"].on_page(d, payload(d), "es")
    own = [noun for noun in data["nouns"] if noun not in payload(d)["nouns"]]
    assert bool(own) == bool(payload(d)["nouns"])
    assert not {"millone", "ciento", "mil", "infinito"} & set(own)
    right = float(data["goal"]["value"])
    answers = [f"{right!r} {noun}s" for noun in own if isfinite(right)]
    packed = f"{json.dumps(answers)}.map((a) => kinds.numeric.mark({json.dumps(data)}, a, 'es'))"
    theirs = ask(v8, f"{packed}.map(({{ passed }}) => passed)")
    assert theirs == [True] * len(answers)
    mine = [KINDS["numeric"].mark(data, answer, "es")["passed"] for answer in answers]
    assert mine == theirs


def test_a_spanish_reader_is_told_of_both_readings(v8: MiniRacer) -> None:
    data = payload(bank()["rescale-hard"])
    outcome = KINDS["numeric"].mark(data, "1,234", "es")
    assert not outcome["passed"] and outcome["read"] == [1.234, 1234.0]
    call = f"kinds.numeric.mark({json.dumps(data)}, '1,234', 'es').read"
    assert ask(v8, call) == outcome["read"]
    assert KINDS["numeric"].mark(data, "1,234")["read"] == [1234.0, 1.234]


def test_a_formula_may_have_a_decimal_comma() -> None:
    data = {"samples": [{"m": 2.0}], "values": [1.0], "wrong": []}
    assert KINDS["recall"].mark(data, "0,5*m", "es")["passed"]


def both_readings(v8: MiniRacer, *texts: str) -> tuple[list[Any], list[Any]]:
    """Return the readings of each text, with their units, here and on the page."""
    mine: list[Any] = []
    for text in texts:
        try:
            mine.append([[plainly(value), plainly(unit)] for value, unit in read(text)])
        except ValueError:
            mine.append("unreadable")
    each = "try { return readings(t).map(({value, unit}) => [value, unit]) }"
    each += " catch { return 'unreadable' }"
    return mine, ask(v8, f"{json.dumps(texts)}.map((t) => {{ {each} }})")


PIECES = [
    *"0123456789.,'%()+-*/^x ", "10", "000", "1,000", "1.5", "e", "exp(", "log ", "inf",
    "nan", "½", "√", "²", "⁻¹", "−", "·", ":", "harmonic(", "l", "=", "0x1", "E5", "_",
    "\u00a0", "ten", "{", "}",
]  # fmt: skip


TEXT = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@settings(max_examples=30, deadline=None)
@given(st.lists(TEXT, min_size=20, max_size=20))
def test_both_readers_read_the_same(v8: MiniRacer, texts: list[str]) -> None:
    for text, mine, theirs in zip(texts, *both_readings(v8, *texts), strict=True):
        assert alike(mine, theirs), text


COUNTED = {  # of scores-anew, whose prompt speaks of scores, heads and tokens
    "501501 scores": "right", "501,501 new scores": "right", "501501scores": "right",
    "501501 score": "right", "501501 Scores ": "right", "501501 per cent": "no",
    "501501 thousand": "no", "501501 million scores": "no", "501501 KiB": "ask",
    "501501 bananas": "ask", "scores": "ask", "501501 scores bananas": "ask",
    "1001*1002/2 scores": "right", "501501 e": "no", "0.5 million scores": "no",
    "4 scores": "no", "501501 log": "ask",
}  # fmt: skip


def test_what_a_number_counts_may_be_said_in_words_of_the_prompt(v8: MiniRacer) -> None:
    d = bank()["scores-anew"]
    outcomes = mark_both(v8, d, [*COUNTED])
    for (text, wanted), outcome in zip(COUNTED.items(), outcomes, strict=True):
        found = "right" if outcome["passed"] else "ask" if is_asked(outcome) else "no"
        assert found == wanted, (text, outcome)


def is_asked(outcome: dict[str, Any]) -> bool:
    return bool(outcome.get("unreadable") or outcome.get("ask"))


@of_kind("numeric")
def test_every_answer_may_be_followed_by_what_it_counts(
    v8: MiniRacer, d: Drill
) -> None:
    right = float(payload(d)["goal"]["value"])
    words = [*payload(d)["nouns"], *(d.get("unit") or "").split()[:1]]
    for word in [n for n in words if isfinite(right)]:
        answers = [f"{right!r} {word}", f"{right!r} {word}zebra"]
        outcomes = mark_both(v8, d, answers)
        assert outcomes[0]["passed"] and outcomes[1].get("unreadable"), word


@pytest.mark.parametrize("n", [1, 7, 99, 100, 101, 1000, 54321])
def test_the_harmonic_numbers_are_those_of_a_sum(n: int) -> None:
    exact = float(sum(Fraction(1, i) for i in range(1, min(n, 1000) + 1)))
    exact += math.fsum(1 / i for i in range(1001, n + 1))
    assert math.isclose(evaluate(f"harmonic({n})"), exact, rel_tol=1e-14)


# ---- right answers


def right_answer(d: Drill, data: dict[str, Any]) -> Any:
    if d.kind == "choice":
        return data["right"]
    if d.kind == "order":
        return [data["shown"].index(place) for place in range(len(data["shown"]))]
    if d.kind == "trace":
        return data["rows"]
    return d.get("answer")["value"]


@every
def test_the_answer_passes(v8: MiniRacer, d: Drill) -> None:
    answer = right_answer(d, payload(d))
    assert check(d.id, "abcdef"[answer] if d.kind == "choice" else answer)
    assert mark_both(v8, d, [answer])[0]["passed"]


@of_kind("numeric")
def test_the_answer_that_is_printed_passes(d: Drill) -> None:
    printed = KINDS[d.kind].answer_text(d, "en").rpartition("=")[2].strip()
    assert KINDS["numeric"].mark(payload(d), printed)["passed"], printed


# The answers of chapters 2 and 3 once more, by another way: the lib's.
POCKETS = {"rescale-hard": State(m=2.0, l=7.0), "rescale-easy": State(m=3.0, l=5.0)}
SIXTEEN = [0.5, -1, 1, 0.2, 2, 0, 1.5, -0.5, 1, 0.8, -2, 1.9, 4, 3, -1, 2.5]
BY_THE_LIB: dict[str, Callable[[], Any]] = {
    "two-among-ones": lambda: dense.softmax([1.0, 1.0, 2.0, 1.0])[2],
    "shifted-weight": lambda: dense.softmax([1000.0, 1002.0, 1004.0])[2],
    "rescale-hard": lambda: merge(POCKETS["rescale-hard"], State.of([4.0, 3.0])).l,
    "rescale-easy": lambda: merge(POCKETS["rescale-easy"], State.of([2.0, 1.0])).l,
    "alpha-tie": lambda: streaming.trace([3.0, 3.0, 2.0], 1)[1].alpha,
    "alpha-first": lambda: streaming.trace([3.0, 1.0], 2)[0].alpha,
    "smallest-sum": lambda: merge(State(m=3.0, l=5.0), State.of([1000.0])).l,
    "records-16": lambda: sum(Fraction(1, i) for i in range(1, 17)),
    "stepper-shrinks": lambda: sum(
        0 < step.alpha < 1 for step in streaming.trace(SIXTEEN, 2)
    ),
    "early-weight": lambda: dense.softmax([1.0, 2.0, 3.0])[0],
    "largest-weight": lambda: dense.softmax([7.0, 7 + log(1.5)])[0],
    # The layouts of tensor cores, in integers.
    "fragment-owner": lambda: 13 % 8 * 4 + 6 // 2,
    "swizzled-bank": lambda: (5 ^ 11 % 8) * 4,
}


@pytest.mark.parametrize("id", BY_THE_LIB)
def test_the_lib_agrees_with_the_answer(id: str) -> None:
    value = payload(bank()[id])["goal"]["value"]
    assert math.isclose(float(BY_THE_LIB[id]()), value, rel_tol=1e-12)


# ---- how exact

RULES = [Rule("digits", 3), Rule("digits", 2), Rule("decimals", 2), Rule("digits", 4),
         Rule("digits", 3, "below"), Rule("digits", 3, "above"), Rule("exact"),
         Rule("whole")]  # fmt: skip


def unit_of(value: float, rule: Rule) -> Fraction:
    """Return the weight of the last digit asked for, found by writing it out."""
    if rule.kind == "decimals":
        return Fraction(1, 10**rule.count)
    if rule.kind == "digits":
        # As many digits as tell it from its neighbours: in fewer, 99999995 is 1e8.
        power = int(np.format_float_scientific(value).partition("e")[2])
        return Fraction(10) ** (power - rule.count + 1)
    return Fraction(0)


def nearest(value: float, unit: Fraction) -> Fraction:
    """Return a value rounded to the last digit asked for."""
    return round(Fraction(value) / unit) * unit if unit else Fraction(value)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(RULES),
    st.floats(1e-6, 1e8).flatmap(lambda x: st.sampled_from([x, -x])),
    st.floats(-3, 3),
)
def test_an_answer_is_right_as_far_off_as_the_sentence_says(
    v8: MiniRacer, rule: Rule, value: float, units: float
) -> None:
    """The last digit may be off by one, of the value or of the value rounded.

    To the safe side only, where one is named.
    """
    value = float(round(value)) if rule.kind == "whole" else value
    unit = unit_of(value, rule)
    typed = value + units * float(unit)
    off = Fraction(typed) - Fraction(value)
    offs = [off, off if rule.side else Fraction(typed) - nearest(value, unit)]
    edge = abs(Fraction(value)) / 10**7
    if any(abs(abs(o) - unit) <= edge or abs(o) <= edge for o in offs):
        return  # too near the edge to say
    wanted = any(abs(o) < unit for o in offs)
    wanted = wanted and {"below": off < 0, "above": off > 0}.get(rule.side, True)
    data = {"goal": exactness.goal(value, rule), "wrong": [], "names": {}}
    outcome = KINDS["numeric"].mark(data, repr(typed))
    assert outcome["passed"] == wanted
    call = f"kinds.numeric.mark({json.dumps(data)}, {json.dumps(repr(typed))})"
    on_the_page = ask(v8, call)
    assert on_the_page["passed"] == wanted
    if not wanted and rule.side and abs(off) < unit:
        assert outcome["near"] == "side" == on_the_page["near"]


@pytest.mark.parametrize("d", [*MARKED, *COMPARED], ids=lambda d: d.id)
def test_page_notebook_and_deck_say_how_exact(d: Drill) -> None:
    """Where a number is asked for, in the words made from what is graded."""
    stated = KINDS[d.kind].rule(d)
    assert (stated is not None) == (d.kind in ("numeric", "trace"))
    for language in ("en", "es"):
        said = asked(stated, language) if stated else "os-drill-asked"
        html = Card(d, language, plain_maths).prompt()
        assert (said in html) == (stated is not None)
    if stated:
        assert asked(stated) in repr(drill(d.id))


@pytest.mark.parametrize("to", ["", "0 digits", "9 digits", "digits", "3", None])
def test_a_precision_that_is_none_is_an_error(to: Any) -> None:
    with pytest.raises(ValueError, match="expected to:"):
        rule(to)


def test_only_a_rounded_number_has_a_side() -> None:
    with pytest.raises(ValueError, match="side: 'below'"):
        rule("whole", "below")


# ---- mistakes


def wrong_answers(d: Drill, data: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each listed misconception as an answer, with the hint it should earn."""
    if d.kind == "choice":
        for i, option in enumerate(d.get("choices")):
            if not option.get("correct"):
                yield i, option["hint"]
    for i, slip in enumerate(d.get("wrong", [])):
        if d.kind == "order":
            order = too_early(data["needs"], slip["first"] - 1, slip["then"] - 1)
            yield [data["shown"].index(place) for place in order], slip["hint"]
        elif d.kind == "trace":
            yield from wrong_cells(data, i, slip["hint"])
        else:
            yield slip["value"], slip["hint"]


def too_early(needs: list[list[int]], first: int, then: int) -> list[int]:
    """Return an order whose first fault is one line that stands before another.

    Whatever else the line leans on stands above it, but for what needs the other.
    """

    def above(line: int) -> set[int]:
        return {m for need in needs[line] for m in (need, *above(need))}

    start = [n for n in sorted(above(first)) if n != then and then not in above(n)]
    rest = [line for line in range(len(needs)) if line not in (*start, first)]
    return [*start, first, *rest]


def wrong_cells(data: dict[str, Any], index: int, hint: Any) -> Iterator[tuple]:
    """Yield the table with one slip in it, where no other slip gives the same."""
    for i, row in enumerate(data["wrong"]):
        for j, slips in enumerate(row):
            values = [float(value) for value, slip in slips if slip == index]
            others = [float(value) for value, slip in slips if slip != index]
            right = float(data["rows"][i][j])
            for value in values:
                if abs(value - right) > 0.05 and value not in others:
                    answer = [list(cells) for cells in data["rows"]]
                    answer[i][j] = value
                    yield answer, hint
                    return
    pytest.fail(f"slip {index} shows in no cell")


@every
def test_each_listed_mistake_earns_its_own_hint(v8: MiniRacer, d: Drill) -> None:
    data = payload(d)
    listed = list(wrong_answers(d, data))
    outcomes = mark_both(v8, d, [answer for answer, _ in listed])
    for (answer, hint), outcome in zip(listed, outcomes, strict=True):
        assert not outcome["passed"], answer
        assert earned(d, outcome) == hint, answer
        assert in_language(hint) in " ".join(
            KINDS[d.kind].feedback(d, data, outcome, Visit())[0]
        ), answer
    hints = [in_language(hint) for _, hint in listed]
    assert len(hints) == len(set(hints)), "two misconceptions share a hint"


def typed_near(value: float) -> Iterator[str]:
    """Yield a number as it may be typed: rounded, cut off, with the other sign …"""
    if not isfinite(value):
        return
    inverse = 1 / value if value else 0.0
    for digits in range(1, 7):
        for shown in (value, -value, inverse, 10 * value, value / 10):
            yield f"{shown:.{digits}g}"
            yield f"{shown:.{digits}g}".replace("e+", "e")
        if value:
            power = math.floor(math.log10(abs(value))) - digits + 1
            cut = Fraction(10) ** power * int(Fraction(value) / Fraction(10) ** power)
            yield repr(float(cut))


@of_kind("numeric")
def test_a_diagnosis_explains_the_value_better_than_rounding(
    v8: MiniRacer, d: Drill
) -> None:
    """Whatever is typed near the answer or a mistake, no verdict says too much."""
    data = payload(d)
    right = float(data["goal"]["value"])
    wrong = [float(value) for value in data["wrong"]]
    answers = sorted({text for value in [right, *wrong] for text in typed_near(value)})
    for text, outcome in zip(answers, mark_both(v8, d, answers), strict=True):
        judge_fairly(d, float(text), outcome, right, wrong)


def judge_fairly(
    d: Drill, value: float, outcome: dict[str, Any], right: float, wrong: list[float]
) -> None:
    if outcome.get("ask"):
        assert 1000 * value in (pytest.approx(right), pytest.approx(1000 * right))
        return
    if outcome["passed"]:
        stated = KINDS[d.kind].rule(d)
        unit = unit_of(right, stated) if isfinite(right) else Fraction(0)
        ends = [right, float(nearest(right, unit))] if unit else [right]
        slack = float(unit) + 1e-8 * abs(right)
        assert min(abs(value - end) for end in ends) <= slack, "too far off"
        return
    if outcome["near"] == "digits":
        assert abs(value - right) <= 0.5 * abs(right), "called close, and is not"
    if outcome["hint"] is None:
        return
    slip = wrong[outcome["hint"]]
    if outcome["near"]:
        assert value == pytest.approx(slip, rel=1e-9), "rounding explains it as well"
    elif isfinite(right):
        assert abs(value - slip) < abs(value - right), "the answer is nearer"
    assert abs(value - slip) <= 0.02 * abs(slip), "too far from the mistake named"
    nearer = [other for other in wrong if abs(value - other) < abs(value - slip)]
    assert not nearer, "another mistake is nearer"


@of_kind("numeric")
def test_the_answer_rounded_too_far_is_close_and_no_mistake(d: Drill) -> None:
    data = payload(d)
    right, stated = float(data["goal"]["value"]), KINDS[d.kind].rule(d)
    if stated.kind != "digits":
        return
    for digits in range(2, stated.count):  # one digit is a guess
        outcome = KINDS["numeric"].mark(data, f"{right:.{digits}g}")
        if outcome["passed"]:
            assert float(f"{right:.{digits}g}") == pytest.approx(right, rel=0.01)
            continue
        assert outcome["near"] in ("digits", "side"), digits
        said = " ".join(KINDS[d.kind].feedback(d, data, outcome, Visit())[0])
        assert "Close." in said and asked(stated) in said


@of_kind("numeric")
def test_what_is_nearer_to_a_close_number_is_no_less_close(d: Drill) -> None:
    data = payload(d)
    goal, stated = data["goal"], KINDS[d.kind].rule(d)
    if stated.kind != "digits":
        return
    for sign in (-1, 1):
        shares = [sign * share / 1000 for share in range(1, 150)]
        typed = {
            f"{goal['value'] * (1 + s):.{n}g}" for s in shares for n in range(1, 7)
        }
        away = sorted(typed, key=lambda text: abs(float(text) - goal["value"]))
        away = [text for text in away if sign * (float(text) - goal["value"]) > 0]
        outcomes = [KINDS["numeric"].mark({**data, "wrong": []}, text) for text in away]
        close = [bool(o["passed"] or o.get("near")) for o in outcomes]
        far = dict(zip(away, close, strict=True))
        assert close == sorted(close, reverse=True), far


def test_a_mistake_is_named_by_one_digit_only_if_it_is_that_digit() -> None:
    """Two mistakes that explain a value alike, or none well enough, are not named."""
    data = {"goal": exactness.goal(2.5, Rule("digits", 3)), "names": {}}

    def hint(typed: str, *wrong: float) -> int | None:
        return KINDS["numeric"].mark({**data, "wrong": list(wrong)}, typed)["hint"]

    assert hint("7", 7.0) == hint("6.9", 6.94) == hint("6.94", 6.94) == 0
    assert hint("7", 7.4) is None, "one digit is too little"
    assert hint("6.94", 6.94, 6.941) == 0, "one of them is the value itself"
    assert hint("6.9", 6.94, 6.941) is None, "either may be meant"
    assert hint("-7", 7.0) is hint("70", 7.0) is None
    data = {**data, "goal": exactness.goal(9.901, Rule("digits", 4))}
    assert hint("9.905", 9.907) == 0
    assert hint("9.903", 9.907) is None, "the answer is nearer"


@of_kind("trace")
def test_every_cell_of_a_table_takes_the_same_decimals(v8: MiniRacer, d: Drill) -> None:
    rows = [[float(cell) for cell in row] for row in payload(d)["rows"]]
    for places, passes in ((5, True), (3, True), (2, True)):
        answer = [[f"{cell:.{places}f}" for cell in row] for row in rows]
        assert mark_both(v8, d, [answer])[0]["passed"] == passes
    for i, j in itertools.product(range(len(rows)), range(len(rows[0]))):
        short = f"{rows[i][j]:.1f}"
        if abs(float(short) - rows[i][j]) > 0.011:
            answer = [[*row] for row in rows]
            answer[i][j] = short
            outcome = mark_both(v8, d, [answer])[0]
            assert (outcome["near"], outcome["cell"]) == ("digits", [i, j])


# ---- orders


def valid_orders(needs: list[list[int]]) -> set[tuple[int, ...]]:
    """Build every order line by line from those whose needs have been met."""
    found: set[tuple[int, ...]] = set()

    def extend(done: tuple[int, ...]) -> None:
        if len(done) == len(needs):
            found.add(done)
        for line in set(range(len(needs))) - set(done):
            if set(needs[line]) <= set(done):
                extend((*done, line))

    extend(())
    return found


@of_kind("order")
def test_exactly_the_valid_orders_pass(v8: MiniRacer, d: Drill) -> None:
    data = payload(d)
    count = len(data["shown"])
    valid = valid_orders(data["needs"]) | {tuple(order) for order in data["also"]}
    assert tuple(data["shown"]) not in valid, "it is shown in order"
    orders = list(itertools.permutations(range(count)))
    if count > 6:  # all 5,040 of seven lines, and of more those with few lines moved
        orders = [o for o in orders if sum(i != k for i, k in enumerate(o)) <= 4]
        orders += sorted(valid)
    answers = [[data["shown"].index(place) for place in order] for order in orders]
    for order, outcome in zip(orders, mark_both(v8, d, answers), strict=True):
        assert outcome["passed"] == (order in valid), order
        if not outcome["passed"]:
            fault = outcome["slots"]["n"]
            needs = set(data["needs"][order[fault]])
            assert not needs <= set(order[:fault]), "the line blamed is in place"


def test_the_proof_by_induction_may_settle_the_maximum_late() -> None:
    needs = payload(bank()["induction"])["needs"]
    chain = [0, 1, 2, 4, 5, 6, 7]
    late = {(*chain[:i], 3, *chain[i:]) for i in range(3, 7)}
    assert valid_orders(needs) == late


def runs(lines: list[str], arguments: dict[str, Any], wanted: Any) -> bool:
    """Say whether lines of Python, in this order, give what is wanted."""
    try:
        space: dict[str, Any] = {**arguments}
        exec("\n".join(lines), space)
        return bool(np.allclose(space["found"], wanted, rtol=1e-12))
    except Exception:
        return False


def test_the_lines_of_the_update_run_in_the_valid_orders_only() -> None:
    d = bank()["update-lines"]
    lines = [line.strip("`") for line in d.get("lines")]
    arguments = {"exp": exp}
    call = "found = update(2.0, 5.0, [4.0, 3.0, 1.0])"
    wanted = (4.0, 5 * exp(-2) + 1 + exp(-1) + exp(-3))
    works = {
        order for order in itertools.permutations(range(len(lines)))
        if runs([*(lines[i] for i in order), call], arguments, wanted)
    }  # fmt: skip
    assert works == valid_orders(payload(d)["needs"])


def test_the_lines_of_the_tile_loop_run_in_the_valid_orders_only() -> None:
    d = bank()["tile-loop-lines"]
    lines = [line.strip("`") for line in d.get("lines")]
    random = np.random.default_rng(6)
    q, k, v, o = (random.normal(size=(3, 3)) for _ in range(4))
    m, l = np.array([5.0, -1.0, 0.0]), np.array([2.0, 1.5, 3.0])
    names = {"q": q, "k": k, "v": v, "d": 3, "m": m, "l": l, "o": o, "exp": np.exp,
             "sqrt": np.sqrt, "maximum": np.maximum}  # fmt: skip
    head = "def turn(q, k, v, d, m, l, o):"
    scores = q @ k.T / np.sqrt(3)
    old, new = np.exp(m)[:, None], np.exp(scores)
    wanted = (old * o + new @ v) / (np.exp(m) * l + new.sum(axis=1))[:, None]
    works = {
        order for order in itertools.permutations(range(len(lines)))
        if runs([head, *(f"    {lines[i]}" for i in order),
                 "found = turn(q, k, v, d, m, l, o)"], names, wanted)
    }  # fmt: skip
    assert works == valid_orders(payload(d)["needs"])


class Tile(np.ndarray):
    """An array with Triton's way to convert numbers; here they keep their digits."""

    def to(self, dtype: Any) -> "Tile":
        return self


def test_the_lines_of_triton_run_in_the_valid_orders_only() -> None:
    d = bank()["lines-of-triton"]
    lines = [line.strip("`") for line in d.get("lines")]
    text = (book.current().folder / "triton_attention.py").read_text("utf-8")
    assert [text.count(f"        {line}\n") for line in lines] == [1] * len(lines)
    random = np.random.default_rng(6)
    keys, q, v, o = (random.normal(size=(3, 3)) for _ in range(4))
    m = np.array([5.0, -1.0, 0.0])
    tl = SimpleNamespace(
        load=lambda at, mask, other: np.where(mask, keys.flat[at], other),
        dot=lambda a, b, c=0.0: a @ b + c,
        exp2=lambda x: np.exp2(x).view(Tile),
        trans=np.transpose, max=np.max, maximum=np.maximum,
    )  # fmt: skip
    names = {"tl": tl, "q_tile": q, "v_tile": v, "k": 0, "n": 3, "j": np.arange(3),
             "tile": np.arange(9).reshape(3, 3), "scale": 0.5, "m": m, "o": o}  # fmt: skip
    s = 0.5 * q @ keys.T
    top = np.maximum(m, s.max(axis=1))
    new = np.exp2(m - top)[:, None] * o + np.exp2(s - top[:, None]) @ v
    works = {
        order for order, space in running_orders(lines, names)
        if np.allclose([*space["m"], *space["o"].flat], [*top, *new.flat])
    }  # fmt: skip
    assert works == valid_orders(payload(d)["needs"])


def running_orders(
    lines: list[str], names: dict[str, Any], done: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], dict[str, Any]]]:
    """Yield each order of lines that runs without an error, and the names after it."""
    if len(done) == len(lines):
        yield done, names
    for line in set(range(len(lines))) - set(done):
        after = dict(names)
        try:
            exec(lines[line], after)
        except NameError:
            continue  # whatever follows
        yield from running_orders(lines, after, (*done, line))


ODD = [None, 7, 2.7, True, object(), {}, {"a": 1}, [], [[1]], (), b"b", 1j, "é", "\0"]


@every
def test_an_answer_of_any_type_is_told_something(d: Drill) -> None:
    data = payload(d)
    for odd in ODD:
        outcome = KINDS[d.kind].mark(data, odd)
        assert outcome["passed"] or KINDS[d.kind].feedback(d, data, outcome, Visit())[0]
    if d.kind == "choice":
        for none in (2.7, True, None, [0]):
            assert KINDS["choice"].mark(data, none)["unreadable"], none


# ---- formulas

RIGHT_FORMULAS = {
    "write-update": [
        "l*exp(m-m_new)+added", "added + l e^(m - m_new)", "l*e^m/e^m_new + added",
        "l_new = exp(m)*l/exp(m_new) + added", "l / exp(m_new - m) + added",
    ],
    "two-term-update": [
        "(l*exp(m) + l_block*exp(m_block)) / exp(m_new)",
        "l e^(m−m_new) + l_block e^(m_block−m_new)",
    ],
    "write-output": [
        "exp(-m_new) * (o*exp(m) + exp(s)*v)", "o/exp(m_new - m) + v*e^(s-m_new)",
    ],
}  # fmt: skip
WRONG_FORMULAS = {
    "write-update": [
        "added", "l", "l*exp(m-m_new)+added+0.001", "l*exp(m-m_new)*1.0001+added",
        "l*abs(exp(m_new-m))+added", "l*exp(m-m_new)+added+0*inf", "0/0",
        "l*exp(m-m_new)+added + 0*log(m-m_new)", "l*2.7^(m-m_new)+added",
        "l*(1+m-m_new)+added", "l*exp(-(m-m_new)^2)+added",
        "l^1.0001*exp(m-m_new)+added",
        "l*exp(m/m_new)+added", "l*exp(m-abs(m_new))+added",
        "l*exp(abs(m)-m_new)+added",
        "l*sqrt(exp(m-m_new))+added", "l*exp(floor(m-m_new))+added",
    ],
    "two-term-update": [
        "l*exp(-abs(m-m_block)) + l_block", "l + l_block*exp(-abs(m_block-m))",
        "(l+l_block)*exp(-abs(m-m_block))", "l*exp(m-m_new)+l_block*exp(m-m_block)",
        "l*exp(m-abs(m_new))+l_block*exp(m_block-abs(m_new))",
        "l*exp(m-m_new)+l_block*exp(floor(m_block-m_new))",
    ],
    "write-output": [
        "o*exp(m-m_new)+exp(s-m_new)*abs(v)", "o*exp(m-m_new)+exp(m-s)*v",
        "o*exp(m-s)+v", "o+exp(s-m)*v", "abs(o)*exp(m-m_new)+exp(s-m_new)*v",
        "o*exp(m-m_new)+v*exp(-abs(s-m))", "o*exp(m-abs(m_new))+exp(s-abs(m_new))*v",
    ],
}  # fmt: skip


@of_kind("recall")
def test_equal_formulas_pass_and_no_others(v8: MiniRacer, d: Drill) -> None:
    right, wrong = RIGHT_FORMULAS[d.id], WRONG_FORMULAS[d.id]
    outcomes = mark_both(v8, d, [*right, *wrong])
    passed = [o["passed"] for o in outcomes]
    for text, verdict in zip([*right, *wrong], passed, strict=True):
        assert verdict == (text in right), text


def test_a_name_that_is_not_known_is_said(v8: MiniRacer) -> None:
    said = {"alpha*l + added": "alpha", "l*exp(m-mneu)+added": "mneu", "l*(m": None}
    said |= {"pow(l)": "pow", "l ? m": None, "return l*exp(m)": "return"}
    d = bank()["write-update"]
    for outcome, name in zip(mark_both(v8, d, [*said]), said.values(), strict=True):
        assert outcome.get("slots", {}).get("name") == name
    told = repr(check("write-update", "alpha*l + added"))
    assert "The name alpha is not known" in told and "`m_new`" in told


def test_an_empty_cell_is_not_called_unreadable() -> None:
    assert "α in row 1 is still empty" in repr(check("trace-123", [[1, "", 1]]))


def test_who_rounds_on_the_way_is_told_to_keep_more_digits(v8: MiniRacer) -> None:
    rows = [list(row) for row in payload(bank()["bank-trace"])["rows"]]
    rows[2][3] = "13.16"  # 0.14 · 17.31 + 10.74, each rounded as it is asked for
    assert "keep more digits" in repr(check("bank-trace", rows))
    assert mark_both(v8, bank()["bank-trace"], [rows])[0]["near"] == "rough"


def test_a_formula_is_finite_wherever_it_is_tried() -> None:
    for d in MARKED:
        if d.kind == "recall":
            values = payload(d)["values"]
            assert not [value for value in values if not isfinite(value)]
            assert len(set(values)) == len(values) >= 6


# ---- own words


@pytest.mark.parametrize("d", COMPARED, ids=lambda d: d.id)
def test_own_words_are_compared_by_their_owner(d: Drill) -> None:
    points = [in_language(point) for point in d.get("points")]
    assert 2 <= len(points) <= 5 and len(set(points)) == len(points)
    for text in ("It is the opposite.", in_language(d.get("solution")), "x"):
        verdict = check(d.id, text)
        assert not verdict, "no text is judged by itself"
        for said in [*points, "had=True"]:
            assert said in repr(verdict)
        assert check(d.id, text, had=True)
        assert not check(d.id, text, had=False)
    for nothing in ("", "  \n"):
        for had in (None, True):
            verdict = check(d.id, nothing, had=had)
            assert not verdict and "Write a sentence first" in repr(verdict)
