"""Sphinx in a process that has done other things, and will do more after it."""

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from sphinx.util.docutils import docutils_namespace, patch_docutils
from sphinx_external_toc import collectors


@contextmanager
def sphinx_apart() -> Iterator[None]:
    """What a run of Sphinx registers with docutils is gone after it.

    The reader of `_toc.yml` asks every object of the process what it is. A weak proxy
    whose object is gone, as compiled kernels leave behind, answers with an error: it is
    not shown any.
    """
    collectors.gc = SimpleNamespace(get_objects=asked)
    try:
        with patch_docutils(None), docutils_namespace():
            yield
    finally:
        collectors.gc = gc


def asked() -> list[Any]:
    """Every object of the process that is not a weak proxy of another."""
    return [each for each in gc.get_objects() if type(each) not in weakref.ProxyTypes]
