"""What was measured: stored with the machine it was measured on, shown as a table.

Timings differ from run to run, so a page never shows its own. `python -m tools.bench`
measures and writes `book/data/*.json`; a chapter shows what is written there. What
others measured, and published, is in `book/data/published.json`.
"""

import json
from html import escape
from pathlib import Path
from typing import Any, NamedTuple


class Measurement(NamedTuple):
    """A table of measured figures, and where they come from.

    `rows` holds one list per line of the table, its numbers already rounded.
    """

    what: str
    columns: list[str]
    rows: list[list[Any]]
    machine: str
    versions: dict[str, str]
    date: str
    command: str

    def source(self) -> str:
        """Return one line that says where and how it was measured."""
        versions = ", ".join(f"{name} {n}" for name, n in self.versions.items())
        return f"{self.machine}; {versions}; {self.date}; {self.command}"

    def __str__(self) -> str:
        lines = [[str(cell) for cell in line] for line in (self.columns, *self.rows)]
        width = [max(map(len, column)) for column in zip(*lines)]
        body = ("  ".join(map(str.rjust, line, width)) for line in lines)
        return "\n".join([self.what, *body, self.source()])

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
            for row in self.rows
        )
        source = self.source().removesuffix(self.command)
        return (
            f'<figure class="os-measured"><figcaption>{escape(self.what)}</figcaption>'
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<p>{escape(source)}<code>{escape(self.command)}</code></p></figure>"
        )


class Published(NamedTuple):
    """How fast somebody's attention ran, as they published it.

    `rate` is in operations a second, of 4·n²·d; `block_q` the queries of a block;
    `cache` the bytes of the GPU's cache that all blocks share.
    """

    gpu: str
    format: str
    n: int
    d: int
    block_q: int
    rate: float
    cache: float
    source: str


def published(program: str) -> Published:
    """Return what was published of a program, such as "FlashAttention-3".

    Examples
    --------
    >>> published("FlashAttention-3").gpu
    'H100'
    """
    stored = json.loads((folder() / "published.json").read_text("utf-8"))
    if program not in stored:
        raise ValueError(f"program: expected one of {sorted(stored)}, got {program!r}")
    return Published(**stored[program])


def folder() -> Path:
    """Return where the measurements lie: the checkout's, else the installed copy."""
    checkout = Path(__file__).parents[2] / "book" / "data"
    return checkout if checkout.is_dir() else Path(__file__).parent / "data"


def measured(name: str) -> Measurement:
    """Return a stored measurement by its file name, such as 'threads.json'."""
    file = folder() / name
    if not file.is_file():
        there = sorted(path.name for path in folder().glob("*.json"))
        raise ValueError(f"name: expected one of {there}, got {name!r}")
    return Measurement(**json.loads(file.read_text("utf-8")))
