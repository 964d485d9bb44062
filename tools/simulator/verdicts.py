"""Stores Numba's verdict on each kernel of a corpus: does it compile, and if not, why?

    python -m tools.simulator.verdicts           compile, write the verdicts
    python -m tools.simulator.verdicts --check   compile, compare with the stored verdicts
    python -m tools.simulator.verdicts FILE      compile the kernels of a file, print

It writes tests/kernels/verdicts.json, and to tests/kernels/types.json the types that
Numba infers for the expressions of tests/kernels/expressions.py.

The kernels are plain text in tests/kernels/corpus: `# %% name` begins a kernel, and its
fields follow as comments. `args` are the types of its arguments. `source` is the origin of
a kernel that is not ours. `kernel` is the expression that makes the kernel, if it is not
the function `kernel`. `newlines: crlf` ends its lines as on Windows. The text above a
file's first kernel belongs to all of its kernels.
"""

import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from tests.kernels import expressions
from tools.common import options, records
from tools.common.paths import BUILD, ROOT
from tools.kernels import gate as kernels

HERE = Path(__file__).parent
CORPUS = ROOT / "tests" / "kernels" / "corpus"
STORED = ROOT / "tests" / "kernels" / "verdicts.json"
TYPES = ROOT / "tests" / "kernels" / "types.json"
CACHE = BUILD / "verdicts"
WHAT = (
    "Numba's own verdict on each kernel of tests/kernels/corpus, compiled as its"
    " launch compiles it. `line` is that of the kernel's text. `float64` lists the"
    " lines with a float64 by type, `ptx64` those that became instructions in double"
    " precision."
)
WHAT_TYPES = (
    "The type Numba infers for each expression, by the types of a, b, c; null"
    " where it refuses."
)
WORKERS = os.cpu_count() or 1
FIELD = re.compile(r"# (args|source|kernel|newlines): (.*)")


class Kernel(NamedTuple):
    """A kernel of the corpus."""

    name: str
    file: str  # its topic: the corpus file without its suffix
    head: str  # the text above all kernels of the file: imports
    text: str  # the kernel, verbatim, with the functions it uses
    args: str  # the types of its arguments as Numba writes them
    made: str = "kernel"  # the expression that gives the kernel after head and text
    source: str = ""  # its origin; "" if it is ours

    @property
    def question(self) -> dict[str, str]:
        """The arguments of `numba_says.verdict`."""
        names = ("head", "name", "text", "made", "args")
        return {name: getattr(self, name) for name in names}

    @property
    def digest(self) -> str:
        """The digest of the question."""
        return _digest(self.question)


def corpus() -> list[Kernel]:
    """Return every kernel, in the order of files and lines."""
    files = sorted(CORPUS.glob("*.py")) + sorted(CORPUS.glob("*.txt"))
    return [kernel for file in files for kernel in read(file)]


def read(file: Path) -> list[Kernel]:
    """Return the kernels of one file."""
    text = file.read_bytes().decode("utf-8")
    head, *cells = re.split(r"^# %% ", text, flags=re.MULTILINE)
    return [_kernel(file.stem, head, cell) for cell in cells]


def _kernel(file: str, head: str, cell: str) -> Kernel:
    name, _, rest = cell.partition("\n")
    fields = {}
    while field := FIELD.match(rest):
        fields[field[1]] = field[2]
        rest = rest[field.end() + 1 :]
    text = rest.strip("\n") + "\n"
    if fields.get("newlines") == "crlf":
        text = text.replace("\n", "\r\n")
    made, source = fields.get("kernel", "kernel"), fields.get("source", "")
    args = fields.get("args", "")
    return Kernel(name.strip(), file, head, text, args, made, source)


def ask(corpus: list[Kernel]) -> list[dict]:
    """Return Numba's verdict on each kernel; earlier verdicts come from the cache."""
    new = [kernel for kernel in corpus if not _cached(kernel).exists()]
    workers = min(WORKERS, len(new))
    CACHE.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(_ask, [new[i::workers] for i in range(workers)]))
    return [json.loads(_cached(kernel).read_text("utf-8")) for kernel in corpus]


def _cached(kernel: Kernel) -> Path:
    return CACHE / f"{kernel.digest}-{_tool_digest('numba_says')}.json"


@cache
def _tool_digest(tool: str) -> str:
    """Return a digest of a tool and of the packages that it runs with."""
    text = (HERE / f"{tool}.py").read_text("utf-8")
    return _digest([text, kernels.LOCK.read_text("utf-8")])


def _digest(value: object) -> str:
    return kernels.digest_of(value)[:12]


def _ask(part: list[Kernel]) -> None:
    """Ask in a process of the other environment, and cache the answers."""
    answers = numba("numba_says", [kernel.question for kernel in part])
    for kernel, answer in zip(part, answers, strict=True):
        _cached(kernel).write_text(json.dumps(answer), "utf-8")


