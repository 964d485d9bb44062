"""Stamps: which inputs each product of an earlier build came from."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Stamps:
    """Maps each build product to the digest of its inputs, a file each."""

    folder: Path

    def is_fresh(self, product: str, inputs: str) -> bool:
        """Whether a product came from just these inputs."""
        stamp = self.folder / product
        return stamp.exists() and stamp.read_text("utf-8") == inputs

    @contextmanager
    def renew(self, product: str, inputs: str) -> Iterator[None]:
        """Build a product; if that fails, or is stopped, the product has no stamp."""
        stamp = self.folder / product
        stamp.unlink(missing_ok=True)
        yield
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(inputs, "utf-8")
