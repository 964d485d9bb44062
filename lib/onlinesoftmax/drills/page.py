"""A drill as a piece of the page, and what the page needs to mark it.

The HTML is whole before any script runs: question, lines, table, and the solution in a
folded block. The script then wakes the form, and fetches Python only when the reader
first runs code.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from onlinesoftmax.drills import text
from onlinesoftmax.drills.bank import Drill, find, say
from onlinesoftmax.drills.feedback import answer_text, names
from onlinesoftmax.drills.payload import payload
from onlinesoftmax.drills.words import QUANTITIES, column, show, table, word

HERE = Path(__file__).parent
SCRIPTS = (
    "words.js",
    "expression.js",
    "grade.js",
    "store.js",
    "python.js",
    "editor.js",
    "answers.js",
    "feedback.js",
    "progress.js",
    "drills.js",
)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def page_html(
    id: str, lang: str = "en", maths: text.Maths = text.plain_maths
) -> str:
    """Return a drill as a ``<section>``.

    Parameters
    ----------
    id : str
        Its name in the bank.
    lang : str
        The page's language; English where a text has no other.
    maths : callable
        ``maths(tex, display)`` turns TeX into HTML.

    Returns
    -------
    str
        With its data in a JSON block that no browser executes.
    """
    page = _Page(find(id), lang, maths)
    return page.section()


class _Page:
    """One drill in one language, with the page's way to write maths."""

    def __init__(self, drill: Drill, lang: str, maths: text.Maths) -> None:
        self.drill = drill
        self.lang = lang
        self.maths = maths
        self.data = payload(drill)
        self.name = f"drill-{drill.id}"

    def section(self) -> str:
        drill, kind = self.drill, self.drill.kind
        return f"""\
<section class="os-drill" role="group" id="{self.name}" data-drill="{drill.id}"\
 data-kind="{kind}" aria-labelledby="{self.name}-label">
<p class="os-drill-label" id="{self.name}-label"><strong>{self.word("drill")}</strong>\
 <span class="os-drill-kind">{self.word(kind)}</span></p>
<p class="os-drill-status" hidden></p>
<div class="os-drill-prompt">{self.blocks(drill.get("prompt"))}</div>
<form class="os-drill-form" data-form="{self.form()}" autocomplete="off">
{FORMS[self.form()](self)}
{self.actions()}
<div class="os-drill-feedback" role="status"></div>
<div class="os-drill-help"></div>
</form>
{self.solution()}
<script type="application/json" class="os-drill-data">{self.json()}</script>
</section>
"""

    def form(self) -> str:
        """Return which form answers this drill: a recall may be a formula or words."""
        if self.drill.kind == "recall":
            return "own" if "points" in self.data else "formula"
        return self.drill.kind

    def word(self, key: str, **values: Any) -> str:
        return escape(word(key, self.lang, **values))

    def blocks(self, source: Any) -> str:
        return text.blocks(say(source, self.lang), self.maths)

    def inline(self, source: Any) -> str:
        return text.inline(say(source, self.lang), self.maths)

    def actions(self) -> str:
        main = self.word("run" if self.drill.kind == "code" else "check")
        again = ""
        if self.drill.kind in ("code", "order", "trace"):
            again = f'<button type="button" data-do="again">{self.word("again")}</button>'
        return (
            '<div class="os-drill-actions" hidden>'
            f'<button type="submit" class="os-drill-main">{main}</button>'
            f'<button type="button" data-do="hint">{self.word("hint")}</button>'
            f'<button type="button" data-do="show">{self.word("show")}</button>'
            f"{again}</div>"
        )

    def solution(self) -> str:
        answer = answer_text(self.drill, self.lang)
        shown = self.blocks(answer) if answer else ""
        if self.drill.kind == "order":
            items = "".join(f"<li>{self.inline(x)}</li>" for x in self.drill.get("lines"))
            shown = f"<ol>{items}</ol>"
        if self.drill.kind == "trace":
            shown = _trace_table(self, lambda i, j: show(self.data["rows"][i][j]))
        return (
            f'<details class="os-drill-solution"><summary>{self.word("solution")}'
            f"</summary>\n{shown}\n{self.blocks(self.drill.get('solution'))}\n</details>"
        )

    def json(self) -> str:
        """Return the drill's data for the script; ``</`` cannot end the block."""
        drill = self.drill
        data = {
            "id": drill.id,
            "chapter": drill.chapter,
            "form": self.form(),
            "payload": self.localised(),
            "hints": [self.inline(hint) for hint in drill.get("hints", [])],
            "steps": self.steps(),
            "earned": self.earned(),
            "nudge": self.inline(drill.get("nudge") or word("nudge", self.lang)),
        }
        if drill.kind == "code":
            data["starter"] = drill.get("starter")
        if "points" in self.data:
            data["points"] = [
                {key: self.inline(point[key]) for key in ("say", "hint")}
                for point in drill.get("points")
            ]
        packed = json.dumps(data, ensure_ascii=False, allow_nan=False, sort_keys=True)
        return packed.replace("</", "<\\/")

    def localised(self) -> dict[str, Any]:
        """Return the payload with the names of a code drill's cases in this language."""
        if self.drill.kind != "code":
            return self.data
        cases = [
            {**case, "name": self.case_name(case["name"])} for case in self.data["cases"]
        ]
        return {**self.data, "cases": cases}

    def case_name(self, name: Any) -> str:
        return word("random", self.lang) if name == "random" else say(name, self.lang)

    def steps(self) -> list[str]:
        """Return partial steps; for code, the lines of an answer, shuffled."""
        if self.drill.kind != "code":
            return [self.inline(step) for step in self.drill.get("steps", [])]
        lines = [line for line in self.drill.get("code").splitlines() if line.strip()]
        shuffled = sorted(lines, key=lambda line: line.strip().lower())
        return [text.code("\n".join(line.strip() for line in shuffled))]

    def earned(self) -> list[str]:
        """Return the hint of each listed misconception, in the graders' order."""
        field = {"choice": "choices", "code": "mutants"}.get(self.drill.kind, "wrong")
        return [self.inline(slip.get("hint", "")) for slip in self.drill.get(field, [])]


