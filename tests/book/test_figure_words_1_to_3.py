"""Every sentence of the figures up to chapter 3 holds wherever a reader can take them.

`CLAIMS` says for each sentence when it is true. A sentence that stands nowhere in it
fails, one that is said where it is false fails, and so does a number in it that is not
the library's. The names in braces are numbers of `FACTS`, which come from the library
and never from the figure.
"""

import json
import re
from collections.abc import Callable
from itertools import pairwise
from math import ceil
from types import SimpleNamespace as Facts

import numpy as np
import pytest

from figure_words import everywhere, said, sentences, tells
from livepage.figures import registry
from onlinesoftmax import State, dense, merge, precision, streaming
from onlinesoftmax.state import rescale

max_records = registry.module("max-records")
skipped_rescales = registry.module("skipped-rescales")


def always(_: Facts) -> bool:
    """The claim of a sentence that claims nothing but its numbers."""
    return True


# ---- the facts, from the library ----


def cover(state: dict) -> dict:
    scores = np.array(state["scores"], float)
    k, n = state["step"], len(scores)
    if k == 0:
        return {"k": 0, "n": n, "rises": False, "next": False}
    before, now = (State.of(scores[:i]) for i in (k - 1, k))
    return {
        "k": k, "n": n, "m": now.m, "l": now.l,
        "alpha": rescale(State(before.m, 1.0), now.m).l,
        "rises": k > 1 and now.m > before.m,
        "next": k < n and scores[k] > now.m,
    }  # fmt: skip


def softmax_bars(state: dict) -> dict:
    shown = np.array(state["scores"]) + state["shift"]
    weights = dense.softmax(shown / state["temperature"])
    return {
        "n": len(shown), "scores": shown, "weights": weights, "t": state["temperature"],
        "s": shown.max(), "k": np.sum(shown == shown.max()), "p": weights.max(),
        "even": 1 / len(shown), "shift": state["shift"],
        "without": dense.softmax(np.array(state["scores"]) / state["temperature"]),
    }  # fmt: skip


def overflow(state: dict) -> dict:
    name, n = state["format"], 2 ** state["power"]
    score = 0.0 if state["subtract"] else state["logit"]
    with np.errstate(over="ignore", invalid="ignore"):
        term = precision.round_to(np.exp(np.float64(score)), name)
        total = np.inf if np.isinf(term) else precision.add_up(term, n, name)
        weight = precision.round_to(term / np.float64(total), name)
        stalls = (
            0 < total < np.inf
            and n > 1
            and (total == precision.add_up(term, n - 1, name))
        )
    return {
        "format": name, "n": n, "s": score, "term": term, "l": total, "p": weight,
        "even": 1 / n, "times": weight * n, "stalls": stalls,
        "subtract": state["subtract"],
        "fine": 0 < term and total < np.inf and not stalls,
    }  # fmt: skip


def running_mean(state: dict) -> dict:
    k = state["step"]
    seen = np.array(state["scores"][:k], float)
    if k == 0:
        return {"k": 0}
    old, now = State.of(seen[:-1]), State.of(seen)
    return {
        "k": k, "s": seen[-1], "sum": seen.sum(), "mean": seen.mean(), "m": now.m,
        "earlier": k - 1, "rises": now.m > old.m,
    }  # fmt: skip


def two_chunks(state: dict) -> dict:
    first = np.array(state["first"], float)
    block = state["top"] + np.array(state["offsets"], float)
    old, new = State.of(first), State.of(block)
    both = merge(old, new)
    kept = old.l if state["forget"] else rescale(old, both.m).l
    added = rescale(new, both.m).l
    return {
        "old": old.l, "oldMax": old.m, "block": block, "m": both.m,
        "rises": both.m > old.m,
        "alpha": rescale(State(old.m, 1.0), both.m).l, "kept": kept, "added": added,
        "l": kept + added, "truth": both.l, "factor": (kept + added) / both.l,
        "forget": state["forget"],
    }  # fmt: skip


