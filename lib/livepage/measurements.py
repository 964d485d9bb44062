"""Measurements: stored with the machine they come from, shown as a table.

Timings differ from run to run, so building a page never measures anything.
`python -m tools.bench` measures and writes `book/data/*.json`; a chapter shows a file.
"""

import json
from html import escape
from typing import Any, NamedTuple

from livepage import book


class Measurement(NamedTuple):
    """A table of measured numbers, and where they come from.

    `rows` holds one list per line of the table, its numbers already rounded. `caches`
    holds the size in KiB of each cache of the machine, L1 first, where sizes matter.
    """

    what: str
    columns: list[str]
    rows: list[list[Any]]
    machine: str
    versions: dict[str, str]
    date: str
    command: str
    backend: str = ""  # the interface to the GPU
    caches: dict[str, int] = {}

    def source(self) -> str:
        """Return one line that names machine, versions, date and command."""
        versions = ", ".join(f"{name} {n}" for name, n in self.versions.items())
        caches = ", ".join(f"{name} {kib:,} KiB" for name, kib in self.caches.items())
        parts = (self.machine, caches, self.backend, versions, self.date, self.command)
        return "; ".join(part for part in parts if part)

    def __str__(self) -> str:
        lines = [[str(cell) for cell in line] for line in (self.columns, *self.rows)]
        width = [max(map(len, column)) for column in zip(*lines)]
        body = ("  ".join(map(str.rjust, line, width)) for line in lines)
        return "\n".join([self.what, *body, self.source()])

    def _repr_html_(self) -> str:
        head = "".join(
            f'<th scope="col">{escape(name)}</th>' if name else "<td></td>"
            for name in self.columns
        )
        body = "".join(f"<tr>{self._cells(row)}</tr>" for row in self.rows)
        source = self.source().removesuffix(self.command)
        return (
            f'<figure class="os-measured"><figcaption>{escape(self.what)}</figcaption>'
            '<div class="table" tabindex="0">'  # scrollable by keyboard if too wide
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
            f"<p>{escape(source)}<code>{escape(self.command)}</code></p></figure>"
        )

    def _cells(self, row: list[Any]) -> str:
        """The cells of a row. A first column without a heading holds the row headers."""
        cells = [f"<td>{escape(str(cell))}</td>" for cell in row]
        if not self.columns[0]:
            cells[0] = f'<th scope="row">{escape(str(row[0]))}</th>'
        return "".join(cells)


def measured(name: str) -> Measurement:
    """Return a stored measurement by its file name, such as 'threads.json'."""
    file = book.current().data / name
    if not file.is_file():
        names = sorted(path.name for path in book.current().data.glob("*.json"))
        raise ValueError(f"name: expected one of {names}, got {name!r}")
    return Measurement(**json.loads(file.read_text("utf-8")))
