"""Opens a chapter as a reader who has nothing installed: does every figure show?

python -m tools.site.first_use [lab] [colab] [vscode] [gpu]

Each kind of notebook program gets a new environment, and the network. In JupyterLab the
chapter of the `.zip` is run with the page open, then once more after a reload. Colab and
VS Code cannot be started here; their kernels can, as they come: Colab's with the
packages it has, asking the published site for the book's; VS Code's with nothing. The
notebook for a GPU is run up to its first launch, with the newest NumPy, as on a machine
that has a driver of NVIDIA's; then a kernel is compiled, for which no GPU is needed.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Thread
from urllib.error import URLError
from urllib.request import urlopen

import nbformat
from nbformat import NotebookNode

from tools import serve
from tools.building import reader
from tools.building.chapters import code_cells

NOTEBOOKS = serve.HTML / "notebooks"
CHAPTER = "01-stable-softmax"
COLAB_HAS = ("ipykernel", "ipywidgets", "matplotlib", "numpy")
FIGURE = re.compile(r"^\s*(?:\w+ = )?figure\(", re.M)
MINUTES = 10


class NotShown(AssertionError):
    """A reader would have seen no figure, and not been told what to do."""


def environment(folder: Path, *packages: str) -> Path:
    """Make a new environment with these packages; return its Python."""
    print(f"    a new environment with {', '.join(packages)} …", flush=True)
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    command = [python, "-m", "pip", "install", "-q", *packages]
    subprocess.run(command, check=True)
    return python


def unpacked(folder: Path) -> Path:
    """The chapter with its wheels beside it, as the reader unpacks them."""
    with zipfile.ZipFile(NOTEBOOKS / f"{CHAPTER}.zip") as archive:
        archive.extractall(folder)
    return folder / f"{CHAPTER}.ipynb"


def expect(right: object, what: str) -> None:
    if not right:
        raise NotShown(what)
    print(f"    {what}")


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
        seen = []
        for line in lab.stderr:
            seen.append(line)
            if found := re.search(r"http://(?:localhost|127\.0\.0\.1):\d+/", line):
                Thread(target=lab.stderr.read, daemon=True).start()  # or it would stop
                until_it_listens(found[0])
                yield found[0]
                return
        raise RuntimeError(f"JupyterLab did not start:\n{''.join(seen)}")
    finally:
        lab.terminate()
        lab.wait()


def until_it_listens(address: str) -> None:
    """JupyterLab prints its address before it listens there."""
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
    """A fresh JupyterLab: run all with the page open, reload, and run all again."""
    from playwright.sync_api import sync_playwright

    from tools.site.chromium import FLAGS, find_chromium

    python = environment(folder / "env", "jupyterlab")
    chapter = unpacked(folder / "book")
    with ExitStack() as stack:
        address = stack.enter_context(jupyterlab(python, chapter.parent))
        playwright = stack.enter_context(sync_playwright())
        chromium = playwright.chromium.launch(
            executable_path=find_chromium(), args=FLAGS
        )
        page = chromium.new_page()
        page.set_default_timeout(MINUTES * 60_000)
        page.goto(f"{address}lab/tree/{chapter.name}")
        look(page, live=False)
        page.reload()
        look(page, live=True)
        chromium.close()


def look(page, live: bool) -> None:
    """Run all cells of the page's notebook and look at its figures."""
    page.wait_for_function(
        "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel"
    )
    seen = page.evaluate(RUN_ALL)
    figures, first = seen["figures"], seen["first"]
    expect(figures, f"{len(figures)} figures")
    if live:
        expect(all(each["live"] for each in figures), "after a reload all are live")
        return
    expect("reload this page" in first, "the first cell says to reload the page")
    expect(all(each["drawn"] for each in figures), "until then each shows its picture")
    told = all(each["live"] or "reload" in each["advice"] for each in figures)
    expect(told, "and says how to make it move")


# ---- kernels as Colab and VS Code start them ----

# What anywidget asks of Colab's own package.
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


