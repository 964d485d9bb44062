"""What is said when a run fails: which chunk it was, and why."""

from importlib import import_module
from types import ModuleType


class ClusterError(RuntimeError):
    """A run that gave no answer; the message names the chunk, if it was one, and why."""


def span(keys: slice) -> str:
    """Return a chunk's place among the keys, as a reader says it.

    Parameters
    ----------
    keys : slice

    Returns
    -------
    str
    """
    return f"keys {keys.start:,} to {keys.stop - 1:,}"


def reason(error: BaseException) -> str:
    """Return what went wrong, in one line.

    Parameters
    ----------
    error : BaseException

    Returns
    -------
    str
        The kind of error, and what it says if it says something.
    """
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def needed(package: str, what_for: str) -> ModuleType:
    """Return an optional package, or say which one is missing.

    Parameters
    ----------
    package : str
    what_for : str
        What the reader asked for that takes it.

    Returns
    -------
    module
    """
    try:
        return import_module(package)
    except ImportError as error:
        own = package.partition(".")[0]
        if (error.name or "").partition(".")[0] != own:
            raise  # it is there, and lacks something itself: that is to be told
        raise ImportError(
            f"{what_for} needs {own}, which is not installed: pip install {own}",
            name=own,
        ) from None
