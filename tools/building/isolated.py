"""Runs Sphinx in a process that does other things before and after."""

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
    """Undo, after a run of Sphinx, what Sphinx registers with docutils.

    The reader of `_toc.yml` looks at every object of the process. A weak proxy whose
    object is gone, as compiled kernels leave behind, raises an error then, so weak
    proxies are hidden from it.
    """
    collectors.gc = SimpleNamespace(get_objects=objects)
    try:
        with patch_docutils(None), docutils_namespace():
            yield
    finally:
        collectors.gc = gc


def objects() -> list[Any]:
    """Return every object of the process that is not a weak proxy."""
    return [each for each in gc.get_objects() if type(each) not in weakref.ProxyTypes]
