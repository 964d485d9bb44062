"""What every test shares: where things are, and how hard Hypothesis tries."""

import os
import random
import sys
from pathlib import Path

import pytest
from hypothesis import settings

import rescaling  # noqa: F401  (hands the book in, for every test)
from patience import PATIENCE

ROOT = Path(__file__).resolve().parent.parent

# A slow machine is no fault, and the same examples every time make a failure easy to
# meet again. `HYPOTHESIS_PROFILE=search` looks further and at random.
settings.register_profile("book", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "book"))

# A GPU of any make is played by Mesa's software, whatever else the machine has.
os.environ.setdefault("WGPUPY_WGPU_ADAPTER_NAME", "llvmpipe")


def pytest_configure() -> None:
    """Windows opens files in an encoding of its own, unless it is told not to."""
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
        items.sort(key=lambda item: files[item.path])  # what a file shares is made once


# What ends a reader's function, and what refuses to simulate for longer than readers
# would wait: limits in seconds, which a busy machine reaches too soon.
LIMITS = {
    "livepage.drills.kinds.code.kind": "LIMIT_S",
    "tiledattention.gpu.planner": "PATIENCE",
}


def pytest_runtest_setup() -> None:
    del sys.argv[1:]  # pytest's options are none of the tool's that a test calls
    for name, limit in LIMITS.items():
        if name in sys.modules:
            setattr(sys.modules[name], limit, PATIENCE)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def html() -> Path:
    """The built site: `_build/html`, or what the variable BOOK_HTML names."""
    site = Path(os.environ.get("BOOK_HTML", ROOT / "_build" / "html"))
    if not (site / "index.html").exists():
        pytest.skip(f"no built site in {site}: run `make book` first")
    return site
