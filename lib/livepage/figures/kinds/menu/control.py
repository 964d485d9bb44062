"""One of several values: a menu, which takes a line however many there are."""

from dataclasses import dataclass

from ..choice.control import Choice


@dataclass(frozen=True)
class Menu(Choice):
    """One of the values `of`."""
