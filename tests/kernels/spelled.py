"""Types of arguments as Numba spells them, and as the simulator has them."""

import re

from blocksim.things import SPELLINGS


def kinds(args: str) -> tuple:
    """The types of a kernel's arguments, as the simulator has them."""
    found, depth = [""], 0
    for sign in args:
        depth += (sign in "[(") - (sign in "])")
        if sign == "," and not depth:
            found.append("")
        else:
            found[-1] += sign
    return tuple(kind(part.strip()) for part in found if part.strip())


def kind(name: str) -> object:
    """A type that Numba writes so."""
    if found := re.fullmatch(r"(\w+)\[([:, 1]*)\]", name):
        return "array", SPELLINGS.get(found[1], found[1]), found[2].count(",") + 1
    if found := re.fullmatch(r"UniTuple\((.*), (\d+)\)", name):
        return ("tuple",) + (kind(found[1]),) * int(found[2])
    if found := re.fullmatch(r"Tuple\(\((.*)\)\)", name):
        return ("tuple", *kinds(found[1]))
    return SPELLINGS.get(name, name)