def records(state: dict) -> dict:
    counts = []
    of = state["sample"] if state["order"] == "random" else 1
    for sample in range(1, of + 1):
        scores = max_records.arrival(state["order"], state["n"], sample)
        starts = range(0, len(scores), state["block"])
        tops = [-np.inf, *(max(scores[: i + state["block"]]) for i in starts)]
        counts.append(sum(m < m_new for m, m_new in pairwise(tops)))
    blocks = ceil(state["n"] / state["block"])
    return {
        "n": state["n"], "block": state["block"], "blocks": blocks, "count": counts[-1],
        "kept": counts[-1] - 1, "k": len(counts), "mean": np.mean(counts),
        "h": sum(1 / k for k in range(1, blocks + 1)), "order": state["order"],
    }  # fmt: skip


def block_stepper(state: dict) -> dict:
    scores = np.array(state["scores"], float)
    places = np.arange(1.0, len(scores) + 1)
    forget = "lo" if state["forget"] else ""
    steps = streaming.trace(scores, state["block"], places, forget=forget)
    k, whole = min(state["step"], len(steps)), State.of(scores, places)
    facts = {"k": k, "done": k == len(steps), "output": state["output"]}
    if k == 0:
        return facts
    now, was = steps[k - 1], steps[k - 2].m if k > 1 else -np.inf
    with np.errstate(invalid="ignore"):
        right = np.isclose(now.l, whole.l, 1e-9) and np.isclose(now.o, whole.o, 1e-9)
        balances = {"o": now.o / now.l, "balance": whole.o / whole.l}
        factor = now.l / whole.l
    return facts | balances | {
        "factor": factor,
        "m": now.m, "l": now.l, "alpha": now.alpha, "truth": whole.l, "right": right,
        "rises": k > 1 and now.m > was, "forget": state["forget"], "some": now.l > 0,
    }  # fmt: skip


def one_factor(state: dict) -> dict:
    film = registry.module("one-factor")
    called = sum(beat["call"] <= state["t"] for beat in film.BEATS)
    seen = np.array(film.SCORES[:called])
    tops = np.maximum.accumulate(seen)
    rises = [i for i in range(1, called) if tops[i] > tops[i - 1]]
    facts = {"called": called, "rises": len(rises), "truth": State.of(film.SCORES).l}
    if called > 1:
        facts["less"] = seen[-1] < tops[-1]
        joined = sum(beat["join"][1] <= state["t"] for beat in film.BEATS)
        now = film.expected(state)
        whole = State.of(film.SCORES[:joined])
        facts["exact"] = np.isclose(now["l"], rescale(whole, now["m"]).l)
    if rises:
        i = rises[-1]
        facts["alpha"] = rescale(State(tops[i - 1], 1.0), tops[i]).l
    return facts


def skipped(state: dict) -> dict:
    """Each sum from the state of what has passed, brought to the reference."""
    scores = skipped_rescales.stream(state["order"])
    reference, k, sums, terms = -np.inf, -1, [], []
    for i, s in enumerate(scores):
        if s - reference > state["threshold"]:
            reference, k = s, k + 1
        passed = State.of(scores[: i + 1])
        sums.append(passed.l * np.exp(passed.m - reference))
        terms.append(np.exp(s - reference))
    tops = np.maximum.accumulate(scores)
    largest = [precision.find(name).largest for name in ("float16", "bfloat16")]
    return {
        "k": k, "rises": np.sum(np.diff(tops) > 0), "w": max(terms), "peak": max(sums),
        "largest": largest[0], "over": max(sums) > largest[0],
        "fits": max(sums) <= min(largest),
    }  # fmt: skip


FACTS: dict[str, Callable[[dict], dict]] = {
    "cover": cover,
    "softmax-bars": softmax_bars,
    "overflow": overflow,
    "running-mean": running_mean,
    "two-chunks": two_chunks,
    "max-records": records,
    "block-stepper": block_stepper,
    "one-factor": one_factor,
    "skipped-rescales": skipped,
}

# ---- what each sentence claims ----

