"""What earlier builds made, and of what: a thing is made again when that has changed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Made:
    """For each thing that was made, the word that stood for all that it was made of."""

    folder: Path

    def is_fresh(self, thing: str, of: str) -> bool:
        """Whether `thing` was made of just this."""
        note = self.folder / thing
        return note.exists() and note.read_text("utf-8") == of

    @contextmanager
    def anew(self, thing: str, of: str) -> Iterator[None]:
        """Make `thing`; if that fails, or is stopped, it counts as not made."""
        note = self.folder / thing
        note.unlink(missing_ok=True)
        yield
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(of, "utf-8")
