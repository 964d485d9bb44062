"""Returns the sentence of a figure in a state, and compares its values with others."""

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np

from golden import cases
from livepage.figures import registry, v8
from livepage.figures.spec import Choice, Range, Row, Toggle, Values

# The next language of a state finds its numbers computed.
SAY = """
let asked = "", found = null;
function said(id, state, words) {
  const [figure, given] = [figures[id], JSON.parse(state, number)];
  if (asked !== id + state) [asked, found] = [id + state, figure.compute(given)];
  return figure.say(given, found, JSON.parse(words));
}
"""
MOST = 300
QUANTITY = re.compile(r"\[(?:m|l|alpha|o|s|p): ([^\]]*)\]")
RAISED = re.compile(r"\^\{([^}]*)\}")


@cache
def _engine() -> object:
    """Return the figures' V8 engine, with a function that returns a sentence."""
    v8._engine().eval(SAY)
    return v8._engine()


def said(figure: str, state: Values, language: str = "en") -> str:
    """Return a figure's sentence in a state, without its markup."""
    v8._load(figure)
    words = json.dumps(registry.strings(figure)[language])
    text = _engine().call("said", figure, v8.to_json(state), words)
    text = text.replace("\u202f", ",")  # a still in Spanish came before, perhaps
    return RAISED.sub(r"^\1", QUANTITY.sub(r"\1", text))


def everywhere(figure: str, steps: int = 0) -> Iterator[Values]:
    """Yield the golden states, and combinations of the values that a reader can set.

    A slider takes at most 41 values, both ends included. A figure with steps takes each
    of its first `steps` steps. If there are more than `MOST` combinations, `MOST` of them
    are drawn at random.
    """
    yield from cases(figure)
    spec = registry.spec(figure)
    values_of = {c.name: list(_settings(c)) for c in spec.controls if _settings(c)}
    if steps:
        values_of["step"] = range(steps + 1)
    combinations = list(product(*values_of.values()))
    random = np.random.default_rng(0)
    few = random.permutation(len(combinations))[:MOST]
    for values in map(combinations.__getitem__, few):
        yield spec.defaults() | dict(zip(values_of, values))


def _settings(control: object) -> list:
    """Return the values of a control that a reader can set; none for an author's control."""
    if isinstance(control, Toggle):
        return [False, True]
    if isinstance(control, Choice):
        return list(control.of)
    if isinstance(control, Range) and not isinstance(control, Row):
        count = min(41, round((control.high - control.low) / control.step) + 1)
        at = np.linspace(control.low, control.high, count)
        at = control.low + control.step * np.round((at - control.low) / control.step)
        return [int(x) if control.step == 1 else round(float(x), 9) for x in at]
    return []


# ---- reading a sentence ----

END = re.compile(r"(?<=\.) (?=[A-Z\d]|e\^|m = )")


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return END.split(text)


def tells(text: str, value: object) -> bool:
    """Return whether a text shows this value, to the digits that are written."""
    if isinstance(value, str):
        return text == value
    if np.ndim(value):
        parts = text.split(", ")
        return len(parts) == len(value) and all(map(tells, parts, value))
    written, room = _number(text)
    if not np.isfinite(written) or not np.isfinite(value):
        return written == value
    return abs(written - value) <= room + 1e-9 * abs(value)


SUPERSCRIPT = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def _number(text: str) -> tuple[float, float]:
    """Parse a number as a figure writes it; return it and its largest rounding error."""
    text = text.replace("−", "-").replace(",", "").replace("∞", "inf")
    text = text.replace("\u00a0", " ").replace("10^", "10").translate(SUPERSCRIPT)
    digits, _, power = text.partition(" × 10")
    scale = 10.0 ** float(power or 0)
    room = 0.5000001 * 10 ** -len(digits.partition(".")[2])
    return float(digits) * scale, room * scale
