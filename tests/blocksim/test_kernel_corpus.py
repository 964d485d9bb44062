"""The corpus of kernels is honest: it holds what it says, and the verdicts are Numba's.

Numba itself is asked where its environment, .venv-gpu, stands; what it said of the same
text before is kept in _build (tools/simulator/verdicts.py).
"""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from tools.kernels import gate as kernels
from tools.simulator import verdicts

CORPUS = verdicts.corpus()
ROWS = verdicts.stored()["rows"]
SOURCE = re.compile(r"[\w.-]+/[\w.-]+ \S+ \([\w. -]+\)")
CELLS = """import math

# %% first
# args: float32[::1]
# source: someone/something path/to.py (MIT)
# newlines: crlf
def kernel(x):
\tx[0] = 1

# %% second
# a comment of the kernel's own
def kernel(: pass
"""


# ---- the files ----


def test_a_kernel_is_read_verbatim(tmp_path: Path) -> None:
    file = tmp_path / "topic.py"
    file.write_text(CELLS, "utf-8")
    first, second = verdicts.read(file)
    assert first == verdicts.Kernel(
        "first", "topic", "import math\n\n", "def kernel(x):\r\n\tx[0] = 1\r\n",
        "float32[::1]", "kernel", "someone/something path/to.py (MIT)",
    )  # fmt: skip
    assert second.text == "# a comment of the kernel's own\ndef kernel(: pass\n"
    assert first.digest != first._replace(text=first.text + " ").digest


def test_there_are_enough_of_every_kind() -> None:
    assert len(CORPUS) >= 330
    assert sum(row["compiles"] for row in ROWS) >= 170
    assert sum(bool(kernel.source) for kernel in CORPUS) >= 60
    inferred = verdicts.stored(verdicts.TYPES)["rows"].values()
    assert sum(map(len, inferred)) >= 150


def test_names_are_given_once() -> None:
    twice = [
        name for name, count in Counter(k.name for k in CORPUS).items() if count > 1
    ]
    assert twice == []


def test_a_source_names_repository_path_and_licence() -> None:
    for kernel in CORPUS:
        assert not kernel.source or SOURCE.fullmatch(kernel.source), kernel.name


def test_only_what_stands_apart_is_no_python() -> None:
    for kernel in CORPUS:
        if kernel.file != "broken":
            ast.parse(kernel.head + kernel.text)


# ---- the verdicts ----


def test_every_kernel_has_the_verdict_of_its_own_text() -> None:
    stored = [(row["name"], row["digest"]) for row in ROWS]
    assert stored == [(kernel.name, kernel.digest) for kernel in CORPUS], (
        "a kernel changed: run `python -m tools.simulator.verdicts`"
    )


def test_every_expression_has_its_types() -> None:
    asked = {(one, args) for args, some in verdicts.questions().items() for one in some}
    rows = verdicts.stored(verdicts.TYPES)["rows"]
    assert asked == {(one, args) for one, types in rows.items() for args in types}


def test_a_refusal_says_why_and_mostly_where() -> None:
    refused = [row for row in ROWS if not row["compiles"]]
    assert not [row for row in refused if not row["says"]]
    assert sum(row["line"] is not None for row in refused) > 0.9 * len(refused)


def test_another_verdict_is_noticed() -> None:
    row, types = ROWS[0], verdicts.stored(verdicts.TYPES)["rows"]
    turned = {**row, "compiles": not row["compiles"]}
    assert verdicts.differing([turned, *ROWS[1:]], types) == [row["name"]]
    assert verdicts.differing(ROWS, {**types, "a + b": {}}) == ["a + b"]


def test_the_verdicts_are_numbas() -> None:
    """Every sixteenth kernel is asked about; all of them, and the types, once a week."""
    if not kernels.PYTHON.exists():
        pytest.skip("no .venv-gpu: `make kernels` makes it")
    then, now = verdicts.stored()["versions"], verdicts.versions()
    if then["Python"] != now["Python"]:
        pytest.skip(f"stored verdicts are of Python {then['Python']}")
    assert then == now, (
        "other packages are locked: run `python -m tools.simulator.verdicts`"
    )
    some = CORPUS[::16]
    found = {row["name"]: row for row in verdicts.rows(some, verdicts.ask(some))}
    asked = [found.get(row["name"], row) for row in ROWS]
    types = verdicts.stored(verdicts.TYPES)["rows"]
    assert verdicts.differing(asked, types) == []
