"""What a figure says: its sentence in a state, read back as the claims it makes."""

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np

from golden import cases
from livepage.figures import registry, v8
from livepage.figures.spec import Choice, Range, Row, Toggle, Values

SAY = """
function said(id, state, words) {
  const [figure, given] = [figures[id], JSON.parse(state, number)];
  return figure.say(given, figure.compute(given), JSON.parse(words));
}
"""
MOST = 300
QUANTITY = re.compile(r"\[(?:m|l|alpha|o|s|p): ([^\]]*)\]")
RAISED = re.compile(r"\^\{([^}]*)\}")


@cache
def _engine() -> object:
    """The figures' V8, taught to let a figure speak."""
    v8._engine().eval(SAY)
    return v8._engine()


def said(figure: str, state: Values, language: str = "en") -> str:
    """A figure's sentence in a state, without its markup."""
    v8._load(figure)
    words = json.dumps(registry.strings(figure)[language])
    text = _engine().call("said", figure, v8.to_json(state), words)
    return RAISED.sub(r"^\1", QUANTITY.sub(r"\1", text))


def everywhere(figure: str, steps: int = 0) -> Iterator[Values]:
    """The golden states, and every combination of what a reader can set.

    A long slider is taken at up to 41 places, its ends among them; a figure that is
    stepped through, at each of its first `steps` steps. Of very many combinations,
    `MOST` are drawn.
    """
    yield from cases(figure)
    spec = registry.spec(figure)
    reached = {c.name: list(_places(c)) for c in spec.controls if _places(c)}
    if steps:
        reached["step"] = range(steps + 1)
    combinations = list(product(*reached.values()))
    random = np.random.default_rng(0)
    few = random.permutation(len(combinations))[:MOST]
    for values in map(combinations.__getitem__, few):
        yield spec.defaults() | dict(zip(reached, values))


def _places(control: object) -> list:
    """Where a reader can put a control; nothing for what only an author gives."""
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


# ---- reading a sentence as it stands ----

END = re.compile(r"(?<=\.) (?=[A-Z\d]|e\^|m = )")


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return END.split(text)


def tells(text: str, value: object) -> bool:
    """Whether what stands in a sentence is this value, as far as it is written out."""
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
    """A number as a figure writes it, and by how much it may be rounded."""
    text = text.replace("−", "-").replace(",", "").replace("∞", "inf")
    text = text.replace("\u00a0", " ").replace("10^", "10").translate(SUPERSCRIPT)
    digits, _, power = text.partition(" × 10")
    scale = 10.0 ** float(power or 0)
    room = 0.5000001 * 10 ** -len(digits.partition(".")[2])
    return float(digits) * scale, room * scale
