"""The kernels with a barrier or a fence left out: one at a time, each a kernel of its own."""

import inspect
import linecache
import re
from collections.abc import Callable, Iterator

from .catalogue import Case

REMOVED = re.compile(r"\bcuda\.(syncthreads|syncwarp|threadfence\w*)\([^()]*\)$")


def mutants(case: Case) -> Iterator[tuple[str, Callable[..., None]]]:
    """Yield the name of each mutant, and the function.

    The name has the line's distance from the kernel's ``def``. Lines keep their numbers.
    """
    lines, first = inspect.getsourcelines(case.function)
    start = next(k for k, line in enumerate(lines) if line.lstrip().startswith("def "))
    for k, line in enumerate(lines):
        if REMOVED.search(line):
            name, changed = f"{case.name}-{k - start}", [*lines]
            changed[k] = REMOVED.sub("pass", line)
            text = "\n" * (first + start - 1) + "".join(changed[start:])
            names = dict(case.function.__globals__)
            yield name, defined(case.function.__name__, text, f"<{name}>", names)


def defined(
    name: str, text: str, file: str, names: dict[str, object]
) -> Callable[..., None]:
    """Return a function of a text, which can be found as that of a file."""
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    exec(compile(text, file, "exec"), names)
    made: Callable[..., None] = names[name]  # type: ignore[assignment]
    return made
