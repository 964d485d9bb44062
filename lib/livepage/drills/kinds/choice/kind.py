"""The kind of drill whose answer is one of a few texts."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from livepage.drills.entry import Drill
from livepage.drills.grade import Outcome
from livepage.drills.kind import Kind, lettered
from livepage.drills.marking import UNREADABLE, letter
from livepage.drills.words import in_language


class Choice(Kind):
    """One text of several."""

    minutes = 1
    needs = {"choices"}
    entries = {"choices": [{"hint", "text"}, {"text", "correct"}]}

    def payload(self, drill: Drill) -> dict[str, Any]:
        """Return how many texts there are, and which one is right."""
        correct = [bool(choice.get("correct")) for choice in drill.get("choices")]
        if sum(correct) != 1:
            got = sum(correct)
            raise drill.fault("choices", f"expected one correct choice, got {got}")
        return {"count": len(correct), "right": correct.index(True)}

    def extra(self, drill: Drill) -> list[str]:
        """Return the texts, each with its letter."""
        texts = [in_language(choice["text"]) for choice in drill.get("choices")]
        return lettered(texts, ascii_lowercase)

    def accept(self, drill: Drill, answer: Any) -> Any:
        """Raise for a number, because it is unclear whether counting starts at 0 or 1."""
        plain = super().accept(drill, answer)
        if not isinstance(plain, str):
            raise self.refusal(drill, answer)
        return plain

    def mark(
        self, data: Mapping[str, Any], answer: Any, language: str = "en"
    ) -> Outcome:
        """Mark a choice, as a letter or an index."""
        picked = letter(answer)
        if picked is None or not 0 <= picked < data["count"]:
            return UNREADABLE
        return {"passed": picked == data["right"], "hint": picked}

    def answer_text(self, drill: Drill, language: str) -> str:
        """Return the right text."""
        return in_language(_right(drill)["text"], language)

    def html(self, card: Any) -> str:
        """Return a radio button for each text."""
        items = "\n".join(
            '<label class="os-drill-option">'
            f'<input type="radio" name="answer" value="{i}">'
            f'<span class="os-drill-letter">{ascii_uppercase[i]}</span>'
            f"<span>{card.inline(choice['text'])}</span></label>"
            for i, choice in enumerate(card.drill.get("choices"))
        )
        return f"""\
<div class="os-drill-options" role="radiogroup" aria-labelledby="{card.name}-label">
{items}
</div>"""

    def solution(self, card: Any) -> str:
        """Return the right text."""
        return card.blocks(_right(card.drill)["text"])


def _right(drill: Drill) -> Mapping[str, Any]:
    """Return the one correct entry."""
    return next(choice for choice in drill.get("choices") if choice.get("correct"))


KIND = Choice()
