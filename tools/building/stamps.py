"""Which build products are up to date."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Stamps:
    """Maps each build product to the digest of its inputs, in a file for each."""

    folder: Path

    def is_fresh(self, product: str, digest: str) -> bool:
        """Return whether a product was made from inputs with this digest."""
        stamp = self.folder / product
        return stamp.exists() and stamp.read_text("utf-8") == digest

    @contextmanager
    def renew(self, product: str, digest: str) -> Iterator[None]:
        """Stamp a product once the body has made it; it is stale until then."""
        stamp = self.folder / product
        stamp.unlink(missing_ok=True)
        yield
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(digest, "utf-8")
