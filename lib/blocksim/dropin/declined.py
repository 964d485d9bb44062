"""What of Numba's is not simulated, and is named where it is used."""

from typing import Any


class Declined(Exception):
    """The simulator does not take a kernel or an argument, though Numba may."""


class DeclinedAttribute(Declined, AttributeError):
    """An attribute that Numba has; for ``hasattr`` it is absent."""


class NotSimulated:
    """Stands for a function of Numba's that the simulator has not."""

    def __init__(self, name: str):
        self.name = name

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        raise Declined(f"{self.name} is not simulated")

    def __repr__(self) -> str:
        return f"{self.name}, which is not simulated"


class Declaration:
    """A function that is linked to a kernel: kernels that call it are declined."""

    def __init__(self, name: str, *options: Any, **more: Any):
        self.name = name


class Ufunc:
    """``vectorize(target="cuda")``: it can be defined, and is declined when called."""

    def __init__(self, function: Any, *options: Any, **more: Any):
        self.name = getattr(function, "__name__", "a function")

    def add(self, *signature: Any, **options: Any) -> None:
        """Ignore a signature."""

    def disable_compile(self) -> None:
        """Do nothing: nothing is compiled."""

    def build_ufunc(self) -> "Ufunc":
        """Return the ufunc."""
        return self

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        raise Declined(f"{self.name}: vectorize for cuda is not simulated")
