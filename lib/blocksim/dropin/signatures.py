"""Signatures in a decorator, as Numba's own types or as text."""

from typing import Any

from blocksim import things
from blocksim.types import SIZES


def signature_of(declared: Any) -> Any:
    """Return a signature for the compiler; None if a launch gives the types.

    Of several signatures a launch chooses one, so they say nothing here.
    """
    if declared is None or isinstance(declared, list) and len(declared) != 1:
        return None
    if isinstance(declared, list):
        [declared] = declared
    if isinstance(declared, str):
        return things.signature_of(declared)
    arguments = getattr(declared, "args", declared)
    if not isinstance(arguments, tuple):
        return None
    takes = [_type(each) for each in arguments]
    if None in takes:
        return None
    result = _type(getattr(declared, "return_type", None))
    return things.Signature(result.name if result else None, tuple(takes))


def is_signature(declared: Any) -> bool:
    """Say whether an argument of the decorator declares types."""
    return isinstance(declared, (str, tuple, list, things.Signature)) or hasattr(
        declared, "return_type"
    )


def _type(given: Any) -> Any:
    """Return the stand-in for one of Numba's types, or None."""
    if isinstance(given, (things.Type, things.Shaped)):
        return given
    if hasattr(given, "ndim") and hasattr(given, "dtype"):
        name = str(given.dtype)
        return things.Shaped(name, given.ndim) if name in SIZES else None
    name = str(given)
    return things.Type(name) if name in SIZES else None
