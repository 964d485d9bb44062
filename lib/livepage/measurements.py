"""What was measured: stored with the machine it was measured on, shown as a table.

Timings differ from run to run, so a page never shows its own. `python -m tools.bench`
measures and writes `book/data/*.json`; a chapter shows what is written there.
"""

import json
from html import escape
from typing import Any, NamedTuple

from livepage import book


class Measurement(NamedTuple):
    """A table of measured figures, and where they come from.

    `rows` holds one list per line of the table, its numbers already rounded. `caches`
    says, where it matters, how many KiB each cache of the machine holds, L1 first.
    """

    what: str
    columns: list[str]
    rows: list[list[Any]]
    machine: str
    versions: dict[str, str]
    date: str
    command: str
    backend: str = ""  # by what a GPU was reached
    caches: dict[str, int] = {}

    def source(self) -> str:
        """Return one line that says where and how it was measured."""
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
            '<div class="table" tabindex="0">'  # a narrow window scrolls it, by keys too
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
            f"<p>{escape(source)}<code>{escape(self.command)}</code></p></figure>"
        )

    def _cells(self, row: list[Any]) -> str:
        """The cells of a row. Under an empty heading stand the names of the rows."""
        cells = [f"<td>{escape(str(cell))}</td>" for cell in row]
        if not self.columns[0]:
            cells[0] = f'<th scope="row">{escape(str(row[0]))}</th>'
        return "".join(cells)


def measured(name: str) -> Measurement:
    """Return a stored measurement by its file name, such as 'threads.json'."""
    file = book.current().data / name
    if not file.is_file():
        there = sorted(path.name for path in book.current().data.glob("*.json"))
        raise ValueError(f"name: expected one of {there}, got {name!r}")
    return Measurement(**json.loads(file.read_text("utf-8")))
