"""Runs Sphinx in a process that has other work before and after it."""

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from sphinx.util.docutils import docutils_namespace, patch_docutils
from sphinx_external_toc import collectors


@contextmanager
def isolated_sphinx() -> Iterator[None]:
    """Undo, after a run of Sphinx, what the run has registered with docutils.

    The reader of `_toc.yml` examines every object of the process. A dead weak proxy,
    such as compiled kernels leave behind, raises when it is examined: the reader gets a
    list without proxies.
    """
    collectors.gc = SimpleNamespace(get_objects=objects_but_proxies)
    try:
        with patch_docutils(None), docutils_namespace():
            yield
    finally:
        collectors.gc = gc


def objects_but_proxies() -> list[Any]:
    """Return every object of the process that is no weak proxy."""
    return [each for each in gc.get_objects() if type(each) not in weakref.ProxyTypes]
