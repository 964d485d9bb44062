"""The HTML of a drill: its question, the form that answers it, its folded solution.

Everything is written here, once, in the page's language; the script only makes it work.
So the page is complete without a script, and on paper.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from html import escape
from typing import Any

from livepage import markup
from livepage.drills.bank import WRITTEN, Drill, foreign, in_language
from livepage.drills.exactness import asked
from livepage.drills.feedback import answer_text, case_name, right_choice, slots
from livepage.drills.payload import how_exact, payload
from livepage.drills.words import column, table, word
from livepage.numbers import show
from livepage.quantities import letters

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NUDGE = {lang: words["nudge"] for lang, words in table().items()}


class Card:
    """One drill in one language, with the page's way to write maths."""

    def __init__(self, drill: Drill, lang: str, maths: markup.Maths) -> None:
        self.drill = drill
        self.lang = lang
        self.maths = maths
        self.name = f"drill-{drill.id}"
        self.form = drill.kind
        if drill.kind == "recall":
            self.form = "own" if drill.get("points") else "formula"
        if drill.kind in WRITTEN:
            self.form = "code"

    @cached_property
    def data(self) -> dict[str, Any]:
        """What the graders know of the drill; of a kernel's it takes seconds to make."""
        return payload(self.drill)

    def word(self, key: str, **values: Any) -> str:
        """Return one of the engine's own words, escaped."""
        return escape(word(key, self.lang, **values))

    def blocks(self, source: Any) -> str:
        """Return a text of the bank as paragraphs."""
        lang = foreign(source, self.lang)
        return markup.blocks(in_language(source, self.lang), self.maths, lang)

    def inline(self, source: Any) -> str:
        """Return a text of the bank as a run of text."""
        lang = foreign(source, self.lang)
        return markup.inline(in_language(source, self.lang), self.maths, lang)

    def section(self) -> str:
        """Return the whole drill."""
        drill, name = self.drill, self.name
        return f"""\
<div class="os-drill" role="group" id="{name}" data-drill="{drill.id}"\
 data-kind="{drill.kind}" aria-labelledby="{name}-label">
<p class="os-drill-label" id="{name}-label"><strong>{self.word("drill")}</strong>\
 <span class="os-drill-kind">{self.word(drill.kind)}</span></p>
<p class="os-drill-status" hidden></p>
<div class="os-drill-prompt">{self.prompt()}</div>
<form class="os-drill-form" data-form="{self.form}" autocomplete="off">
{FORMS[self.form](self)}
{self.actions()}{self.points()}
<div class="os-drill-feedback" role="status"></div>
<div class="os-drill-help"></div>
</form>
{self.solution()}
<script type="application/json" class="os-drill-data">{self.json()}</script>
</div>
"""

    def prompt(self) -> str:
        """Return the question, and how exact the answer has to be."""
        precision = self.asked()
        line = f'\n<p class="os-drill-asked">{precision}</p>' if precision else ""
        return self.blocks(self.drill.get("prompt")) + line

    def asked(self) -> str:
        """Return how exact a number has to be, as a sentence."""
        rule = how_exact(self.drill)
        return escape(asked(rule, self.lang)) if rule else ""

    def actions(self) -> str:
        """Return the buttons: one that matters, and quiet ones."""
        main = self.word({"code": "run", "own": "compare"}.get(self.form, "check"))
        quiet = ["hint", "show"]
        if self.form in ("code", "order", "trace"):
            quiet.append("again")
        if self.data.get("larger"):
            quiet.append("larger")
        buttons = "".join(
            f'<button type="button" data-do="{do}">{self.word(do)}</button>'
            for do in quiet
        )
        return (
            '<div class="os-drill-actions" hidden>'
            f'<button type="submit" class="os-drill-main">{main}</button>'
            f"{buttons}</div>"
        )

    def points(self) -> str:
        """Return the points of an answer in own words, to tick; a script shows them."""
        if self.form != "own":
            return ""
        boxes = "\n".join(
            '<label class="os-drill-option">'
            f'<input type="checkbox" name="point-{i}">'
            f"<span>{self.inline(point)}</span></label>"
            for i, point in enumerate(self.drill.get("points"))
        )
        return f"""
<fieldset class="os-drill-points" tabindex="-1" hidden>
<legend class="os-drill-caption">{self.word("tick")}</legend>
<div class="os-drill-options">
{boxes}
</div>
<div class="os-drill-actions"><button type="button" class="os-drill-main"\
 data-do="settle">{self.word("settle")}</button></div>
</fieldset>"""

    def solution(self) -> str:
        """Return the answer and why it is so, folded."""
        if self.form == "order":
            lines = map(self.inline, self.drill.get("lines"))
            answer = "<ol>" + "".join(f"<li>{line}</li>" for line in lines) + "</ol>"
        elif self.form == "trace":
            answer = _table(self, lambda i, j: show(self.data["rows"][i][j]))
        elif self.form == "own":
            points = map(self.inline, self.drill.get("points"))
            items = "".join(f"<li>{point}</li>" for point in points)
            heading = f"<p>{self.word('points')}:</p>"
            answer = f'<div class="os-drill-said">{heading}\n<ul>{items}</ul></div>'
        elif self.form == "choice":
            answer = self.blocks(right_choice(self.drill)["text"])
        else:
            answer = markup.blocks(answer_text(self.drill, self.lang), self.maths)
        why = self.blocks(self.drill.get("solution"))
        return (
            f'<details class="os-drill-solution"><summary>{self.word("solution")}'
            f"</summary>\n{answer}\n{why}\n</details>"
        )

    def json(self) -> str:
        """Return the drill's data for the script; no text can end its block."""
        drill = self.drill
        data = {
            "id": drill.id,
            "form": self.form,
            "payload": self.data,
            "hints": [self.inline(hint) for hint in drill.get("hints", [])],
            "steps": [self.inline(step) for step in drill.get("steps", [])],
            "earned": [self.inline(one.get("hint", "")) for one in drill.mistakes],
            "nudge": self.inline(drill.get("nudge", NUDGE)),
            "slots": {
                key: markup.inline(str(text))
                for key, text in slots(drill, self.data, self.lang).items()
            },
            **(_code_data(self) if self.form == "code" else {}),
        }
        packed = json.dumps(data, ensure_ascii=False, allow_nan=False, sort_keys=True)
        return packed.replace("</", "<\\/")


