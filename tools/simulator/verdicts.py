"""Kernels with Numba's own verdict on each: does it compile, and if not, why?

    python -m tools.simulator.verdicts           ask Numba, write what it says
    python -m tools.simulator.verdicts --check   ask Numba, compare with what is written
    python -m tools.simulator.verdicts FILE      ask Numba about a file's kernels, print

It writes tests/kernels/verdicts.json, and in tests/kernels/types.json the types that
Numba infers for the expressions of tests/kernels/expressions.py.

The kernels are plain text in tests/kernels/corpus: `# %% name` begins one, and its
fields follow as comments. `args` are the types of its arguments. `source` is where its
shape comes from, if it is not ours. `kernel` is the expression that makes it, if it is
not the function `kernel`. `newlines: crlf` ends its lines as Windows does. What stands
above a file's first kernel belongs to all of them.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.kernels import expressions
from tools.kernels import gate as kernels

ROOT = kernels.ROOT
HERE = Path(__file__).parent
CORPUS = ROOT / "tests" / "kernels" / "corpus"
STORED = ROOT / "tests" / "kernels" / "verdicts.json"
TYPES = ROOT / "tests" / "kernels" / "types.json"
CACHE = ROOT / "_build" / "verdicts"
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
FIELD = re.compile(r"# (args|source|kernel|newlines): (.*)")


class Kernel(NamedTuple):
    """A kernel of the corpus.

    Attributes
    ----------
    name : str
    file : str
        Its topic: the corpus file without its ending.
    head : str
        What stands above all kernels of the file: imports.
    text : str
        The kernel, verbatim, with what it uses.
    args : str
        The types of its arguments as Numba writes them.
    made : str
        The expression that gives the kernel when head and text have run.
    source : str
        Where its shape was found; "" if it is ours.
    """

    name: str
    file: str
    head: str
    text: str
    args: str
    made: str = "kernel"
    source: str = ""

    @property
    def question(self) -> dict[str, str]:
        """What Numba is asked."""
        return {
            name: getattr(self, name)
            for name in ("head", "name", "text", "made", "args")
        }

    @property
    def digest(self) -> str:
        """What changes when the kernel does."""
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
    while found := FIELD.match(rest):
        fields[found[1]] = found[2]
        rest = rest[found.end() + 1 :]
    text = rest.strip("\n") + "\n"
    if fields.get("newlines") == "crlf":
        text = text.replace("\n", "\r\n")
    return Kernel(
        name.strip(),
        file,
        head,
        text,
        fields.get("args", ""),
        fields.get("kernel", "kernel"),
        fields.get("source", ""),
    )


def ask(wanted: list[Kernel], workers: int | None = None) -> list[dict]:
    """Return Numba's verdict on each; what was asked before is in the cache."""
    todo = [kernel for kernel in wanted if not _kept(kernel).exists()]
    workers = min(workers or os.cpu_count() or 1, len(todo))
    CACHE.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(workers or 1) as pool:
        list(pool.map(_ask, [todo[i::workers] for i in range(workers)]))
    return [json.loads(_kept(kernel).read_text("utf-8")) for kernel in wanted]


def _kept(kernel: Kernel) -> Path:
    return CACHE / f"{kernel.digest}-{_how('numba_says')}.json"


@cache
def _how(tool: str) -> str:
    """Return a digest of what asks and of what answers."""
    asks = (HERE / f"{tool}.py").read_text("utf-8")
    return _digest([asks, kernels.LOCK.read_text("utf-8")])


def _digest(what: object) -> str:
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:12]


def _ask(part: list[Kernel]) -> None:
    """Ask in a process of the other environment, and keep its answers."""
    said = numba("numba_says", [kernel.question for kernel in part])
    for kernel, answer in zip(part, said, strict=True):
        _kept(kernel).write_text(json.dumps(answer), "utf-8")


def numba(tool: str, questions: list[dict]) -> list:
    """Return the answers of a tool that runs in .venv-gpu."""
    env = {key: value for key, value in os.environ.items() if key[:5] != "NUMBA"}
    env["PYTHONHASHSEED"] = "0"  # Numba walks sets: the same order, the same words
    done = subprocess.run(
        [kernels.PYTHON, HERE / f"{tool}.py"], input=json.dumps(questions),
        capture_output=True, encoding="utf-8", env=env, cwd=ROOT,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"Numba gave no verdicts:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout)


def rows(wanted: list[Kernel], said: list[dict]) -> list[dict]:
    """Return what is stored of each kernel."""
    return [
        {"name": kernel.name, "digest": kernel.digest, **one}
        for kernel, one in zip(wanted, said, strict=True)
    ]


def questions() -> dict[str, list[str]]:
    """Return the expressions to ask of, by the types of their names."""
    found: dict[str, list[str]] = {}
    for asked, names in expressions.ASKED:
        for args in names:
            found.setdefault(args, []).extend(asked)
    return found


def types(workers: int | None = None) -> dict[str, dict]:
    """Return {expression: {types of a, b, c: its type or None}} as Numba infers it."""
    kept = CACHE / f"types-{_digest([questions(), _how('numba_types')])}.json"
    if not kept.exists():
        workers = workers or os.cpu_count() or 1
        asked = _with_hints(questions())
        with ThreadPoolExecutor(workers) as pool:
            parts = list(
                pool.map(
                    lambda i: numba("numba_types", asked[i::workers]), range(workers)
                )
            )
        said = {
            one["args"]: answer
            for i in range(workers)
            for one, answer in zip(asked[i::workers], parts[i], strict=True)
        }
        CACHE.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(_by_expression(said)), "utf-8")
    return json.loads(kept.read_text("utf-8"))