CLAIMS: dict[str, dict[str, Callable[[Facts], bool]]] = {
    "cover": {
        "{n} scores will pass, one at a time, and none comes back.": (
            lambda f: f.k == 0
        ),
        "You keep two numbers.": lambda f: f.k == 0,
        "Drag the handle, or press Play.": lambda f: f.k == 0,
        "{k} of {n} scores has passed.": lambda f: f.k == 1,
        "{k} of {n} scores have passed.": lambda f: f.k > 1,
        "You keep the largest, m = {m}, and the sum of the blue bars, ℓ = {l}.": always,
        "The next score is larger.": lambda f: f.next,
        "Score {k} is the largest so far, and counts\u00a01.": lambda f: f.rises,
        "Every older blue bar is multiplied by the same number, {alpha}, and so is "
        "their sum.": lambda f: f.rises,
        "All {n} scores have passed.": lambda f: f.k == f.n > 1,
        "You kept m = {m} and ℓ = {l}, exactly what all the scores at once would "
        "give.": lambda f: f.k == f.n > 1,
    },
    "softmax-bars": {
        "A score of {scores} gives a weight of {weights}.": lambda f: f.n == 1,
        "Scores of {scores} give weights of {weights}.": lambda f: f.n > 1,
        "{n} scores share one whole.": lambda f: f.n > 1,
        "The largest, {s}, gets {p}; an equal share would be {even}.": (
            lambda f: f.k == 1
        ),
        "The largest is {s}, {k} times over, and each time it gets {p}; an equal share "
        "would be {even}.": lambda f: f.k > 1,
        "Every score was divided by {t} first.": lambda f: f.t != 1,
        "With {shift} added to every score, no weight has changed.": (
            lambda f: np.allclose(f.weights, f.without, rtol=1e-9)
        ),
    },
    "overflow": {
        "After the subtraction every score is 0 and every term 1.": (
            lambda f: f.subtract
        ),
        "None of the four failures.": lambda f: f.fine,
        "A term of {term}, added {n} times and rounded each time, makes a sum of {l}, "
        "and each weight is {p}.": lambda f: f.n > 1,
        "One term of {term} makes a sum of {l}, and its weight is {p}.": (
            lambda f: f.n == 1
        ),
        "Exact would be {even}.": always,
        "e^{s} is too large for {format} and becomes ∞.": lambda f: f.term == np.inf,
        "Then ∞/∞ is not a number.": lambda f: f.term == np.inf,
        "e^{s} is too small for {format} and becomes 0.": lambda f: f.term == 0,
        "Then 0/0 is not a number.": lambda f: f.term == 0,
        "Each term of {term} fits, but the sum of {n} of them is ∞.": (
            lambda f: f.term < np.inf == f.l
        ),
        "Every weight becomes 0, and no error is raised.": lambda f: f.p == 0,
        "The sum stalls at {l}: one more term is rounded away.": lambda f: f.stalls,
        "Each weight is {p}, {times} times as large as it should be.": (
            lambda f: f.times > 1.005
        ),
        "Each weight is {p}, a little more than it should be.": lambda f: f.times > 1,
    },
    "running-mean": {
        "No score has passed yet.": lambda f: f.k == 0,
        "Score {k} is {s}.": always,
        "The sum is {sum}, the count {k}, the mean so far {mean}.": always,
        "It is the largest so far.": lambda f: f.k == 1,
        "The largest is still {m}: no term changes.": lambda f: not f.rises,
        "A new largest, {m}: all {earlier} earlier terms have changed.": (
            lambda f: f.rises and f.earlier > 1
        ),
        "A new largest, {m}: the earlier term has changed.": (
            lambda f: f.rises and f.earlier == 1
        ),
        "You carry 2 numbers for the mean, and {k} for softmax.": always,
    },
    "two-chunks": {
        "The pocket: the largest so far is {oldMax}, the sum is {old}.": always,
        "The block that arrives: {block}.": always,
        "The largest is now {m}: everything old is multiplied by {alpha}, and {old} "
        "becomes {kept}.": lambda f: f.rises and not f.forget,
        "The largest is now {m}, but {old} was left as it was: it should have been "
        "multiplied by {alpha}.": lambda f: f.rises and f.forget,
        "The largest is still {m}: the factor is 1, and {old} stays {kept}.": (
            lambda f: not f.rises
        ),
        "The block adds {added}: the sum is {l}.": always,
        "All at once gives the same.": lambda f: np.isclose(f.l, f.truth, 1e-9),
        "All at once gives {truth}: this is {factor} times as large.": (
            lambda f: f.l > 1.005 * f.truth
        ),
    },
    "max-records": {
        "One new maximum, the first.": lambda f: f.count == 1,
        "{count} new maxima among {n} scores.": lambda f: f.count > 1 == f.block,
        "{count} of {blocks} blocks bring a new maximum.": (
            lambda f: f.count > 1 and f.block > 1
        ),
        "Nothing old is there yet, and later nothing is rescaled.": (
            lambda f: f.kept == 0
        ),
        "The first finds nothing old, so the old sum is rescaled once.": (
            lambda f: f.kept == 1
        ),
        "The first finds nothing old, so the old sum is rescaled {kept} times.": (
            lambda f: f.kept > 1
        ),
        "In random order {h} would be expected.": lambda f: f.order != "random",
        "Expected: {h}.": lambda f: f.k == 1,
        "{k} orders tried have {mean} on average; {h} are expected.": lambda f: f.k > 1,
    },
    "block-stepper": {
        "Nothing seen yet: m is −∞ and the sum ℓ is 0.": lambda f: f.k == 0,
        "Block {k}.": always,
        "It sets the maximum.": lambda f: f.k == 1,
        "No new maximum, α is 1: nothing old changes.": lambda f: not f.rises,
        "A new maximum: everything old is multiplied by {alpha}.": (
            lambda f: f.rises and not f.forget
        ),
        "A new maximum, but the old sum was left as it was: it should have been "
        "multiplied by {alpha}.": lambda f: f.rises and f.forget,
        "Now m is {m} and ℓ is {l}.": always,
        "The terms balance at o/ℓ = {o}.": lambda f: f.output and f.some,
        "All at once gives the same sum.": lambda f: f.done and f.right,
        "All at once gives the same sum and the same balance.": (
            lambda f: f.done and f.right and f.output
        ),
        "All at once gives a sum of {truth}: this one is {factor} times as large.": (
            lambda f: f.done and f.factor > 1.005
        ),
        "All at once gives a sum of {truth}, which balances at {balance}: this sum is "
        "{factor} times as large.": lambda f: f.done and f.factor > 1.005,
    },
    "one-factor": {
        "Scores come one at a time.": lambda f: f.called <= 1,
        "The largest so far counts as 1.": lambda f: f.called == 1,
        "A smaller one adds less to the sum ℓ.": lambda f: f.less and f.rises == 0,
        "Now a larger one: too tall.": lambda f: f.rises == 1 and not f.less,
        "Everything shrinks by the same factor, α\u00a0=\u00a0{alpha}, until it fits.": (
            lambda f: f.rises == 1
        ),
        "The scores are gone.": lambda f: f.rises >= 1,
        "The sum is exact.": lambda f: f.exact,
        "Larger still: again one factor, × {alpha}.": lambda f: f.rises == 2,
        "A giant, off the page: one factor, × {alpha}.": (
            lambda f: f.rises == 3 and f.alpha < 1 / 3
        ),
        "All six at once: the same sum, {truth}.": lambda f: f.called == 6 and f.exact,
    },
    "skipped-rescales": {
        "A rescale with each new maximum: {k}.": lambda f: f.k == f.rises,
        "Of {rises} rescales, {k} are left.": lambda f: 1 < f.k < f.rises,
        "Of {rises} rescales, one is left.": lambda f: f.k == 1,
        "Of {rises} rescales, none is left.": lambda f: f.k == 0,
        "The largest term is {w}, and the sum reaches {peak}.": always,
        "No format overflows.": lambda f: f.fits,
        "In float16, which ends at {largest}, the sum becomes ∞.": lambda f: f.over,
    },
}

