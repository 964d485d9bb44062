"""The kind of drill whose answer is a table: the quantities of each step of a loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from livepage.drills import exactness
from livepage.drills.entry import Drill
from livepage.drills.exactness import Rule
from livepage.drills.grade import Outcome
from livepage.drills.kind import Kind, compute, number
from livepage.drills.kinds.code import cases
from livepage.drills.marking import mark
from livepage.drills.words import column
from livepage.numbers import show
from livepage.quantities import letters

TABLE = Rule("decimals", 2)  # the precision of each cell


class Trace(Kind):
    """A table, marked row by row."""

    minutes = 4
    needs = {"scores", "block", "columns", "oracle"}
    may_have = {"values", "wrong"}
    entries = {
        "wrong": [{"hint", "cell", "value"}, {"hint", "cell", "value", "rows"}],
    }
    restarts = True

    def rule(self, drill: Drill) -> Rule:
        return TABLE

    def payload(self, drill: Drill) -> dict[str, Any]:
        """Return, per block, the scores, the right cells and the values of mistakes."""
        scores = [float(score) for score in drill.get("scores")]
        columns = drill.get("columns")
        rows, wrong = [], []
        oracle = cases.function(drill, "oracle", "oracle")
        inputs = {"values": drill.get("values")} if drill.get("values") else {}
        for step in oracle(scores, drill.get("block"), **inputs):
            rows.append([number(step[column]) for column in columns])
            slips = [[] for _ in columns]
            for index, slip in enumerate(drill.get("wrong", [])):
                if slip["cell"] not in columns:
                    raise drill.fault("wrong", f"no column is called {slip['cell']!r}")
                if len(rows) in slip.get("rows", [len(rows)]):
                    value = compute(drill, "wrong", slip["value"], step)
                    slips[columns.index(slip["cell"])].append([value, index])
            wrong.append(slips)
        blocks = [
            scores[i : i + drill.get("block")]
            for i in range(0, len(scores), drill.get("block"))
        ]
        return {
            "columns": columns,
            "blocks": [[number(score) for score in block] for block in blocks],
            "rows": rows,
            "goals": [[exactness.goal(float(v), TABLE) for v in row] for row in rows],
            "wrong": wrong,
        }

    def mark(
        self, data: Mapping[str, Any], answer: Any, language: str = "en"
    ) -> Outcome:
        """Mark a table row by row, up to the first wrong cell."""
        for i, row in enumerate(data["goals"]):
            for j, goal in enumerate(row):
                try:
                    cell = answer[i][j]
                except (IndexError, KeyError, TypeError):
                    cell = ""
                slips = data["wrong"][i][j]
                outcome = mark(
                    goal, [value for value, _ in slips], {}, cell, (), language
                )
                if not outcome["passed"]:
                    hint = outcome.get("hint")
                    hint = None if hint is None else slips[hint][1]
                    named = {"row": i + 1, "column": [{"column": data["columns"][j]}]}
                    return {**outcome, "hint": hint, "cell": [i, j], "slots": named}
        return {"passed": True}

    def html(self, card: Any) -> str:
        """Return the table to fill in, and the choice of how much is filled in already."""
        levels = "".join(
            f'<label><input type="radio" name="level" value="{level}"'
            f"{' checked' if level == 'half' else ''}>"
            f"<span>{card.word(level)}</span></label>"
            for level in ("full", "half", "blank")
        )
        return f"""\
<fieldset class="os-drill-levels" hidden><legend>{card.word("level")}</legend>\
{levels}</fieldset>
{_table(card, lambda i, j: _trace_cell(card, i, j))}"""

    def solution(self, card: Any) -> str:
        """Return the completed table."""
        return _table(card, lambda i, j: show(card.data["rows"][i][j]))


def _trace_cell(card: Any, i: int, j: int) -> str:
    name = column(card.data["columns"][j], card.lang)
    label = card.word("cell", column=name, row=i + 1)
    return (
        f'<input type="text" name="cell-{i}-{j}" aria-label="{label}"'
        ' spellcheck="false" autocapitalize="off">'
    )


def _table(card: Any, cell: Callable[[int, int], str]) -> str:
    """Return the table of a trace drill: a row per block, a column per quantity."""
    columns = card.data["columns"]
    head = "".join(_heading(name, card.lang) for name in ["block", *columns])
    rows = "\n".join(
        f'<tr><th scope="row">{show(block)}</th>'
        + "".join(f"<td>{cell(i, j)}</td>" for j in range(len(columns)))
        + "</tr>"
        for i, block in enumerate(card.data["blocks"])
    )
    return f"""\
<div class="os-drill-scroll"><table class="os-drill-table">
<thead><tr>{head}</tr></thead>
<tbody>{rows}</tbody></table></div>"""


def _heading(name: str, language: str) -> str:
    quantity = f' data-q="{name}"' if name in letters() else ""
    return f'<th scope="col"{quantity}>{escape(column(name, language))}</th>'


KIND = Trace()
