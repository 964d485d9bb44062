"""What a launch may do: faults that are known to be benign, and a limit of time.

A policy is read from a file in TOML::

    seconds = 20            # for each launch

    [[benign]]              # a fault with all of these is passed over
    kernel = "histogram"
    kind = "race"
    array = "bins"
    because = "every thread writes the same number"
"""

import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from blocksim.faults import Fault

PARTS = ("kernel", "kind", "array", "line")
SECONDS = 60.0


@dataclass(frozen=True)
class Benign:
    """Faults that are known to make no difference; None stands for any."""

    because: str
    kernel: str | None = None
    kind: str | None = None
    array: str | None = None
    line: int | None = None

    def covers(self, kernel: str, fault: Fault) -> bool:
        """Say whether a fault of a kernel is one of these."""
        found = {**fault.fields, "kernel": kernel}
        wanted = {part: getattr(self, part) for part in PARTS}
        return all(
            value is None or found.get(part) == value for part, value in wanted.items()
        )


@dataclass(frozen=True)
class Policy:
    """The rules of a session.

    Attributes
    ----------
    seconds : float
        How long a launch may take.
    benign : tuple of Benign
        Faults that are passed over.
    """

    seconds: float = SECONDS
    benign: tuple[Benign, ...] = field(default=())

    def because(self, kernel: str, fault: Fault) -> str | None:
        """Return why a fault is passed over, or None if it counts."""
        return next((b.because for b in self.benign if b.covers(kernel, fault)), None)

    def with_marks(
        self, benign: list[dict[str, Any]], seconds: float | None
    ) -> "Policy":
        """Return this policy with further benign faults, and perhaps another limit."""
        if not isinstance(benign, (list, tuple)):
            raise ValueError(f"the mark: benign: expected a list, got {benign!r}")
        more = tuple(_benign(entry, "the mark") for entry in benign)
        limit = self.seconds if seconds is None else _seconds(seconds, "the mark")
        return replace(self, seconds=limit, benign=self.benign + more)


def read(path: Path) -> Policy:
    """Return the policy in a file; raise ValueError if it has anything else in it."""
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path}: cannot be read as a policy: {error}") from None
    for name in found:
        if name not in ("seconds", "benign"):
            raise ValueError(f"{path}: expected seconds and benign, got {name!r}")
    entries = found.get("benign", [])
    if not isinstance(entries, list):
        raise ValueError(f"{path}: expected benign as tables, [[benign]]")
    return Policy(
        _seconds(found.get("seconds", SECONDS), str(path)),
        tuple(_benign(entry, str(path)) for entry in entries),
    )


def _seconds(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ValueError(f"{where}: seconds: expected a number above 0, got {value!r}")
    return float(value)


def _benign(entry: Any, where: str) -> Benign:
    """Return an entry; it says why, and at least one thing that the fault has to have."""
    if not isinstance(entry, dict):
        raise ValueError(f"{where}: benign: expected a table, got {entry!r}")
    for name, value in entry.items():
        wanted = int if name == "line" else str
        if name not in (*PARTS, "because"):
            parts = ", ".join((*PARTS, "because"))
            raise ValueError(f"{where}: benign: expected {parts}; got {name!r}")
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise ValueError(f"{where}: benign: {name}: got {value!r}")
    if not entry.get("because") or len(entry) < 2:
        raise ValueError(f"{where}: benign: expected `because` and one of {PARTS}")
    return Benign(**entry)