def numba(tool: str, questions: list[dict]) -> list:
    """Return the answers of a tool that runs in .venv-gpu."""
    env = {key: value for key, value in os.environ.items() if key[:5] != "NUMBA"}
    env["PYTHONHASHSEED"] = "0"  # Numba iterates over sets: equal order, equal messages
    done = subprocess.run(
        [kernels.PYTHON, HERE / f"{tool}.py"], input=json.dumps(questions),
        capture_output=True, encoding="utf-8", env=env, cwd=ROOT,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"Numba gave no verdicts:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout)


def rows(corpus: list[Kernel], verdicts: list[dict]) -> list[dict]:
    """Return the rows of the file, one for each kernel."""
    return [
        {"name": kernel.name, "digest": kernel.digest, **verdict}
        for kernel, verdict in zip(corpus, verdicts, strict=True)
    ]


def questions() -> dict[str, list[str]]:
    """Return the expressions to infer, by the types of their names."""
    by_types: dict[str, list[str]] = {}
    for texts, types in expressions.ASKED:
        for args in types:
            by_types.setdefault(args, []).extend(texts)
    return by_types


def types() -> dict[str, dict]:
    """Return {expression: {types of a, b, c: its type or None}} as Numba infers it."""
    key = _digest([questions(), _tool_digest("numba_types")])
    return records.cached(CACHE / f"types-{key}.json", _infer)


def _infer() -> dict[str, dict]:
    asked = _with_hints(questions())
    shares = [asked[i::WORKERS] for i in range(WORKERS)]
    with ThreadPoolExecutor(WORKERS) as pool:
        answers = chain(*pool.map(partial(numba, "numba_types"), shares))
    by_types = {
        question["args"]: answer
        for question, answer in zip(chain(*shares), answers, strict=True)
    }
    return _by_expression(by_types)


def _with_hints(by_types: dict[str, list[str]]) -> list[dict]:
    """Return the questions; those that Numba refused before are apart, to save time."""
    then = stored(TYPES)["rows"] if TYPES.exists() else {}
    questions = []
    for args, texts in by_types.items():
        bad = [text for text in texts if then.get(text, {}).get(args, "") is None]
        good = [text for text in texts if text not in bad]
        hints = {"good": good, "bad": bad}
        questions.append({"head": expressions.HEAD, "args": args, **hints})
    return questions


def _by_expression(by_types: dict[str, dict]) -> dict[str, dict]:
    inferred: dict[str, dict] = {}
    for args, texts in questions().items():
        for text in texts:
            inferred.setdefault(text, {})[args] = by_types[args][text]
    return inferred


def stored(path: Path = STORED) -> dict:
    """Return the content of a file: versions, date, command and the rows."""
    return json.loads(path.read_text("utf-8"))


def versions() -> dict[str, str]:
    """Return the versions of Python and of the locked packages that decide a verdict."""
    config = (kernels.VENV / "pyvenv.cfg").read_text("utf-8")
    python = re.search(r"^version\S* = (\d+\.\d+)", config, re.MULTILINE)
    lines = re.findall(
        r"^(numba|numba-cuda|llvmlite|nvidia-nvjitlink-cu12|"
        r"nvidia-cuda-nvcc-cu12)==(\S+)",
        kernels.LOCK.read_text("utf-8"),
        re.MULTILINE,
    )
    return {"Python": python[1] if python else "?"} | dict(lines)


def write(path: Path, what: str, rows: list | dict) -> None:
    """Store verdicts or types, with a line for each kernel or expression."""
    head = {
        "what": what,
        "command": "python -m tools.simulator.verdicts",
        "date": time.strftime("%Y-%m-%d"),
        "versions": versions(),
    }
    path.write_text(records.with_rows(head, "rows", rows), "utf-8")


def differing(rows: list[dict], inferred: dict[str, dict]) -> list[str]:
    """Return the kernels and expressions whose stored verdict or type differs.

    Numba's message and its line may depend on what it compiled before.
    """
    then = {row["name"]: _decisive(row) for row in stored()["rows"]}
    types_then = stored(TYPES)["rows"]
    return [row["name"] for row in rows if _decisive(row) != then.get(row["name"])] + [
        text for text in inferred if inferred[text] != types_then.get(text)
    ]


def _decisive(row: dict) -> dict:
    return {key: value for key, value in row.items() if key not in ("says", "line")}


def show(file: Path) -> None:
    """Print Numba's verdict on each kernel of a file."""
    kernels = read(file)
    for kernel, verdict in zip(kernels, ask(kernels), strict=True):
        print(kernel.name, *(f"{key}={verdict[key]}" for key in verdict), sep="  ")


def main() -> int:
    start = time.perf_counter()
    kernels.environment()
    if sys.argv[1:] not in ([], ["--check"]):
        for name in sys.argv[1:]:
            show(Path(name))
        return 0
    verdicts, inferred = rows(corpus(), ask(corpus())), types()
    wrong = []
    if "--check" in sys.argv:
        wrong = differing(verdicts, inferred)
    else:
        write(STORED, WHAT, verdicts)
        write(TYPES, WHAT_TYPES, inferred)
    compiled = sum(row["compiles"] for row in verdicts)
    summary = (
        f"{len(verdicts)} kernels, {compiled} compile; {len(inferred)} expressions;"
        f" {len(wrong)} other than stored; {time.perf_counter() - start:.0f} s"
    )
    return options.report(wrong, summary)


if __name__ == "__main__":
    sys.exit(main())
