"""The corpus of kernels is honest: it holds what it says, and the verdicts are Numba's.

Numba itself is asked where its environment, .venv-gpu, stands; what it said of the same
text before is kept in _build (tools/verdicts.py).
"""

import ast
import re
from collections import Counter

import pytest

from tools import kernels, verdicts

CORPUS = verdicts.corpus()
ROWS = verdicts.stored()["rows"]
SOURCE = re.compile(r"[\w.-]+/[\w.-]+ \S+ \([\w. -]+\)")


def test_every_kernel_has_the_verdict_of_its_own_text() -> None:
    stored = [(row["name"], row["digest"]) for row in ROWS]
    assert stored == [(kernel.name, kernel.digest) for kernel in CORPUS], (
        "a kernel changed: run `python -m tools.verdicts`"
    )


def test_names_are_given_once() -> None:
    twice = [name for name, count in Counter(k.name for k in CORPUS).items()
             if count > 1]
    assert twice == []


def test_a_source_names_repository_path_and_licence() -> None:
    for kernel in CORPUS:
        assert not kernel.source or SOURCE.fullmatch(kernel.source), kernel.name


def test_only_what_stands_apart_is_no_python() -> None:
    for kernel in CORPUS:
        if kernel.file != "broken":
            ast.parse(kernel.head + kernel.text)


def test_a_refusal_says_why_and_mostly_where() -> None:
    refused = [row for row in ROWS if not row["compiles"]]
    assert all(row["says"] for row in refused)
    assert sum(row["line"] is not None for row in refused) > 0.9 * len(refused)


def test_the_verdicts_and_types_are_numbas() -> None:
    if not kernels.PYTHON.exists():
        pytest.skip("no .venv-gpu: `make kernels` makes it")
    found = verdicts.rows(CORPUS, verdicts.ask(CORPUS))
    assert verdicts.other(found, verdicts.types()) == []
