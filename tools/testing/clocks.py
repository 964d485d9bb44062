"""Lists the clocks, pauses, limits and fixed ports of the tests, each with its reason.

    python -m tools.testing.clocks

No test may depend on time: a busy machine would turn it red. So every clock needs a reason
why no verdict depends on it, as a comment on its line or on the line above:

    # clock: <reason>

(`// clock:` in JavaScript). The command fails at a clock without a reason. A reason is also
needed for a count of the process's threads, some of which belong to other tests, and for
`asyncio.run`, which raises after a browser test in the same process. `assert all(…)`
and `assert any(…)` over a generator are refused: their failure names no element.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.common.options import report
from tools.common.paths import ROOT

CLOCK = re.compile(
    r"\bsleep\(|wait_for_timeout\(|\bset(Timeout|Interval)\(|\bTimer\("
    r"|\b(monotonic|perf_counter|process_time|time\.time|time_ns)\b(?!=)"
    r"|\b(performance|Date|datetime|date)\.(now|utcnow|today)\b(?! =)|new Date\(\)"
    r"|\btime(out|out_sec|_limit)=(?!PATIENCE)|\bdeadline=(?!None)|\.alarm\("
    r"|\b(active_count|asyncio\.run)\("
    r"|\bport\s*=\s*[1-9]|(localhost|127\.0\.0\.1|0\.0\.0\.0)?:[1-9]\d{3,4}\b(?=[/\"'])"
)
REASON = re.compile(r"(?:#|//) clock: +(\S.*)")
# The corpus consists of texts for the simulator, which has clocks of its own.
LEFT_OUT = ("tests/kernels/corpus", "tests/tools/test_clocks.py")


def files() -> Iterator[Path]:
    """Yield the Python and JavaScript files of the tests."""
    for file in sorted((ROOT / "tests").rglob("*")):
        name = file.relative_to(ROOT).as_posix()
        if file.suffix in (".py", ".mjs", ".js") and not name.startswith(LEFT_OUT):
            yield file


def clocks(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the number and the text of each line with a clock, and its reason or ""."""
    above = ""
    for number, line in enumerate(text.splitlines(), 1):
        reason = REASON.search(line) or REASON.search(above)
        is_import = line.lstrip().startswith(("import ", "from "))
        if not is_import and CLOCK.search(REASON.sub("", line)):
            yield number, line.strip(), reason[1] if reason else ""
        above = line


def vague(text: str) -> Iterator[int]:
    """Yield the lines of asserts that cannot name the element that failed."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assert):
            # The message of `assert any(…)` may list the elements.
            allowed = ["any"] if node.msg else []
            if any(is_vague(part, allowed) for part in parts(node.test)):
                yield node.lineno


def parts(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the conditions that an assert joins by `and`, `or` and `not`."""
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from parts(value)
    elif isinstance(node, ast.UnaryOp):
        yield from parts(node.operand)
    else:
        yield node


def is_vague(node: ast.expr, allowed: list[str]) -> bool:
    """Return whether this is `all` or `any` of a generator or a map."""
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    if name not in ("all", "any") or name in allowed:
        return False
    (over,) = node.args
    is_map = isinstance(over, ast.Call) and ast.unparse(over.func) == "map"
    return is_map or isinstance(over, ast.GeneratorExp)


def complaints(text: str, is_python: bool) -> list[str]:
    """Return the complaints about a file, each with its line number."""
    wrong = [
        f"{number}: a clock without a reason: {line}"
        for number, line, reason in clocks(text)
        if not reason
    ]
    if is_python:
        wrong += [
            f"{number}: expected an assert that names what fails, got all(…) or any(…):"
            " compare lists, or `assert not [x for x in xs if …]`"
            for number in vague(text)
        ]
    return wrong


def main() -> int:
    wrong = []
    for file in files():
        name, text = file.relative_to(ROOT).as_posix(), file.read_text("utf-8")
        for number, line, reason in clocks(text):
            print(f"{name}:{number}: {line}\n    {reason}")
        wrong += [f"{name}:{line}" for line in complaints(text, file.suffix == ".py")]
    return report(wrong, f"{len(wrong)} complaints")


if __name__ == "__main__":
    sys.exit(main())