# ---- what code adds to the data


def _code_data(card: Card) -> dict[str, Any]:
    """Return the starter, the names of cases, and as a first step an answer's lines."""
    cases = [
        {**case, "name": case_name(card.drill, case, card.lang)}
        for case in card.data["cases"]
    ]
    lines = {line.strip() for line in card.drill.get("code").splitlines()} - {""}
    return {
        "payload": {**card.data, "cases": cases},
        "starter": card.drill.get("starter"),
        "steps": [markup.code("\n".join(sorted(lines, key=str.lower)))],
    }


# ---- the forms


def _numeric(card: Card) -> str:
    return _line(card, card.word("answer"), card.word("answerHelp"))


def _formula(card: Card) -> str:
    how = word("formulaHelp", card.lang, **slots(card.drill, card.data, card.lang))
    how = markup.inline(how)
    return _line(card, card.word("formula"), how)


def _line(card: Card, label: str, how: str) -> str:
    name = card.name
    return f"""\
<label class="os-drill-caption" for="{name}-answer">{label}</label>
<div class="os-drill-line"><input id="{name}-answer" name="answer" type="text"\
 spellcheck="false" autocapitalize="off" aria-describedby="{name}-how">\
<output class="os-drill-echo" for="{name}-answer"></output></div>
<p class="os-drill-how" id="{name}-how">{how}</p>"""


def _own(card: Card) -> str:
    name, label = card.name, card.word("own")
    return f"""\
<label class="os-drill-caption" for="{name}-answer">{label}</label>
<textarea id="{name}-answer" name="answer" rows="3"></textarea>"""


def _choice(card: Card) -> str:
    items = "\n".join(
        '<label class="os-drill-option">'
        f'<input type="radio" name="answer" value="{i}">'
        f'<span class="os-drill-letter">{LETTERS[i]}</span>'
        f"<span>{card.inline(choice['text'])}</span></label>"
        for i, choice in enumerate(card.drill.get("choices"))
    )
    return f"""\
<div class="os-drill-options" role="radiogroup" aria-labelledby="{card.name}-label">
{items}
</div>"""


def _order(card: Card) -> str:
    lines, shown = card.drill.get("lines"), card.data["shown"]
    items = "\n".join(
        _order_line(card, k, card.inline(lines[place])) for k, place in enumerate(shown)
    )
    return f'<ol class="os-drill-lines">\n{items}\n</ol>'


def _order_line(card: Card, k: int, line: str) -> str:
    letter = LETTERS[k]
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


def _trace(card: Card) -> str:
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


def _trace_cell(card: Card, i: int, j: int) -> str:
    name = column(card.data["columns"][j], card.lang)
    label = card.word("cell", column=name, row=i + 1)
    return (
        f'<input type="text" name="cell-{i}-{j}" aria-label="{label}"'
        ' spellcheck="false" autocapitalize="off">'
    )


def _table(card: Card, cell: Callable[[int, int], str]) -> str:
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


def _code(card: Card) -> str:
    name, starter = card.name, card.drill.get("starter").rstrip()
    rows = starter.count("\n") + 1
    small = f'<p class="os-drill-how">{card.word("small")}</p>\n'
    return f"""\
{small if card.drill.kind == "code" else ""}\
<label class="os-drill-caption" for="{name}-answer">{card.word("editor")}</label>
<div class="os-drill-editor"><div class="os-drill-gutter" aria-hidden="true"></div>\
<textarea id="{name}-answer" name="answer" rows="{rows}" wrap="off" spellcheck="false"\
 autocapitalize="off" autocorrect="off" aria-describedby="{name}-how">
{escape(starter, quote=False)}</textarea></div>
<p class="os-drill-how os-drill-keys" id="{name}-how" hidden>\
{card.word("editorHelp")}</p>"""


FORMS: dict[str, Callable[[Card], str]] = {
    "numeric": _numeric,
    "formula": _formula,
    "own": _own,
    "choice": _choice,
    "order": _order,
    "trace": _trace,
    "code": _code,
}

ARROW_UP = "M8 13V3M3.5 7.5 8 3l4.5 4.5"
ARROW_DOWN = "M8 3v10M3.5 8.5 8 13l4.5-4.5"
GRIP = "M5.5 4h0M10.5 4h0M5.5 8h0M10.5 8h0M5.5 12h0M10.5 12h0"


def _icon(path: str) -> str:
    return (
        '<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">'
        f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="1.75"'
        ' stroke-linecap="round" stroke-linejoin="round"/></svg>'
    )
