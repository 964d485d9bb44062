"""Runs the chapters that are not fresh: nbmake, each chapter once."""

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
from tools.building.made import Made

ANSI = re.compile(r"\x1b\[[0-9;]*m")
WIDGET = "application/vnd.jupyter.widget-view+json"
# A socket's address has 108 bytes at most; Python's own sockets add 32 to the folder.
DEEPEST = 70
LIMIT = 600  # seconds that one cell may take; none takes a tenth, but machines are busy


class ChapterFailed(Exception):
    """A chapter's cell raised; the message says chapter, cell and what it said."""


class Store(Made):
    """Executed chapters and what they depended on, kept between builds."""

    def notebook(self, page: Page) -> Path:
        return self.folder / f"{page.name}.ipynb"

    def has(self, page: Page, key: str) -> bool:
        """Whether the stored outputs of `page` come from what there is now."""
        return self.notebook(page).exists() and self.is_fresh(f"{page.name}.key", key)


def execute(keys: dict[Page, str], store: Store, path: tuple[Path, ...]) -> list[str]:
    """Bring the outputs of chapters up to date; return the names of those run.

    `keys` says of each chapter what its outputs depend on, `path` where modules are.
    """
    store.folder.mkdir(parents=True, exist_ok=True)
    stale = [page for page, now in keys.items() if not store.has(page, now)]
    with ExitStack() as made:
        for page in stale:
            made.enter_context(store.anew(f"{page.name}.key", keys[page]))
            nbformat.write(notebook(page), store.notebook(page))
        if stale:
            # The last chapters take longest: what is left at the end is short.
            said = _nbmake([store.notebook(page) for page in reversed(stale)], path)
            _raise_failures(stale, store, said)
        for page in stale:
            _strip(store.notebook(page))
    return [page.name for page in stale]


def _nbmake(files: list[Path], ours: tuple[Path, ...]) -> str:
    """Execute `files` in place; return what was said, empty if all went well.

    They run in a folder of their own: nbmake passes over every path with a `_build` in
    it and then reports success with nothing run.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text(
            "[pytest]\n", "utf-8"
        )  # not the tests' settings
        shutil.copy(tools.__file__, folder / "lean.py")  # a quicker start
        copies = [Path(shutil.copy(file, folder)) for file in files]
        command = ["-p", "lean"]
        command += ["-p", "nbmake.pytest_plugin", "--nbmake", "--overwrite", "-q"]
        command += [f"--nbmake-timeout={LIMIT}", "-p", "no:cacheprovider"]
        if len(files) > 1:
            command += ["-p", "xdist", "-n", str(min(len(files), os.cpu_count() or 1))]
        command += map(str, copies)
        with forking(folder, _environment(ours)) as (more, env):
            said = _pytest([*command, *more], env=env, cwd=folder)
        for copy, file in zip(copies, files, strict=True):
            shutil.copy(copy, file)
    return said


RUN_PYTEST = "import runpy; runpy.run_module('pytest', run_name='__main__')"


def _pytest(arguments: list[str], **options: object) -> str:
    """Run pytest; return what it said, empty if all went well."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    pipes |= {"encoding": "utf-8", "errors": "replace"}
    with child(RUN_PYTEST, *arguments, **pipes, **options) as running:
        said = running.stdout.read()
        return said if running.wait() else ""


def _environment(ours: tuple[Path, ...]) -> dict[str, str]:
    """The variables that chapters run with."""
    path = filter(None, [*map(str, ours), os.environ.get("PYTHONPATH")])
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONHASHSEED": "0",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # those that are named are enough
        "OPENBLAS_NUM_THREADS": "1",  # a sum has the same bits on any number of cores
    }


@contextmanager
def forking(folder: Path, env: dict[str, str]) -> Iterator[tuple[list[str], dict]]:
    """On Linux, kernels and Dask's workers are forked, which spares them their imports.

    Yields what pytest is told besides, and the variables that it runs with.
    """
    is_deep = len(os.fsencode(folder)) > DEEPEST
    if sys.platform != "linux" or os.environ.get("BOOK_FORKS") == "no" or is_deep:
        yield [], env
        return
    shutil.copy(forked_kernels.__file__, folder)
    server = forked_kernels.start(folder / "forks", env)
    try:
        more = {forked_kernels.ADDRESS: str(folder / "forks")}
        more["DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD"] = "forkserver"
        yield ["-p", "forked_kernels"], {**env, **more}
    finally:
        server.kill()
        server.wait()


def _raise_failures(stale: list[Page], store: Store, said: str) -> None:
    told: dict[str, list[str]] = {}  # what breaks every chapter is said once
    for page in stale:
        for where, what in _failure(page, store):
            told.setdefault(what, []).append(where)
    if told:
        failures = ("\n".join([*where, what]) for what, where in told.items())
        raise ChapterFailed("\n\n".join(failures))
    if said:
        raise ChapterFailed(f"nbmake failed without a failing cell:\n{said}")


def _failure(page: Page, store: Store) -> list[tuple[str, str]]:
    """Of the first cell that raised, if any: where it stands, and what it said."""
    nb = nbformat.read(store.notebook(page), as_version=4)
    for cell in code_cells(nb):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                where = f"{page.source.name}:{line_of(page, cell)}, cell {cell.id!r}"
                said = f"{output.ename}: {output.evalue or '(no message)'}"
                trace = ANSI.sub("", "\n".join(output.traceback))
                marked = [ln for ln in trace.splitlines() if re.match(r"\s*-+>", ln)]
                return [("\n".join([where, *marked[:1]]), f"  {said}")]
        if cell.source.strip() and cell.get("execution_count") is None:
            where = f"{page.source.name}:{line_of(page, cell)}, cell {cell.id!r}"
            return [(where, f"  did not finish (the limit is {LIMIT} s)")]
    return []


def _strip(file: Path) -> None:
    """Drop what differs from run to run and what only a live kernel can use."""
    nb = nbformat.read(file, as_version=4)
    nb.metadata.pop("widgets", None)
    nb.metadata.pop("nbmake", None)
    for cell in code_cells(nb):
        cell.metadata.pop("execution", None)
        cell.metadata.pop("nbmake", None)
        cell.outputs = _whole_streams(cell.outputs)
        for output in cell.outputs:
            output.get("data", {}).pop(WIDGET, None)
    nbformat.write(nb, file)


def _whole_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join what a cell printed, which a busy machine delivers in pieces.

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
    """The source of `page` as it is now, with the outputs its code gave."""
    nb = notebook(page)
    nb.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    cells = code_cells(nb)
    ran = code_cells(nbformat.read(store.notebook(page), as_version=4))
    if [cell.source for cell in cells] != [cell.source for cell in ran]:
        said = "outputs belong to other code (was it edited meanwhile?)"
        raise ChapterFailed(f"{page.source.name}: {said}")
    for cell, old in zip(cells, ran, strict=True):
        cell.outputs, cell.execution_count = old.outputs, old.execution_count
    return nb
