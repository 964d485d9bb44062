"""Runs the stale chapters by nbmake, each once."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import nbformat
from nbformat import NotebookNode

import tools
from livepage.child import child
from tools.building import forked_kernels
from tools.building.chapters import Page, code_cells, line_of, notebook
from tools.building.stamps import Stamps

ANSI = re.compile(r"\x1b\[[0-9;]*m")
WIDGET = "application/vnd.jupyter.widget-view+json"
# A socket's address has 108 bytes at most; Python's own sockets add 32 to the folder.
DEEPEST = 70
LIMIT = 600  # seconds for one cell; none takes a tenth, unless the machine is busy


class ChapterFailed(Exception):
    """A chapter's cell raised; the message names chapter, cell and error."""


class Store(Stamps):
    """Caches executed chapters between builds, each with the key of its outputs."""

    def notebook(self, page: Page) -> Path:
        return self.folder / f"{page.name}.ipynb"

    def has(self, page: Page, key: str) -> bool:
        """Return whether the stored outputs of `page` have this key."""
        return self.notebook(page).exists() and self.is_fresh(f"{page.name}.key", key)


def execute(keys: dict[Page, str], store: Store, path: tuple[Path, ...]) -> list[str]:
    """Update the outputs of chapters; return the names of the chapters that ran.

    `keys` holds for each chapter the digest of all that its outputs depend on, and `path`
    the folders that modules are imported from.
    """
    store.folder.mkdir(parents=True, exist_ok=True)
    stale = [page for page, key in keys.items() if not store.has(page, key)]
    with ExitStack() as stamps:
        for page in stale:
            stamps.enter_context(store.renew(f"{page.name}.key", keys[page]))
            nbformat.write(notebook(page), store.notebook(page))
        if stale:
            # The last chapters take longest. They start first, so that no core idles.
            files = [store.notebook(page) for page in reversed(stale)]
            _raise_failures(stale, store, _run_nbmake(files, path))
        for page in stale:
            _strip(store.notebook(page))
    return [page.name for page in stale]


def _run_nbmake(files: list[Path], path: tuple[Path, ...]) -> str:
    """Execute `files` in place; return nbmake's output, empty if all cells ran.

    They run in a temporary folder: nbmake skips every path with a `_build` in it, and
    then reports success.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # An empty configuration, so that pytest does not use that of the tests.
        (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
        shutil.copy(tools.__file__, folder / "lean.py")  # a quicker start
        copies = [Path(shutil.copy(file, folder)) for file in files]
        command = ["-p", "lean"]
        command += ["-p", "nbmake.pytest_plugin", "--nbmake", "--overwrite", "-q"]
        command += [f"--nbmake-timeout={LIMIT}", "-p", "no:cacheprovider"]
        if len(files) > 1:
            command += ["-p", "xdist", "-n", str(min(len(files), os.cpu_count() or 1))]
        command += map(str, copies)
        with forking(folder, _environment(path)) as (plugins, env):
            output = _run_pytest([*command, *plugins], env=env, cwd=folder)
        for copy, file in zip(copies, files, strict=True):
            shutil.copy(copy, file)
    return output


RUN_PYTEST = "import runpy; runpy.run_module('pytest', run_name='__main__')"


def _run_pytest(arguments: list[str], **options: object) -> str:
    """Run pytest; return its output, empty if it succeeds."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    pipes |= {"encoding": "utf-8", "errors": "replace"}
    with child(RUN_PYTEST, *arguments, **pipes, **options) as process:
        output = process.stdout.read()
        return output if process.wait() else ""


def _environment(path: tuple[Path, ...]) -> dict[str, str]:
    """Return the environment variables that chapters run with."""
    folders = filter(None, [*map(str, path), os.environ.get("PYTHONPATH")])
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(folders),
        "PYTHONHASHSEED": "0",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # the command line names all plugins
        "OPENBLAS_NUM_THREADS": "1",  # a sum has the same bits on any number of cores
    }


@contextmanager
def forking(folder: Path, env: dict[str, str]) -> Iterator[tuple[list[str], dict]]:
    """On Linux, fork kernels and Dask's workers, which saves them their imports.

    Yields pytest's further options, and the variables that it runs with.
    """
    is_deep = len(os.fsencode(folder)) > DEEPEST
    if sys.platform != "linux" or os.environ.get("BOOK_FORKS") == "no" or is_deep:
        yield [], env
        return
    shutil.copy(forked_kernels.__file__, folder)
    server = forked_kernels.start(folder / "forks", env)
    try:
        variables = {forked_kernels.ADDRESS: str(folder / "forks")}
        variables["DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD"] = "forkserver"
        yield ["-p", "forked_kernels"], {**env, **variables}
    finally:
        server.kill()
        server.wait()


def _raise_failures(stale: list[Page], store: Store, output: str) -> None:
    """Raise if a cell failed; an error of many chapters is printed once."""
    places: dict[str, list[str]] = {}
    for page in stale:
        for place, message in _failure(page, store):
            places.setdefault(message, []).append(place)
    if places:
        failures = ("\n".join([*where, message]) for message, where in places.items())
        raise ChapterFailed("\n\n".join(failures))
    if output:
        raise ChapterFailed(f"nbmake failed without a failing cell:\n{output}")


def _failure(page: Page, store: Store) -> list[tuple[str, str]]:
    """Return the place and the message of the first cell that failed, if one did."""
    nb = nbformat.read(store.notebook(page), as_version=4)
    for cell in code_cells(nb):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                message = f"{output.ename}: {output.evalue or '(no message)'}"
                trace = ANSI.sub("", "\n".join(output.traceback))
                marked = [ln for ln in trace.splitlines() if re.match(r"\s*-+>", ln)]
                return [("\n".join([_place(page, cell), *marked[:1]]), f"  {message}")]
        if cell.source.strip() and cell.get("execution_count") is None:
            return [(_place(page, cell), f"  did not finish (the limit is {LIMIT} s)")]
    return []


def _place(page: Page, cell: NotebookNode) -> str:
    return f"{page.source.name}:{line_of(page, cell)}, cell {cell.id!r}"


def _strip(file: Path) -> None:
    """Remove what differs from run to run, and what needs a live kernel."""
    nb = nbformat.read(file, as_version=4)
    nb.metadata.pop("widgets", None)
    nb.metadata.pop("nbmake", None)
    for cell in code_cells(nb):
        cell.metadata.pop("execution", None)
        cell.metadata.pop("nbmake", None)
        cell.outputs = _join_streams(cell.outputs)
        for output in cell.outputs:
            output.get("data", {}).pop(WIDGET, None)
    nbformat.write(nb, file)


def _join_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join consecutive pieces of a stream, into which a busy machine splits it.

    MyST-NB would begin a new line with every piece.
    """
    joined: list[NotebookNode] = []
    for output in outputs:
        last = joined[-1] if joined else None
        if last and output.output_type == "stream" and last.get("name") == output.name:
            last.text += output.text
        else:
            joined.append(output)
    return joined


def with_outputs(page: Page, store: Store) -> NotebookNode:
    """Return the current source of `page` with the stored outputs of its code."""
    nb = notebook(page)
    nb.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    cells = code_cells(nb)
    ran = code_cells(nbformat.read(store.notebook(page), as_version=4))
    if [cell.source for cell in cells] != [cell.source for cell in ran]:
        message = "outputs belong to other code (was it edited meanwhile?)"
        raise ChapterFailed(f"{page.source.name}: {message}")
    for cell, old in zip(cells, ran, strict=True):
        cell.outputs, cell.execution_count = old.outputs, old.execution_count
    return nb
