"""Runs planted faults, one by one: a check has to notice each, or a reason say why not.

A table lists the faults. Its tool plants one of them and returns how it was noticed, or
nothing; the runner counts and prints.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

Planted = TypeVar("Planted")
MISSED = "NOT NOTICED"


class Misplanted(Exception):
    """A fault was not planted, or a check failed for another reason."""


class Tally:
    """How many faults were noticed, how many are explained, and what is wrong."""

    def __init__(self) -> None:
        self.noticed = self.explained = 0
        self.wrong: list[str] = []

    def __str__(self) -> str:
        return (
            f"{self.noticed} of {self.count} noticed, {self.explained} explained,"
            f" {len(self.wrong)} wrong: {self.share:.0%}"
        )

    @property
    def count(self) -> int:
        return self.noticed + self.explained + len(self.wrong)

    @property
    def share(self) -> float:
        """The noticed share of the faults that can be noticed."""
        return self.noticed / max(1, self.noticed + len(self.wrong))

    def add(self, fault: object, said: str, why: str) -> str:
        """Count a fault by how it was noticed and why nobody can; return the verdict."""
        if said and why:
            self.wrong.append(f"{fault}: noticed, though explained: {said[:90]}")
        elif said:
            self.noticed += 1
        elif why:
            self.explained += 1
        else:
            self.wrong.append(f"{fault}: {MISSED}")
        return said or why or MISSED


def run(
    faults: Iterable[Planted],
    noticed: Callable[[Planted], str],
    why: Callable[[Planted], str] = lambda fault: "",
    show: bool = True,
) -> Tally:
    """Plant each fault.

    Parameters
    ----------
    faults : iterable
        A fault's text names it.
    noticed : callable
        Plants a fault and returns how it was noticed, or "".
    why : callable
        Returns the reason why nothing can notice a fault, or "".
    show : bool
        Whether to print every fault, or only those that were not noticed.
    """
    tally = Tally()
    for fault in faults:
        if show:
            print(f"  {fault}", flush=True)
        try:
            verdict = tally.add(fault, said := noticed(fault), why(fault))[:120]
        except Misplanted as problem:
            tally.wrong.append(f"{fault}: {problem}")
            verdict, said = str(problem), ""
        if not (show or said):
            print(f"  {fault}")
        if show or not said:
            print(f"      {verdict}", flush=True)
    return tally
