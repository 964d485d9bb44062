"""Opens a chapter as a reader who has nothing installed, and checks every figure.

python -m tools.site.first_use [lab] [colab] [vscode] [gpu]

Each notebook program gets a new environment, and the network. In JupyterLab the chapter of
the `.zip` runs with the page open, then again after a reload. Colab and VS Code cannot run
here, but their kernels can: Colab's with the packages that Colab installs, and the book's
from the published site; VS Code's without packages. The notebook for a GPU runs up to its
first launch, with the newest NumPy, as on a machine with NVIDIA's driver; then it compiles
a kernel, which needs no GPU.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import nbformat
from nbformat import NotebookNode

from tools.building import reader
from tools.building.chapters import code_cells
from tools.common import options
from tools.common.environments import fresh
from tools.common.paths import HTML
from tools.serve import serving
from tools.site.chromium import open_chromium, wait_for_line

NOTEBOOKS = HTML / "notebooks"
CHAPTER = "01-stable-softmax"
COLAB_HAS = ("ipykernel", "ipywidgets", "matplotlib", "numpy")
FIGURE = re.compile(r"^\s*(?:\w+ = )?figure\(", re.M)
MINUTES = 10


class NotShown(AssertionError):
    """A reader would see no figure, and no advice."""


def unpack(folder: Path) -> Path:
    """Unpack the chapter with its wheels; return the path of the notebook."""
    with zipfile.ZipFile(NOTEBOOKS / f"{CHAPTER}.zip") as archive:
        archive.extractall(folder)
    return folder / f"{CHAPTER}.ipynb"


def expect(holds: object, claim: str) -> None:
    """Print a claim, or raise if it does not hold."""
    if not holds:
        raise NotShown(claim)
    print(f"    {claim}")


# ---- JupyterLab ----


@contextmanager
def jupyterlab(python: Path, folder: Path) -> Iterator[str]:
    """Run JupyterLab in `folder`; yield its address."""
    command = [python, "-m", "jupyterlab", "--no-browser", "--ServerApp.port=0"]
    command += ["--LabApp.expose_app_in_browser=True", "--IdentityProvider.token="]
    command += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    lab = subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        pattern = r"http://(?:localhost|127\.0\.0\.1):\d+/"
        address = wait_for_line(lab.stderr, pattern)[0]
        wait_until_listening(address)
        yield address
    finally:
        lab.terminate()
        lab.wait()


def wait_until_listening(address: str) -> None:
    """Wait for JupyterLab, which prints its address before it listens there."""
    for _ in range(600):
        with suppress(URLError), urlopen(address + "api"):
            return
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not listen at {address}")


RUN_ALL = """async () => {
  const { commands, shell } = window.jupyterapp;
  await commands.execute("notebook:run-all-cells");
  const figures = [];
  for (const cell of shell.currentWidget.content.widgets) {
    cell.node.scrollIntoView();
    await new Promise((done) => setTimeout(done, 300));
    if (!/^\\s*(?:\\w+ = )?figure\\(/m.test(cell.model.sharedModel.getSource())) continue;
    const host = cell.node.querySelector(".os-figure");
    figures.push({
      live: Boolean(host?.matches(".os-live")),
      drawn: Boolean(host?.querySelector("svg")?.getBoundingClientRect().width),
      advice: host?.querySelector(".os-still")?.textContent ?? "",
    });
  }
  // By textContent: a cell that JupyterLab has scrolled out of sight has no innerText.
  const { node } = shell.currentWidget.content.widgets[0];
  return { figures, first: node.querySelector(".jp-Cell-outputArea").textContent };
}"""


def in_jupyterlab(folder: Path) -> None:
    """In a new JupyterLab, run all cells with the page open, reload, and run them again."""
    python = fresh(folder / "env", "jupyterlab")
    chapter = unpack(folder / "book")
    with jupyterlab(python, chapter.parent) as address, open_chromium() as chromium:
        page = chromium.new_page()
        page.set_default_timeout(MINUTES * 60_000)
        page.goto(f"{address}lab/tree/{chapter.name}")
        check_page(page, live=False)
        page.reload()
        check_page(page, live=True)


def check_page(page, live: bool) -> None:
    """Run all cells of the page's notebook, and check its figures."""
    page.wait_for_function(
        "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel"
    )
    outputs = page.evaluate(RUN_ALL)
    figures, first = outputs["figures"], outputs["first"]
    expect(figures, f"{len(figures)} figures")
    if live:
        expect(all(each["live"] for each in figures), "after a reload all are live")
        return
    expect("reload this page" in first, "the first cell says to reload the page")
    expect(all(each["drawn"] for each in figures), "until then each shows its picture")
    advised = all(each["live"] or "reload" in each["advice"] for each in figures)
    expect(advised, "and says how to make it move")


# ---- kernels as Colab and VS Code start them ----

# The part of Colab's own package that anywidget uses.
COLAB_OUTPUT = """
from types import SimpleNamespace
_widgets = SimpleNamespace(_installed_url=None)
enable_custom_widget_manager = disable_custom_widget_manager = lambda: None
"""

EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
nb = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(nb, timeout=600, kernel_name="python3").execute()
nbformat.write(nb, sys.argv[1])
"""


def execute(python: Path, notebook: Path, **env: str) -> NotebookNode:
    """Run a notebook in the kernel of an environment; return it with its outputs."""
    command = [python, "-c", EXECUTE, notebook.name]
    folder = notebook.parent
    subprocess.run(command, check=True, cwd=folder, env=os.environ | env)
    return nbformat.read(notebook, as_version=4)


def check_outputs(nb: NotebookNode) -> None:
    """Check that each figure has a widget, and a still for programs without widgets."""
    first, *cells = code_cells(nb)
    printed = "".join(output.get("text", "") for output in first.outputs)
    expect("reload" not in printed, "the first cell asks for no reload")
    figures = [cell for cell in cells if FIGURE.search(cell.source)]
    expect(figures, f"{len(figures)} figures")
    for cell in figures:
        shown = next(output.data for output in cell.outputs if "data" in output)
        widget = "application/vnd.jupyter.widget-view+json" in shown
        if not (widget and "<svg" in shown.get("text/html", "")):
            raise NotShown(f"no widget or no still: {cell.source[:60]!r}")
    expect(True, "each is a widget with a still behind it")


@contextmanager
def published(name: str) -> Iterator[NotebookNode]:
    """Yield a notebook without its wheels, which it finds on the published site."""
    with serving() as site:
        wheels = sorted(wheel.name for wheel in NOTEBOOKS.glob("*.whl"))
        nb = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
        code_cells(nb)[0].source = reader.install_cell(wheels, f"{site}notebooks/")
        yield nb


def as_in_colab(folder: Path) -> None:
    """Run a chapter with the packages of Colab."""
    python = fresh(folder / "env", *COLAB_HAS, "nbclient")
    with published(CHAPTER) as nb:
        notebook = folder / f"{CHAPTER}.ipynb"
        nbformat.write(nb, notebook)
        colab = folder / "google" / "colab"
        colab.mkdir(parents=True)
        (colab / "__init__.py").write_text("from . import output\n", "utf-8")
        (colab / "output.py").write_text(COLAB_OUTPUT, "utf-8")
        startup = folder / "ipython" / "profile_default" / "startup" / "colab.py"
        startup.parent.mkdir(parents=True)
        startup.write_text("import google.colab\n", "utf-8")
        env = {"PYTHONPATH": str(folder), "IPYTHONDIR": str(folder / "ipython")}
        check_outputs(execute(python, notebook, **env))


def as_in_vscode(folder: Path) -> None:
    """Run the unpacked `.zip` in a kernel without other packages."""
    python = fresh(folder / "env", "ipykernel", "nbclient")
    check_outputs(execute(python, unpack(folder / "book"), VSCODE_PID="1"))


NUMPY = "import importlib.metadata as m; print(m.version('numpy'))"
COMPILES = """
from kernellab.compile import compile_report
print(compile_report("tiled", "sm_80"))
"""


def on_a_gpu(folder: Path) -> None:
    """Run the notebook for a GPU, with an `nvidia-smi` and the newest NumPy."""
    python = fresh(folder / "env", *COLAB_HAS, "nbclient")
    newest = subprocess.check_output([python, "-c", NUMPY], text=True).strip()
    too_new = tuple(map(int, newest.split(".")[:2])) >= (2, 5)
    if not too_new:
        print(f"    NumPy {newest} is the newest for this Python: nothing to replace")
    driver = folder / "bin" / ("nvidia-smi.bat" if os.name == "nt" else "nvidia-smi")
    driver.parent.mkdir()
    driver.write_text("#!/bin/sh\n", "utf-8")
    driver.chmod(0o755)
    with published("gpu") as nb:
        nb.cells = code_cells(nb)[:2]  # the book's packages, and what reaches the GPU
        notebook = folder / "gpu.ipynb"
        path = os.pathsep.join([str(driver.parent), os.environ["PATH"]])
        nb.cells[1].metadata["tags"] = ["raises-exception"]  # if it asks for a restart
        nbformat.write(nb, notebook)
        outputs = str(execute(python, notebook, PATH=path).cells[1].outputs)
        if too_new:
            expect("restart this notebook" in outputs, "it asks for a restart")
        nb.cells[1].metadata["tags"] = []
        nb.cells.append(nbformat.v4.new_code_cell(COMPILES))
        nbformat.write(nb, notebook)
        last = execute(python, notebook, PATH=path).cells[-1]
    printed = "".join(str(output.get("text", "")) for output in last.outputs)
    expect("sm_80" in printed, "a kernel is compiled")


PROGRAMS: dict[str, Callable[[Path], None]] = {
    "lab": in_jupyterlab,
    "colab": as_in_colab,
    "vscode": as_in_vscode,
    "gpu": on_a_gpu,
}


def main() -> int:
    names = options.parse(PROGRAMS) or PROGRAMS
    if not NOTEBOOKS.is_dir():
        print("no notebooks yet: `python -m tools.build` makes them", file=sys.stderr)
        return 1
    wrong = 0
    for name in names:
        print(f"  {name}")
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            try:
                PROGRAMS[name](Path(folder))
            except (NotShown, RuntimeError, subprocess.CalledProcessError) as error:
                print(f"    NOT: {error}")
                wrong += 1
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
