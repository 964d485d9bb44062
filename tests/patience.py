"""How long a test waits for what has to come.

The limit is a ceiling that even a busy machine never reaches: it decides only whether a
test that hangs ends. `PATIENCE=5 pytest …` ends such tests sooner.
"""

import os
import time
from collections.abc import Callable

PATIENCE = float(os.environ.get("PATIENCE", 300))  # seconds
PATIENCE_MS = 1000 * PATIENCE


def wait_until(holds: Callable[[], object], what: str, pause=time.sleep) -> None:
    """Wait until `holds()` is true; else fail, and say what was awaited."""
    end = time.monotonic() + PATIENCE  # clock: a ceiling that no machine reaches
    while not holds():
        # clock: the same ceiling
        assert time.monotonic() < end, f"not within {PATIENCE:g} s: {what}"
        pause(0.02)
