"""The time limit of tests that wait for an event.

Even a busy machine never reaches the limit: it only ends a test that hangs.
`PATIENCE=5 pytest …` ends such tests sooner.
"""

import os
import time
from collections.abc import Callable

PATIENCE = float(os.environ.get("PATIENCE", 300))  # seconds
PATIENCE_MS = 1000 * PATIENCE


def wait_until(holds: Callable[[], object], what: str, pause=time.sleep) -> None:
    """Wait until `holds()` is true; fail at the limit, and say what was awaited."""
    end = time.monotonic() + PATIENCE  # clock: a ceiling that no machine reaches
    while not holds():
        # clock: the same ceiling
        assert time.monotonic() < end, f"not within {PATIENCE:g} s: {what}"
        pause(0.02)
