"""The types that Numba infers for expressions in a kernel; runs in .venv-gpu."""

import json
import linecache
import sys
import warnings

from numba.cuda import types
from numba_says import defined, signature, without_a_driver


def kinds(head: str, args: str, good: list[str], bad: list[str]) -> dict:
    """Return the type of each expression of a, b, c; None where Numba refuses it.

    Those it took before go into one kernel, and only if that fails into halves.
    """
    found = batch(head, args, good) if good else {}
    for one in bad:
        found |= batch(head, args, [one])
    return found


def batch(head: str, args: str, expressions: list[str]) -> dict[str, str | None]:
    """Return the types of expressions, compiled together."""
    names = "abc"[: len(signature(args))]
    body = "".join(f"    r{i} = {one}\n" for i, one in enumerate(expressions))
    text = f"@cuda.jit\ndef kernel({', '.join(names)}):\n{body}"
    linecache.cache["kinds.py"] = (len(text), None, text.splitlines(True), "kinds.py")
    try:
        _, kernel = defined(head, compile(text, "kinds.py", "exec"), "kernel")
        found = kernel.compile(signature(args))._type_annotation.typemap
    except Exception:
        if len(expressions) == 1:
            return {expressions[0]: None}
        half = len(expressions) // 2
        return batch(head, args, expressions[:half]) | batch(
            head, args, expressions[half:]
        )
    return {
        one: str(types.unliteral(found[f"r{i}"])) for i, one in enumerate(expressions)
    }


def main() -> None:
    """Answer the questions that stdin lists, on stdout."""
    warnings.simplefilter("ignore")
    without_a_driver()
    json.dump([kinds(**question) for question in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
