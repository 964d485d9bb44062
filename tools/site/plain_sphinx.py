"""Builds the book by plain Sphinx and MyST-NB, both the newest, and compares the pages.

python -m tools.site.plain_sphinx

Jupyter Book 1 holds the book on an old Sphinx. This rehearses the way out: no page of the
published site is made by it. It takes the executed notebooks of the last `make book`.
"""

import difflib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from bs4 import BeautifulSoup, Tag

from tools import build
from tools.common import options
from tools.common.environments import fresh, variables
from tools.common.paths import HTML, ROOT

SPHINX = ("sphinx", "myst-nb", "sphinx-external-toc", "sphinxcontrib-bibtex")
KIT = ("mini-racer", "fonttools[woff]", "tinycss2", "pyyaml")
# What the docstrings of the page *The library* import.
LIBRARY = ("numpy", "numba", "matplotlib", "ipywidgets", "anywidget")
LIBRARY += ("dask[array]", "distributed", "zarr")
SHOWN = 12  # lines of a page's difference
ADVICE = """\
  A page differs, or plain Sphinx refused it. `docs/decisions/0005-jupyter-book-1.md` says
  what the rehearsal is for. Mend `lib/livepage/site` so that both versions agree."""


def configuration(config: dict) -> dict:
    """Return what `conf.py` would say, from what `_config.yml` says."""
    extensions = config["sphinx"]["config"]["extensions"]
    repository, bibliographies = config["repository"], config["bibtex_bibfiles"]
    return {
        **config["sphinx"]["config"],
        "extensions": [name for name in extensions if name != "jupyter_book"],
        "author": config["author"],
        "copyright": config["copyright"],
        "html_title": config["title"],
        "html_baseurl": config["html"]["baseurl"],
        "html_theme_options": {
            "repository_url": repository["url"],
            "repository_branch": repository["branch"],
            "path_to_docs": repository["path_to_book"],
        },
        "exclude_patterns": config["exclude_patterns"],
        "bibtex_bibfiles": [str(ROOT / "book" / name) for name in bibliographies],
        "book_notebooks": "notebooks/",
        "external_toc_exclude_missing": config["only_build_toc_files"],
        "external_toc_path": str(ROOT / "_toc.yml"),
        "nb_execution_mode": "off",
    }


def render(python: Path, folder: Path) -> str:
    """Render the executed pages into `folder / "html"`; return Sphinx's complaints."""
    config = configuration(yaml.safe_load((ROOT / "_config.yml").read_text("utf-8")))
    lines = [f"{name} = {value!r}\n" for name, value in config.items()]
    (folder / "conf.py").write_text("".join(lines), "utf-8")
    command = [python, "-m", "sphinx", "-q", "-n", "-W", "--keep-going", "-c", folder]
    command += ["-d", folder / "trees", build.HERE.staged, folder / "html"]
    done = subprocess.run(command, cwd=ROOT, env=variables(), stderr=subprocess.PIPE)
    return done.stderr.decode() if done.returncode else ""


def pages(html: Path) -> dict[str, BeautifulSoup]:
    """Return the pages of a site; a section's labels come in one order in all of them.

    Either Sphinx gives a section all its labels. They differ in which label is the id of
    the section, and stands in links, and which ones are those of empty spans in it.
    """
    soups, label = {}, {}
    for file in sorted(html.glob("*.html")):
        soup = soups[file.name] = BeautifulSoup(file.read_text("utf-8"), "html.parser")
        for section in soup.find_all("section", id=True):
            spans = section.find_all("span", id=True, recursive=False)
            named = [section, *(span for span in spans if not span.contents)]
            ids = sorted(each["id"] for each in named)
            for each, name in zip(named, ids):
                label[f"{file.name}#{each['id']}"] = ids[0]
                each["id"] = name
    for name, soup in soups.items():
        for link in soup.find_all("a", href=True):
            page, _, anchor = link["href"].partition("#")
            anchor = label.get(f"{page or name}#{anchor}", anchor)
            link["href"] = f"{page}#{anchor}" if anchor else page
    return soups


def content(soup: BeautifulSoup) -> list[str]:
    """Return what a page holds, a line each: its text and its elements' attributes."""
    for each in soup.select(
        "dt.sig :is(span, em, abbr)"
    ):  # finer marked up in Sphinx 9
        each.unwrap()
    soup.smooth()
    lines = []
    for node in soup.descendants:
        if isinstance(node, Tag):
            lines += [f"<{node.name}> {json.dumps(node.attrs)}"] if node.attrs else []
        elif text := " ".join(node.split()):
            lines.append(text)
    return lines


def compare(ours: Path, theirs: Path) -> list[str]:
    """Return the pages that differ, each with its first differences."""
    complaints = []
    book, plain = pages(ours), pages(theirs)
    for name in sorted({*book, *plain}):
        if not (name in book and name in plain):
            complaints.append(f"{name}: only one of the two has it")
            continue
        pair = content(book[name]), content(plain[name])
        changed = list(difflib.unified_diff(*pair, "book", "plain", lineterm="", n=0))
        if changed:
            listed = "\n    ".join(changed[2 : 2 + SHOWN])
            complaints.append(f"{name}: {len(changed)} lines\n    {listed}")
    print(f"  {len(book)} pages compared, {len(complaints)} differ")
    return complaints


def main() -> int:
    options.parse([])
    if not (HTML / "index.html").exists():
        sys.exit("no pages to compare: `make book` makes them")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = fresh(folder / "env", *SPHINX, *KIT, *LIBRARY)
        pip = [python, "-m", "pip", "list", "--format=freeze"]
        listed = subprocess.check_output(pip, text=True).split()
        print("  ", *[line for line in listed if line.lower().startswith(SPHINX[:2])])
        refused = render(python, folder)
        wrong = [refused] if refused else compare(HTML, folder / "html")
    return options.report(
        wrong, ADVICE if wrong else "  plain Sphinx makes the same pages"
    )


if __name__ == "__main__":
    sys.exit(main())
