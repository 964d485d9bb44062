"""Infers the types of expressions in a kernel by Numba; runs in .venv-gpu."""

import json
import linecache
import sys
import warnings

from numba.cuda import types
from numba_says import define, signature, without_a_driver


def kinds(head: str, args: str, good: list[str], bad: list[str]) -> dict:
    """Return the type of each expression of a, b, c; None where Numba refuses it.

    The `good` expressions, accepted before, share a kernel, which is split if it fails.
    """
    inferred = batch(head, args, good) if good else {}
    for expression in bad:
        inferred |= batch(head, args, [expression])
    return inferred


def batch(head: str, args: str, expressions: list[str]) -> dict[str, str | None]:
    """Return the types of expressions, compiled together."""
    names = "abc"[: len(signature(args))]
    body = "".join(f"    r{i} = {text}\n" for i, text in enumerate(expressions))
    text = f"@cuda.jit\ndef kernel({', '.join(names)}):\n{body}"
    linecache.cache["kinds.py"] = (len(text), None, text.splitlines(True), "kinds.py")
    try:
        _, kernel = define(head, compile(text, "kinds.py", "exec"), "kernel")
        inferred = kernel.compile(signature(args))._type_annotation.typemap
    except Exception:
        if len(expressions) == 1:
            return {expressions[0]: None}
        half = len(expressions) // 2
        halves = expressions[:half], expressions[half:]
        return batch(head, args, halves[0]) | batch(head, args, halves[1])
    return {
        text: str(types.unliteral(inferred[f"r{i}"]))
        for i, text in enumerate(expressions)
    }


def main() -> None:
    """Answer the questions that stdin lists, on stdout."""
    warnings.simplefilter("ignore")
    without_a_driver()
    json.dump([kinds(**question) for question in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
