"""The kind of drill whose answer is the order of a few lines."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import numpy as np

from livepage.drills.entry import Drill
from livepage.drills.grade import Outcome
from livepage.drills.kind import Kind, lettered
from livepage.drills.marking import UNREADABLE, letter
from livepage.drills.words import in_language


class Order(Kind):
    """Lines to put in order. Several orders may be right."""

    minutes = 2
    needs = {"lines"}
    may_have = {"wrong", "needs", "also"}
    entries = {"wrong": [{"hint", "first", "then"}]}
    restarts = True

    def payload(self, drill: Drill) -> dict[str, Any]:
        """Return the shuffled lines, their dependencies, and further right orders.

        ``shown[k]`` is the index in the file of the k-th line on the page.
        """
        count = len(drill.get("lines"))
        needs = _needs(drill, count)
        wrong = [
            [pair["first"] - 1, pair["then"] - 1] for pair in drill.get("wrong", [])
        ]
        for first, then in wrong:
            if then not in _before(needs, first):
                pair = {"first": first + 1, "then": then + 1}
                raise drill.fault("wrong", f"'first' has no need of 'then': {pair}")
        shown = _shuffled(drill, needs)
        also = [[line - 1 for line in order] for order in drill.get("also", [])]
        if any(sorted(order) != sorted(shown) for order in also):
            raise drill.fault("also", f"expected orders of {count} lines")
        return {"shown": shown, "needs": needs, "wrong": wrong, "also": also}

    def slots(self, drill: Drill) -> dict[str, str]:
        """Return the letters of the lines."""
        return {"letters": ascii_lowercase[: len(drill.get("lines"))]}

    def extra(self, drill: Drill) -> list[str]:
        """Return the shuffled lines, each with its letter."""
        lines = [in_language(line) for line in drill.get("lines")]
        return lettered(
            [lines[index] for index in _shuffled(drill, _needs(drill, len(lines)))],
            ascii_lowercase,
        )

    def mark(
        self, data: Mapping[str, Any], answer: Any, language: str = "en"
    ) -> Outcome:
        """Mark an order of the shuffled lines: letters ("cab"), or indices from 0.

        An order is right if each line comes after the lines it needs, or if the drill
        lists the order in ``also``.
        """
        listed = isinstance(answer, (str, Sequence, np.ndarray))
        picked = [letter(part) for part in answer if part != " "] if listed else []
        shown = data["shown"]
        if sorted(p for p in picked if p is not None) != list(range(len(shown))):
            return UNREADABLE
        lines = [shown[p] for p in picked]
        fault = next((i for i in range(len(lines)) if _missing(data, lines, i)), None)
        if fault is None or lines in data["also"]:
            return {"passed": True}
        early = (
            index
            for index, (first, then) in enumerate(data["wrong"])
            if first == lines[fault] and then in lines[fault:]
        )
        hint, in_order = next(early, None), {"n": fault}
        return {"passed": False, "first": fault == 0, "hint": hint, "slots": in_order}

    def answer_text(self, drill: Drill, language: str) -> str:
        """Return the lines in a right order."""
        lines = [in_language(line, language) for line in drill.get("lines")]
        return "\n".join(f"- {line}" for line in lines)

    def html(self, card: Any) -> str:
        """Return the lines, with buttons that move each of them up or down."""
        lines, shown = card.drill.get("lines"), card.data["shown"]
        items = "\n".join(
            _order_line(card, k, card.inline(lines[index]))
            for k, index in enumerate(shown)
        )
        return f'<ol class="os-drill-lines">\n{items}\n</ol>'

    def solution(self, card: Any) -> str:
        """Return the lines in a right order."""
        lines = map(card.inline, card.drill.get("lines"))
        return "<ol>" + "".join(f"<li>{line}</li>" for line in lines) + "</ol>"


def _needs(drill: Drill, count: int) -> list[list[int]]:
    """Return the lines that each line needs; by default the line before it."""
    needs = [[k - 1] if k else [] for k in range(count)]
    for line, earlier in drill.get("needs", {}).items():
        if not all(0 < n < line <= count for n in earlier):
            raise drill.fault("needs", f"line {line} cannot need {earlier}")
        needs[line - 1] = [n - 1 for n in earlier]
    return needs


def _before(needs: list[list[int]], line: int) -> set[int]:
    """Return every line that has to come before a line, also indirectly."""
    return {m for n in needs[line] for m in (n, *_before(needs, n))}


def _shuffled(drill: Drill, needs: list[list[int]]) -> list[int]:
    """Return the lines in a wrong order, the same on the page and in a notebook."""
    shown = list(range(len(needs)))
    random.Random(drill.id).shuffle(shown)
    if all(shown.index(n) < shown.index(k) for k in shown for n in needs[k]):
        shown.reverse()
    return shown


def _missing(data: Mapping[str, Any], lines: Sequence[int], i: int) -> bool:
    """Say whether the i-th line needs one that comes after it."""
    return any(need in lines[i:] for need in data["needs"][lines[i]])


def _order_line(card: Any, k: int, line: str) -> str:
    letter = ascii_uppercase[k]
    named = card.word("line", letter=letter)
    up, down = (
        f'<button type="button" data-move="{step}"'
        f' aria-label="{card.word(key)}: {named}">{_icon(arrow)}</button>'
        for step, key, arrow in [(-1, "up", ARROW_UP), (1, "down", ARROW_DOWN)]
    )
    return f"""\
<li data-line="{k}"><span class="os-drill-grip" aria-hidden="true">{_icon(GRIP)}</span>\
<span class="os-drill-letter">{letter}</span><span class="os-drill-text">{line}</span>\
<span class="os-drill-moves" hidden>{up}{down}</span></li>"""


ARROW_UP = "M8 13V3M3.5 7.5 8 3l4.5 4.5"
ARROW_DOWN = "M8 3v10M3.5 8.5 8 13l4.5-4.5"
GRIP = "M5.5 4h0M10.5 4h0M5.5 8h0M10.5 8h0M5.5 12h0M10.5 12h0"


def _icon(path: str) -> str:
    return (
        '<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">'
        f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="1.75"'
        ' stroke-linecap="round" stroke-linejoin="round"/></svg>'
    )


KIND = Order()
