"""Plants faults in sources, by replacing a text; a check has to report them.

A fault that is not planted proves nothing. So the text has to occur exactly once, unless
a test chooses one of several occurrences, or takes each in turn.
"""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType


def planted(source: str, right: str, wrong: str, nth: int | None = None) -> str:
    """Return a source with `wrong` instead of `right`, at the nth of its occurrences."""
    parts = source.split(right)
    places = len(parts) - 1
    assert places == 1 if nth is None else places > nth, f"{right!r}: {places} times"
    at = (nth or 0) + 1
    return right.join(parts[:at]) + wrong + right.join(parts[at:])


def at_each_place(source: str, right: str, wrong: str) -> Iterator[str]:
    """Yield a source with the fault at one occurrence, for each of them in turn."""
    places = source.count(right)
    assert places, f"{right!r}: not there"
    for nth in range(places):
        yield planted(source, right, wrong, nth)


def faulty(module: ModuleType, *changes: tuple[str, str]) -> ModuleType:
    """Return a module as it would be with faults in its source."""
    source = Path(str(module.__file__)).read_text("utf-8")
    for right, wrong in changes:
        source = planted(source, right, wrong)
    fault = ModuleType("fault")
    exec(compile(source, "fault", "exec"), fault.__dict__)
    return fault
