"""What a translation keeps: code, formulas, targets of roles and links, numbers."""

from __future__ import annotations

import re
from collections import Counter

_CODE = re.compile(
    r"(?<!`)(?P<role>\{[\w:]+\})?(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)", re.S
)
_FORMULA = re.compile(r"\$\$?([^$]+)\$\$?")
_WORDS_IN_FORMULA = re.compile(r"\\(text|mathrm|textit|textbf|operatorname)\{[^{}]*\}")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_TARGET = re.compile(r"<([^<>]+)>\s*$")
_NUMBER = re.compile(r"\d+(?:[.,\u202f\u00a0]\d+)*")
_BY_NAME = {"{label}": "", "{term}": None}  # their words are translated


def fixed_parts(text: str) -> Counter[str]:
    """Return how often each part occurs that a translation has to keep.

    Where a formula has words, in ``\\text``, these may differ.
    """
    found: Counter[str] = Counter()

    def code(match: re.Match[str]) -> str:
        role, content = match["role"] or "", match["code"].strip()
        if role == "{label}":
            content = ""
        elif role == "{term}":
            target = _TARGET.search(content)
            content = (target[1] if target else content).lower()
        found[f"{role}`{' '.join(content.split())}`"] += 1
        return " "

    def formula(match: re.Match[str]) -> str:
        found[f"${_WORDS_IN_FORMULA.sub('', ''.join(match[1].split()))}$"] += 1
        return " "

    def link(match: re.Match[str]) -> str:
        found[f"]({match[1]})"] += 1
        return "] "

    rest = _LINK.sub(link, _FORMULA.sub(formula, _CODE.sub(code, text)))
    found.update(_NUMBER.findall(rest))
    return found


def differences(text: str, translation: str) -> list[str]:
    """Say which parts a translation lacks, and which it has besides those of the text."""
    wanted, given = fixed_parts(text), fixed_parts(translation)
    lacks = [f"lacks {part}" for part in (wanted - given).elements()]
    return lacks + [f"adds {part}" for part in (given - wanted).elements()]


_ROLE = re.compile(r"\{[\w:]+\}")
_WORD = re.compile(r"[^\W\d_]{2,}")


def has_words(text: str) -> bool:
    """Return whether a text has words, besides its code, its formulas and its roles."""
    named = re.sub(r"\{(?:label|term)\}`([^`<]+)[^`]*`", r"\1", text)
    rest = _FORMULA.sub(" ", _CODE.sub(" ", named))
    return bool(_WORD.search(_LINK.sub("]", _ROLE.sub("", rest))))