STEPS = {"cover": 36, "running-mean": 8, "two-chunks": 2, "block-stepper": 16}


def pattern(claim: str) -> re.Pattern:
    """A claim as a pattern whose groups are its numbers."""
    parts = re.split(r"\{(\w+)\}", claim)
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = [f"(?P<{name}>.+?)" for name in parts[1::2]]
    return re.compile("".join(parts))


PATTERNS = {
    figure: [(pattern(claim), so) for claim, so in claims.items()]
    for figure, claims in CLAIMS.items()
}


def faults(figure: str, state: dict) -> list[str]:
    """The sentences that are false in this state, or that nobody has looked at."""
    facts = Facts(**FACTS[figure](state))
    return [s for s in sentences(said(figure, state)) if not holds(figure, s, facts)]


def holds(figure: str, sentence: str, facts: Facts) -> bool:
    """Whether one of the claims is this sentence, with these facts."""
    found = [(p.fullmatch(sentence), so) for p, so in PATTERNS[figure]]
    return any(match and so(facts) and fits(match, facts) for match, so in found)


def fits(match: re.Match, facts: Facts) -> bool:
    """Whether what stands in a sentence is what the library gives."""
    written = match.groupdict().items()
    return all(tells(text, getattr(facts, name)) for name, text in written)


