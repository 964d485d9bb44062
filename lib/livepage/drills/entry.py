"""One entry of the bank: a drill as its file gives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MISTAKES = ("choices", "mutants", "wrong")  # the fields that list wrong answers


@dataclass(frozen=True, eq=False)
class Drill:
    """One drill as its file gives it.

    Attributes
    ----------
    id : str
        Its name, the same in every language.
    kind : str
        The name of a folder in `kinds`.
    file : str
        Where it is written, for error messages: named as the chapter it belongs to.
    fields : mapping
        The rest, as in the file.
    """

    id: str
    kind: str
    file: str
    fields: Mapping[str, Any]

    @property
    def chapter(self) -> str:
        """The chapter it belongs to."""
        return self.file.removesuffix(".yml")

    def get(self, field: str, default: Any = None) -> Any:
        """Return a field, or the default where the file has none."""
        return self.fields.get(field, default)

    @property
    def mistakes(self) -> list[Mapping[str, Any]]:
        """The wrong answers it lists; graders know each by its number in this list."""
        listed = (field for field in MISTAKES if field in self.fields)
        return self.fields.get(next(listed, ""), [])

    def fault(self, field: str, message: str) -> ValueError:
        """Return the error that names this drill's file, id and field."""
        return ValueError(f"{self.file}, drill {self.id!r}, field {field!r}: {message}")
