"""One entry of the bank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MISTAKES = ("choices", "mutants", "wrong")  # the fields that list wrong answers


@dataclass(frozen=True, eq=False)
class Drill:
    """One drill, as written in its file.

    Attributes
    ----------
    id : str
        The drill's name, the same in every language.
    kind : str
        The name of a folder in `kinds`.
    file : str
        The name of its file.
    fields : mapping
        All fields, as in the file.
    """

    id: str
    kind: str
    file: str
    fields: Mapping[str, Any]

    @property
    def chapter(self) -> str:
        """The chapter that shows it: its field `page`, or else its file's name."""
        return self.fields.get("page", self.file.removesuffix(".yml"))

    def get(self, field: str, default: Any = None) -> Any:
        return self.fields.get(field, default)

    @property
    def mistakes(self) -> list[Mapping[str, Any]]:
        """The listed wrong answers. Graders refer to each by its index."""
        listed = (field for field in MISTAKES if field in self.fields)
        return self.fields.get(next(listed, ""), [])

    def fault(self, field: str, message: str) -> ValueError:
        """Return an error that names this drill's file, id and field."""
        return ValueError(f"{self.file}, drill {self.id!r}, field {field!r}: {message}")