def _with_hints(asked: dict[str, list[str]]) -> list[dict]:
    """Return the questions, apart those that were refused before: it saves time."""
    then = stored(TYPES)["rows"] if TYPES.exists() else {}
    head = expressions.HEAD
    return [
        {"head": head, "args": args,
         "good": [one for one in some if then.get(one, {}).get(args, "") is not None],
         "bad": [one for one in some if then.get(one, {}).get(args, "") is None]}
        for args, some in asked.items()
    ]  # fmt: skip


def _by_expression(said: dict[str, dict]) -> dict[str, dict]:
    found: dict[str, dict] = {}
    for args, some in questions().items():
        for one in some:
            found.setdefault(one, {})[args] = said[args][one]
    return found


def stored(path: Path = STORED) -> dict:
    """Return what is written: versions, date, command and the rows."""
    return json.loads(path.read_text("utf-8"))


def versions() -> dict[str, str]:
    """Return the versions of what decides a verdict: of Python, and as locked."""
    made = (kernels.VENV / "pyvenv.cfg").read_text("utf-8")
    python = re.search(r"^version\S* = (\d+\.\d+)", made, re.MULTILINE)
    lines = re.findall(
        r"^(numba|numba-cuda|llvmlite|nvidia-nvjitlink-cu12|"
        r"nvidia-cuda-nvcc-cu12)==(\S+)",
        kernels.LOCK.read_text("utf-8"),
        re.MULTILINE,
    )
    return {"Python": python[1] if python else "?"} | dict(lines)


def write(path: Path, what: str, found: list | dict) -> None:
    """Store what Numba says, one kernel or expression a line."""
    head = {
        "what": what,
        "command": "python -m tools.simulator.verdicts",
        "date": time.strftime("%Y-%m-%d"),
        "versions": versions(),
    }
    if isinstance(found, dict):
        lines = [f"{json.dumps(key)}: {json.dumps(row)}" for key, row in found.items()]
    else:
        lines = [json.dumps(row, ensure_ascii=False) for row in found]
    begin, end = ("{", "}") if isinstance(found, dict) else ("[", "]")
    body = ",\n".join(f"    {line}" for line in lines)
    text = json.dumps(head, indent=2, ensure_ascii=False).removesuffix("\n}")
    path.write_text(f'{text},\n  "rows": {begin}\n{body}\n  {end}\n}}\n', "utf-8")


def other(found: list[dict], inferred: dict[str, dict]) -> list[str]:
    """Return the kernels and expressions of which something else is stored.

    Numba's words and the line it names may depend on what it compiled before.
    """
    then = {row["name"]: _decided(row) for row in stored()["rows"]}
    types_then = stored(TYPES)["rows"]
    return [row["name"] for row in found if _decided(row) != then.get(row["name"])] + [
        one for one in inferred if inferred[one] != types_then.get(one)
    ]


def _decided(row: dict) -> dict:
    return {key: value for key, value in row.items() if key not in ("says", "line")}


def show(file: Path) -> None:
    """Print Numba's verdict on each kernel of a file."""
    wanted = read(file)
    for kernel, said in zip(wanted, ask(wanted), strict=True):
        print(kernel.name, *(f"{key}={value}" for key, value in said.items()), sep="  ")


def main() -> int:
    start = time.perf_counter()
    kernels.environment()
    if sys.argv[1:] not in ([], ["--check"]):
        for name in sys.argv[1:]:
            show(Path(name))
        return 0
    wanted = corpus()
    found, inferred = rows(wanted, ask(wanted)), types()
    wrong = []
    if "--check" in sys.argv:
        wrong = other(found, inferred)
    else:
        write(STORED, WHAT, found)
        write(TYPES, WHAT_TYPES, inferred)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    compiled = sum(row["compiles"] for row in found)
    print(
        f"{len(found)} kernels, {compiled} compile; {len(inferred)} expressions;"
        f" {len(wrong)} other than stored; {time.perf_counter() - start:.0f} s"
    )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
