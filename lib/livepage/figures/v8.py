"""Runs the figures' JavaScript while the book is built, in V8 without a browser."""

import json
import math
from functools import cache
from typing import Any

from livepage.engine import engine, lock

from .pack import v8_host, v8_script

# JSON has no infinity: a word stands for it, on the way in and on the way out.
RUN = """
const figures = {};
const infinite = (x) => typeof x === "number" && !Number.isFinite(x);
const finite = (_, x) => (infinite(x) ? `${x}` : x);
const number = (_, x) => (x === "Infinity" || x === "-Infinity" ? Number(x) : x);
function run(id, name, state, ...rest) {
  const given = JSON.parse(state, number);
  if (name === "still") return $still.still(figures[id], given, ...rest);
  return JSON.stringify(figures[id][name](given), finite);
}
"""


@cache
def _engine() -> Any:
    started = engine()
    started.eval(v8_host() + RUN)
    return started


@cache
def _load(figure: str) -> None:
    _engine().eval(f"figures[{json.dumps(figure)}] = {v8_script(figure)}; 0")


def run(figure: str, name: str, state: dict, *rest: str | bool) -> str:
    """Call `compute(state)` of a figure, or draw its still, and give the text of it."""
    with lock:
        _load(figure)
        return _engine().call("run", figure, name, to_json(state), *rest)


def to_json(state: dict) -> str:
    """JSON in which an infinity is a word."""
    return json.dumps(finite(state), allow_nan=False)


def finite(value: Any) -> Any:
    """`value` with infinities as words, because JSON has none."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(each) for each in value]
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def from_json(text: str) -> Any:
    """Read what `compute` gave: words for infinities and NaN become numbers again."""
    return numbers(json.loads(text))


def numbers(value: Any) -> Any:
    """`value` with numbers again for the words that stand for them."""
    if isinstance(value, dict):
        return {key: numbers(each) for key, each in value.items()}
    if isinstance(value, list):
        return [numbers(each) for each in value]
    words = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
    return words.get(value, value) if isinstance(value, str) else value
