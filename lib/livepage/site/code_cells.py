"""Which code cells of a page its own Python can run, as attributes of their elements.

`data-binds` stands on a cell that runs, with the names that it gives to those below,
beside `data-needs`, those that it takes from above. A cell that does not run may have
`data-imports`, those of its imports that work.
"""

from __future__ import annotations

from html import escape

from docutils import nodes

from livepage import cells


def attributes(document: nodes.document, node: nodes.container) -> str:
    """Return the attributes of one cell of a page."""
    plan = getattr(document, "code_cells", None)
    if plan is None:
        plan = document.code_cells = _plan(document)
    cell = plan.get(id(node))
    if cell is None or "name" not in node["cell_metadata"]:
        return ""
    if cell.runs:
        binds, needs = (escape(" ".join(names)) for names in (cell.binds, cell.needs))
        return f' data-binds="{binds}" data-needs="{needs}"'
    return f' data-imports="{escape(cell.imports)}"' if cell.imports else ""


def _plan(document: nodes.document) -> dict[int, cells.Cell]:
    """Decide for all cells whose code is on the page."""
    found = [
        (node, source)
        for node in document.findall(nodes.container)
        if node.get("nb_element") == "cell_code" and (source := _source(node))
    ]
    plan = cells.plan([source for _, source in found])
    for (node, _), cell in zip(found, plan, strict=True):
        cell.runs = cell.runs and _prints_only(node)
    return {id(node): cell for (node, _), cell in zip(found, plan, strict=True)}


def _source(cell: nodes.container) -> str:
    for part in cell.findall(nodes.container):
        if part.get("nb_element") == "cell_code_source":
            return part.astext()
    return ""


def _prints_only(cell: nodes.container) -> bool:
    """Whether nothing came of a cell but printed text."""
    for part in cell.findall(nodes.container):
        if part.get("nb_element") == "cell_code_output":
            blocks = list(part.children)
            return all(
                isinstance(block, nodes.literal_block)
                and "stderr" not in block["classes"]
                for block in blocks
            )
    return True
