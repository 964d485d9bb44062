"""The HTML of a drill: its prompt, the form for the answer, its folded solution.

All text is written here, in the page's language, so the page is complete without a script
and on paper. The script only makes the form work.
"""

from __future__ import annotations

import json
from functools import cached_property
from html import escape
from typing import Any

from livepage import markup
from livepage.drills.entry import Drill
from livepage.drills.exactness import asked
from livepage.drills.kinds import KINDS
from livepage.drills.payload import payload
from livepage.drills.words import foreign, in_language, table, word

NUDGE = {lang: words["nudge"] for lang, words in table().items()}


class Card:
    """One drill in one language, with the page's renderer of maths."""

    def __init__(self, drill: Drill, lang: str, maths: markup.Maths) -> None:
        self.drill = drill
        self.lang = lang
        self.maths = maths
        self.name = f"drill-{drill.id}"
        self.kind = KINDS[drill.kind]
        self.form = self.kind.form(drill)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The payload; for a kernel drill it takes seconds to compute."""
        return payload(self.drill)

    @property
    def slots(self) -> dict[str, str]:
        """The slots of sentences about the drill."""
        return self.kind.fill(self.drill, self.lang)

    def word(self, key: str, **values: Any) -> str:
        """Return one of the kit's own texts, escaped."""
        return escape(word(key, self.lang, **values))

    def blocks(self, source: Any) -> str:
        """Return a text of the bank as paragraphs."""
        own = foreign(source, self.lang)
        return markup.blocks(in_language(source, self.lang), self.maths, own)

    def inline(self, source: Any) -> str:
        """Return a text of the bank as inline HTML."""
        own = foreign(source, self.lang)
        return markup.inline(in_language(source, self.lang), self.maths, own)

    def text(self, source: str) -> str:
        """Return a language-neutral text as paragraphs."""
        return markup.blocks(source, self.maths)

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
{self.kind.html(self)}
{self.actions()}{self.compared()}
<div class="os-drill-feedback" role="status"></div>
<div class="os-drill-help"></div>
</form>
{self.solution()}
<script type="application/json" class="os-drill-data">{self.json()}</script>
</div>
"""

    def prompt(self) -> str:
        """Return the prompt and the precision."""
        precision = self.asked()
        line = f'\n<p class="os-drill-asked">{precision}</p>' if precision else ""
        return self.blocks(self.drill.get("prompt")) + line

    def asked(self) -> str:
        """Return the sentence about the precision, if any."""
        rule = self.kind.rule(self.drill)
        return escape(asked(rule, self.lang)) if rule else ""

    def actions(self) -> str:
        """Return the main button and the secondary ones."""
        main = self.word({"code": "run", "own": "compare"}.get(self.form, "check"))
        quiet = ["hint", "show"]
        if self.kind.restarts:
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

    def compared(self) -> str:
        """Return the verdicts that readers may give their own words, hidden at first."""
        if self.form != "own":
            return ""
        buttons = "".join(
            f'<button type="button" data-do="{do}">{self.word(do)}</button>'
            for do in ("hadAll", "hadLess")
        )
        return f"""
<div class="os-drill-own" role="group" aria-label="{escape(self.word("hadAsk"))}" hidden>
<p class="os-drill-caption">{self.word("hadAsk")}</p>
<div class="os-drill-actions">{buttons}</div>
</div>"""

    def solution(self) -> str:
        """Return the answer and its explanation, folded."""
        answer = self.kind.solution(self)
        why = self.blocks(self.drill.get("solution"))
        return (
            f'<details class="os-drill-solution"><summary>{self.word("solution")}'
            f"</summary>\n{answer}\n{why}\n</details>"
        )

    def json(self) -> str:
        """Return the drill's data as JSON in which no text can close the script element."""
        drill = self.drill
        data = {
            "id": drill.id,
            "form": self.form,
            "payload": self.kind.on_page(drill, self.data, self.lang),
            "hints": [self.inline(hint) for hint in drill.get("hints", [])],
            "steps": [self.inline(step) for step in drill.get("steps", [])],
            "earned": [self.inline(one.get("hint", "")) for one in drill.mistakes],
            "nudge": self.inline(drill.get("nudge", NUDGE)),
            "slots": {
                key: markup.inline(str(text)) for key, text in self.slots.items()
            },
            **self.kind.page_data(self),
        }
        packed = json.dumps(data, ensure_ascii=False, allow_nan=False, sort_keys=True)
        return packed.replace("</", "<\\/")