def executed(python: Path, notebook: Path, **more: str) -> NotebookNode:
    """Run a notebook in the kernel of an environment, and read it."""
    env = {**os.environ, **more}
    command = [python, "-c", EXECUTE, notebook.name]
    subprocess.run(command, check=True, cwd=notebook.parent, env=env)
    return nbformat.read(notebook, as_version=4)


def look_at_outputs(nb: NotebookNode) -> None:
    """Each figure has a widget, and a still where the program cannot show widgets."""
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
    """A notebook alone; its wheels are where the book is published."""
    with ExitStack() as stack:
        site = stack.enter_context(serve.server())
        Thread(target=site.serve_forever, daemon=True).start()
        stack.callback(site.shutdown)
        wheels = sorted(wheel.name for wheel in NOTEBOOKS.glob("*.whl"))
        where = f"http://127.0.0.1:{site.server_port}/notebooks/"
        nb = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
        code_cells(nb)[0].source = reader.install_cell(wheels, where)
        yield nb


def as_in_colab(folder: Path) -> None:
    """A chapter, with what Colab has."""
    python = environment(folder / "env", *COLAB_HAS, "nbclient")
    with published(CHAPTER) as nb:
        notebook = folder / f"{CHAPTER}.ipynb"
        nbformat.write(nb, notebook)
        colab = folder / "google" / "colab"
        colab.mkdir(parents=True)
        (colab / "__init__.py").write_text("from . import output\n", "utf-8")
        (colab / "output.py").write_text(COLAB_OUTPUT, "utf-8")
        at_start = folder / "ipython" / "profile_default" / "startup" / "colab.py"
        at_start.parent.mkdir(parents=True)
        at_start.write_text("import google.colab\n", "utf-8")
        more = {"PYTHONPATH": str(folder), "IPYTHONDIR": str(folder / "ipython")}
        look_at_outputs(executed(python, notebook, **more))


def as_in_vscode(folder: Path) -> None:
    """The unpacked `.zip`, in a kernel that has nothing else."""
    python = environment(folder / "env", "ipykernel", "nbclient")
    look_at_outputs(executed(python, unpacked(folder / "book"), VSCODE_PID="1"))


NUMPY = "import importlib.metadata as m; print(m.version('numpy'))"
COMPILES = """
from kernellab.compile import compile_report
print(compile_report("tiled", "sm_80"))
"""


def on_a_gpu(folder: Path) -> None:
    """The notebook for a GPU, where `nvidia-smi` is and NumPy is the newest."""
    python = environment(folder / "env", *COLAB_HAS, "nbclient")
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
        asked = str(executed(python, notebook, PATH=path).cells[1].outputs)
        if too_new:
            expect("restart this notebook" in asked, "it asks for a restart")
        nb.cells[1].metadata["tags"] = []
        nb.cells.append(nbformat.v4.new_code_cell(COMPILES))
        nbformat.write(nb, notebook)
        ran = executed(python, notebook, PATH=path)
    said = "".join(str(out.get("text", "")) for out in ran.cells[-1].outputs)
    expect("sm_80" in said, "a kernel is compiled")


PROGRAMS: dict[str, Callable[[Path], None]] = {
    "lab": in_jupyterlab,
    "colab": as_in_colab,
    "vscode": as_in_vscode,
    "gpu": on_a_gpu,
}


def main(asked: list[str]) -> int:
    if unknown := [name for name in asked if name not in PROGRAMS]:
        print(f"expected {', '.join(PROGRAMS)}; got {unknown[0]}", file=sys.stderr)
        return 2
    if not NOTEBOOKS.is_dir():
        print("no notebooks yet: `python -m tools.build` makes them", file=sys.stderr)
        return 1
    wrong = 0
    for name in asked or PROGRAMS:
        print(f"  {name}")
        folder = Path(tempfile.mkdtemp(prefix=f"first-use-{name}-"))
        try:
            PROGRAMS[name](folder)
        except (NotShown, RuntimeError, subprocess.CalledProcessError) as error:
            print(f"    NOT: {error}")
            wrong += 1
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
