"""Results of a reader's code: as JSON, compared, and as short text.

This file runs in CPython behind ``check(...)`` and in the page's MicroPython, so it is
plain Python without typing or NumPy. Numbers that JSON does not know travel as text
("-inf"), there and back.
"""

import math

from livepage.numbers import show

FEW, MANY = 5, 12  # digits
DEEPEST, LONGEST, WIDEST = 6, 2000, 60  # of a result: its nesting, its lists, its text


# ---- in JSON


def pack(value: object) -> object:
    """Write the numbers that JSON does not know as text."""
    if isinstance(value, list):
        return [pack(part) for part in value]
    if isinstance(value, float) and value - value != 0:
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    return value


def unpack(value: object) -> object:
    """Read them back."""
    if isinstance(value, list):
        return [unpack(part) for part in value]
    if isinstance(value, dict):
        return {key: unpack(part) for key, part in value.items()}
    return float(value) if value in ("nan", "inf", "-inf") else value


def plain(value: object, depth: int) -> object:
    """Return a result as lists and numbers; anything else as its repr."""
    if hasattr(value, "tolist"):  # numpy, in a notebook
        value = value.tolist()
    if isinstance(value, (list, tuple)) and depth < DEEPEST:
        return [plain(part, depth + 1) for part in value[:LONGEST]]
    if isinstance(value, int) and is_number(value):
        return value if abs(value) < 1 << 1000 else math.inf * (1 if value > 0 else -1)
    return value if is_number(value) else repr(value)[:WIDEST]


def is_number(value: object) -> bool:
    """Say whether a value is a number; True and False are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# ---- compared


def close(a: float, b: float, tolerance: float) -> bool:
    """Compare two numbers; infinities and NaN equal themselves."""
    if a == b or (a != a and b != b):
        return True
    if a - a != 0 or b - b != 0:  # one of them is not finite
        return False
    return abs(a - b) <= tolerance * max(abs(b), 1e-3)


def finite(value: object) -> bool:
    """Say whether no NaN and no infinity is in a value."""
    if isinstance(value, list):
        return all([finite(part) for part in value])
    return not is_number(value) or value - value == 0


def fingerprint(value: object) -> float:
    """Return a number that hardly any other rows of numbers have."""
    total = 0.0
    for place, leaf in enumerate(leaves(value)):
        total += (1 + place * 0.6180339887 % 1) * weight(leaf)
    return total


def leaves(value: object) -> list:
    """Return every number and text in lists of lists."""
    if not isinstance(value, list):
        return [value]
    found = []
    for part in value:
        found += leaves(part)
    return found


def weight(leaf: object) -> float:
    """Return a number as its order of magnitude, a text as a number."""
    if not is_number(leaf):
        text = leaf[:5] if leaf[:1] == "<" else leaf  # after that comes an address
        return 50 + sum([(i + 1) * ord(x) for i, x in enumerate(text)]) % 9973 / 100
    if leaf - leaf != 0:
        return 91.7 if leaf != leaf else 83.3 if leaf > 0 else -83.3
    size = math.log(1 + abs(leaf))
    return size if leaf > 0 else -size


# ---- as text


def as_code(text: str) -> str:
    """Return a text that is shown as code."""
    return "`" + text.replace("`", "'") + "`"


def brief(value: object) -> str:
    """Return a result as one would write it, in a few words."""
    if isinstance(value, list):
        parts = [brief(part) for part in value[:4]] + ["…"] * (len(value) > 4)
        return "[" + ", ".join(parts) + "]"
    return show(value, FEW)


def distinct_cells(mine: object, right: object) -> list:
    """Return two values as cells, with as many digits as it takes to tell them apart."""
    few = [[pack(value), FEW] for value in (mine, right)]
    many = [[pack(value), MANY] for value in (mine, right)]
    return many if look_alike(*few) and not look_alike(*many) else few


def look_alike(a: list, b: list) -> bool:
    """Say whether two cells are written alike."""
    return show(*a) == show(*b)