# ---- the tests ----


@pytest.mark.parametrize("figure", CLAIMS)
def test_a_figure_says_only_what_is_so(figure: str) -> None:
    """And it says each sentence somewhere: a claim never made would check nothing."""
    spoken = set()
    for state in everywhere(figure, STEPS.get(figure, 0)):
        assert not faults(figure, state), state
        spoken.update(sentences(said(figure, state)))
    silent = [claim for claim in CLAIMS[figure] if not made(claim, spoken)]
    assert not silent


def made(claim: str, spoken: set[str]) -> bool:
    """Whether a claim was among what was said."""
    return any(map(pattern(claim).fullmatch, spoken))


# What the state shows to which "Show me" takes a reader who is right.
SETTLED: dict[str, Callable[[Facts], bool]] = {
    "softmax-bars": lambda f: f.p > 0.5,
    "overflow": lambda f: f.term < np.inf == f.l,
    "running-mean": lambda f: f.rises and f.earlier == 5,
    "two-chunks": lambda f: f.l < f.old,
    "max-records": lambda f: 7 < f.mean < 9,
    "block-stepper": lambda f: f.forget and f.right,
    "skipped-rescales": lambda f: f.k == 12,
}


@pytest.mark.parametrize("figure", SETTLED)
def test_a_right_answer_is_shown_to_be_right(figure: str) -> None:
    spec = registry.spec(figure)
    proof = spec.prediction.shown_by[spec.prediction.answer]
    assert SETTLED[figure](Facts(**FACTS[figure](spec.defaults() | proof)))


# ---- the numbers that stand in the words themselves ----

TYPED = {
    "softmax-bars": {
        "0.576": dense.softmax([1.0, 2.0, 1.0])[1],
        "0.212": dense.softmax([1.0, 2.0, 1.0])[0],
    },
    "two-chunks": {"0.135": rescale(State(3.0, 1.0), 5.0).l},
    "max-records": {"7.5": sum(1 / k for k in range(1, 1025))},
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("figure", CLAIMS)
def test_a_number_in_the_words_is_the_librarys(figure: str, language: str) -> None:
    words = json.dumps(registry.strings(figure)[language])
    typed = set(re.findall(r"(?<![\d.])\d+\.\d+", words))
    wanted = TYPED.get(figure, {})
    assert typed == set(wanted)
    assert not [text for text, value in wanted.items() if not tells(text, value)]


def test_the_crowd_that_overflows() -> None:
    """What the question of the map states: 148, 65,504 and a little above 4."""
    term = precision.round_to(np.exp(5.0), "float16")
    form = precision.find("float16")
    assert tells("148", float(np.floor(term))) and tells("65,504", form.largest)
    assert term < form.largest < 1024 * 148
    assert 4 < np.log(form.largest / 1024) < 4.2