def _numeric(page: _Page) -> str:
    return _line(page, page.word("answer"), page.word("answerHelp"))


def _formula(page: _Page) -> str:
    help_text = text.inline(word("formulaHelp", page.lang, names=names(page.data)))
    return _line(page, page.word("formula"), help_text)


def _line(page: _Page, label: str, help_text: str) -> str:
    name = page.name
    return (
        f'<label class="os-drill-caption" for="{name}-answer">{label}</label>\n'
        f'<div class="os-drill-line"><input id="{name}-answer" name="answer"'
        f' type="text" spellcheck="false" autocapitalize="off"'
        f' aria-describedby="{name}-how"><output class="os-drill-echo"'
        f' for="{name}-answer"></output></div>\n'
        f'<p class="os-drill-how" id="{name}-how">{help_text}</p>'
    )


def _own(page: _Page) -> str:
    name = page.name
    return (
        f'<label class="os-drill-caption" for="{name}-answer">{page.word("own")}</label>'
        f'\n<textarea id="{name}-answer" name="answer" rows="3"></textarea>'
    )


def _choice(page: _Page) -> str:
    items = "\n".join(
        f'<label class="os-drill-option"><input type="radio" name="answer" value="{i}">'
        f'<span class="os-drill-letter">{LETTERS[i]}</span>'
        f"<span>{page.inline(choice['text'])}</span></label>"
        for i, choice in enumerate(page.drill.get("choices"))
    )
    label = f'aria-labelledby="{page.name}-label"'
    return f'<div class="os-drill-options" role="radiogroup" {label}>\n{items}\n</div>'


def _order(page: _Page) -> str:
    lines = page.drill.get("lines")
    rows = [
        _order_line(page, k, lines[place]) for k, place in enumerate(page.data["shown"])
    ]
    return '<ol class="os-drill-lines">\n' + "\n".join(rows) + "\n</ol>"


def _order_line(page: _Page, k: int, line: Any) -> str:
    letter = LETTERS[k]
    named = page.word("line", letter=letter)
    buttons = "".join(
        f'<button type="button" data-move="{way}" aria-label="{page.word(key)}: {named}"'
        f">{arrow}</button>"
        for way, key, arrow in [("-1", "up", ARROW_UP), ("1", "down", ARROW_DOWN)]
    )
    return (
        f'<li data-line="{k}"><span class="os-drill-grip" aria-hidden="true">{GRIP}</span>'
        f'<span class="os-drill-letter">{letter}</span>'
        f'<span class="os-drill-text">{page.inline(line)}</span>'
        f'<span class="os-drill-moves" hidden>{buttons}</span></li>'
    )


def _trace(page: _Page) -> str:
    levels = "".join(
        f'<label><input type="radio" name="level" value="{level}"'
        f'{" checked" if level == "half" else ""}><span>{page.word(level)}</span></label>'
        for level in ("full", "half", "blank")
    )
    fields = _trace_table(page, lambda i, j: _trace_cell(page, i, j))
    legend = page.word("level")
    return (
        f'<fieldset class="os-drill-levels" hidden><legend>{legend}</legend>'
        f"{levels}</fieldset>\n{fields}"
    )


