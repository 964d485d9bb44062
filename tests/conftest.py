"""Fixtures and settings of all tests: paths, Hypothesis profiles, time limits."""

import os
import pickle
import random
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import rescaling  # noqa: F401  (registers the book for every test)
from livepage.drills import kind
from livepage.drills.bank import bank
from livepage.drills.entry import Drill
from patience import PATIENCE

ROOT = Path(__file__).resolve().parent.parent

# No deadline, because a slow machine is not a fault. The examples are the same in every
# run, so that a failure repeats. `HYPOTHESIS_PROFILE=search` tries many random ones.
settings.register_profile("book", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "book"))

# WebGPU runs on Mesa's software renderer, whichever GPU the machine has.
os.environ.setdefault("WGPUPY_WGPU_ADAPTER_NAME", "llvmpipe")


def pytest_configure() -> None:
    """Require UTF-8 mode on Windows, whose default encoding is another one."""
    if os.name == "nt" and not sys.flags.utf8_mode:
        pytest.exit("set PYTHONUTF8=1 first, as `python -m tools.test` does", 2)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", metavar="SEED", help="run the tests in another order")


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    if seed := config.getoption("--shuffle"):
        dice = random.Random(seed)
        dice.shuffle(items)
        files = {item.path: dice.random() for item in items}
        items.sort(
            key=lambda item: files[item.path]
        )  # a file stays together: its fixtures are made once


# Time limits in seconds that protect readers: one ends a reader's function, the other
# refuses a long simulation. A busy machine would reach them, so tests raise them.
LIMITS = {
    "livepage.drills.kinds.code.kind": "LIMIT_S",
    "tiledattention.gpu.planner": "PATIENCE",
}


def pytest_runtest_setup() -> None:
    del sys.argv[1:]  # a tool that a test calls must not see pytest's options
    for name, limit in LIMITS.items():
        if name in sys.modules:
            setattr(sys.modules[name], limit, PATIENCE)


@pytest.fixture(scope="session", autouse=True)
def shared_payloads(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let the processes of a run share the payloads of the bank's drills.

    Each takes up to a second, since every mutant of a code drill runs.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # of all processes of this run
    compute = kind.payload

    @cache
    def shared(own: kind.Kind, drill: Drill) -> dict[str, Any]:
        if bank().get(drill.id) is not drill:
            return compute(own, drill)
        file = folder / f"{drill.id}.payload"
        if file.exists():
            return pickle.loads(file.read_bytes())
        made = compute(own, drill)
        new = file.with_suffix(f".{os.getpid()}")
        new.write_bytes(pickle.dumps(made))
        new.replace(file)  # at once, so that nobody reads a half
        return made

    kind.payload = shared


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def html() -> Path:
    """Return the built site: `_build/html`, or the folder that BOOK_HTML names."""
    site = Path(os.environ.get("BOOK_HTML", ROOT / "_build" / "html"))
    if not (site / "index.html").exists():
        pytest.skip(f"no built site in {site}: run `make book` first")
    return site
