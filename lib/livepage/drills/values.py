"""Results of a reader's code: written as JSON, compared, and shown as short text.

This file runs in CPython behind ``check(...)`` and in the page's MicroPython, so it is
plain Python without typing or NumPy. JSON has no infinities and no NaN, so they are
written as text, such as "-inf".
"""

import math

from livepage.numbers import show

FEW, MANY = 5, 12  # digits
DEEPEST, LONGEST, WIDEST = 6, 2000, 60  # of a result: its nesting, its lists, its text


# ---- in JSON


def pack(value: object) -> object:
    """Replace infinities and NaN by text, for JSON."""
    if isinstance(value, list):
        return [pack(part) for part in value]
    if isinstance(value, float) and value - value != 0:
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    return value


def unpack(value: object) -> object:
    """Undo `pack`."""
    if isinstance(value, list):
        return [unpack(part) for part in value]
    if isinstance(value, dict):
        return {key: unpack(part) for key, part in value.items()}
    return float(value) if value in ("nan", "inf", "-inf") else value


def plain(value: object, depth: int) -> object:
    """Return a result as lists and numbers, and anything else as its repr."""
    if hasattr(value, "tolist"):  # numpy, in a notebook
        value = value.tolist()
    if isinstance(value, (list, tuple)) and depth < DEEPEST:
        return [plain(part, depth + 1) for part in value[:LONGEST]]
    if isinstance(value, int) and is_number(value):
        return value if abs(value) < 1 << 1000 else math.inf * (1 if value > 0 else -1)
    return value if is_number(value) else repr(value)[:WIDEST]


def is_number(value: object) -> bool:
    """Say whether a value is a number. True and False are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# ---- compared


def close(a: float, b: float, tolerance: float) -> bool:
    """Compare two numbers. Infinities and NaN equal themselves."""
    if a == b or (a != a and b != b):
        return True
    if a - a != 0 or b - b != 0:  # one of them is not finite
        return False
    return abs(a - b) <= tolerance * max(abs(b), 1e-3)


def finite(value: object) -> bool:
    """Say whether a value contains neither NaN nor an infinity."""
    if isinstance(value, list):
        return all([finite(part) for part in value])
    return not is_number(value) or value - value == 0


def fingerprint(value: object) -> float:
    """Return a number that other rows of numbers are very unlikely to have."""
    total = 0.0
    for index, leaf in enumerate(leaves(value)):
        total += (1 + index * 0.6180339887 % 1) * weight(leaf)
    return total


def leaves(value: object) -> list:
    """Return every number and text in nested lists."""
    if not isinstance(value, list):
        return [value]
    result = []
    for part in value:
        result += leaves(part)
    return result


def weight(leaf: object) -> float:
    """Return a number's order of magnitude, or a number computed from a text."""
    if not is_number(leaf):
        text = leaf[:5] if leaf[:1] == "<" else leaf  # the rest is an address
        return 50 + sum([(i + 1) * ord(x) for i, x in enumerate(text)]) % 9973 / 100
    if leaf - leaf != 0:
        return 91.7 if leaf != leaf else 83.3 if leaf > 0 else -83.3
    size = math.log(1 + abs(leaf))
    return size if leaf > 0 else -size


# ---- as text


def as_code(text: str) -> str:
    """Return a text marked as code."""
    return "`" + text.replace("`", "'") + "`"


def brief(value: object) -> str:
    """Return a result as short text; long lists are abbreviated."""
    if isinstance(value, list):
        parts = [brief(part) for part in value[:4]] + ["…"] * (len(value) > 4)
        return "[" + ", ".join(parts) + "]"
    return show(value, FEW)


def distinct_cells(mine: object, right: object) -> list:
    """Return two values as cells, with enough digits to tell them apart."""
    few = [[pack(value), FEW] for value in (mine, right)]
    many = [[pack(value), MANY] for value in (mine, right)]
    return many if look_alike(*few) and not look_alike(*many) else few


def look_alike(a: list, b: list) -> bool:
    """Say whether two cells look the same when printed."""
    return show(*a) == show(*b)