def _trace_table(page: _Page, cell: Callable[[int, int], str]) -> str:
    """Return the table of a trace drill: a row per block, a column per quantity."""
    columns = page.data["columns"]
    head = "".join(_heading(name, page.lang) for name in ["block", *columns])
    rows = "\n".join(
        f'<tr><th scope="row">{show(block)}</th>'
        + "".join(f"<td>{cell(i, j)}</td>" for j in range(len(columns)))
        + "</tr>"
        for i, block in enumerate(page.data["blocks"])
    )
    return (
        '<div class="os-drill-scroll"><table class="os-drill-table"><thead><tr>'
        f"{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
    )


def _heading(name: str, language: str) -> str:
    quantity = f' data-q="{name}"' if name in QUANTITIES else ""
    return f'<th scope="col"{quantity}>{escape(column(name, language))}</th>'


def _trace_cell(page: _Page, i: int, j: int) -> str:
    name = column(page.data["columns"][j], page.lang)
    label = page.word("cell", column=name, row=i + 1)
    return (
        f'<input type="text" name="cell-{i}-{j}" aria-label="{label}"'
        ' spellcheck="false" autocapitalize="off">'
    )


def _code(page: _Page) -> str:
    name, starter = page.name, page.drill.get("starter").rstrip()
    lines = starter.count("\n") + 1
    return (
        f'<label class="os-drill-caption" for="{name}-answer">{page.word("editor")}'
        "</label>\n"
        '<div class="os-drill-editor"><div class="os-drill-gutter" aria-hidden="true">'
        "</div>"
        f'<textarea id="{name}-answer" name="answer" rows="{lines}" spellcheck="false"'
        ' autocapitalize="off" autocorrect="off" wrap="off"'
        f' aria-describedby="{name}-how">{escape(starter, quote=False)}\n</textarea>'
        "</div>\n"
        f'<p class="os-drill-how os-drill-keys" id="{name}-how" hidden>'
        f'{page.word("editorHelp")}</p>'
    )


FORMS: dict[str, Callable[[_Page], str]] = {
    "numeric": _numeric,
    "formula": _formula,
    "own": _own,
    "choice": _choice,
    "order": _order,
    "trace": _trace,
    "code": _code,
}


def _icon(path: str) -> str:
    return (
        '<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">'
        f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="1.75"'
        ' stroke-linecap="round" stroke-linejoin="round"/></svg>'
    )


ARROW_UP = _icon("M8 13V3M3.5 7.5 8 3l4.5 4.5")
ARROW_DOWN = _icon("M8 3v10M3.5 8.5 8 13l4.5-4.5")
GRIP = _icon("M5.5 4h0M10.5 4h0M5.5 8h0M10.5 8h0M5.5 12h0M10.5 12h0")


def progress_html(lang: str = "en", ids: Sequence[str] = ()) -> str:
    """Return the panel with the reader's progress: due list, save, load, forget.

    Parameters
    ----------
    lang : str
    ids : sequence of str
        The drills to list; none lists whatever the reader has met.
    """
    titles = {
        id: text.inline(_first_sentence(say(find(id).get("prompt"), lang))) for id in ids
    }
    packed = json.dumps(titles, ensure_ascii=False, sort_keys=True).replace("</", "<\\/")
    heading = escape(word("progress", lang))
    return (
        f'<section class="os-progress" aria-label="{heading}" hidden>'
        f'<script type="application/json">{packed}</script></section>\n'
    )


def _first_sentence(prompt: str) -> str:
    return prompt.partition(". ")[0].rstrip(".") + "."


@cache
def page_script() -> str:
    """Return the script of all drills: classic, to be deferred."""
    parts = [
        f"const WORDS = {json.dumps(table(), ensure_ascii=False)};",
        f"const GRADER = {json.dumps(_source('grader.py'), ensure_ascii=False)};",
        f"const WORKER = {json.dumps(_source('page/worker.js'), ensure_ascii=False)};",
        *(_source(f"page/{name}") for name in SCRIPTS),
    ]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();\n"


@cache
def stylesheet() -> str:
    """Return the style of drills; every colour is one of the book's tokens."""
    return _source("page/drills.css")


@cache
def page_assets() -> dict[str, bytes]:
    """Return the files to lay beside the script: Python, fetched on the first run.

    One classic script carries MicroPython's loader and its WebAssembly as text, because
    a page on ``file://`` may load a script and nothing else.
    """
    folder = HERE.parents[2] / "book" / "_vendor" / "micropython"
    loader = (folder / "micropython.mjs").read_text(encoding="utf-8")
    wasm = base64.b64encode((folder / "micropython.wasm").read_bytes()).decode()
    bundle = {"loader": loader, "wasm": wasm}
    script = f"globalThis.onlineSoftmaxPython = {json.dumps(bundle)};\n"
    return {"micropython.js": script.encode()}


def _source(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")

