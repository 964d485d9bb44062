"""What a translation keeps: code, formulas, targets of roles and links, numbers, slots."""

from __future__ import annotations

import re
from collections import Counter

_CODE = re.compile(
    r"(?<!`)(?P<role>\{[\w:]+\})?(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)", re.S
)
_FORMULA = re.compile(r"(?<!\\)\$\$?([^$]+)(?<!\\)\$\$?")
_WORDS_IN_FORMULA = re.compile(r"(\\text(?:it|bf)?)\{[^{}]*\}")
_LINK = re.compile(r"""\]\(<?([^)\s>]+)>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)""")
_TARGET = re.compile(r"<([^<>]+)>\s*$")
_NUMBER = re.compile(
    r"(?:(?<![^\s(\[«“])[-−])?\d+(?:[.,\u202f\u00a0]\d+)*|[⁻⁰¹²³⁴-⁹]+|[½¼¾]|%"
)
_SLOT = re.compile(r"(?<![\\\w}])\{\w+\}")
_WORDED = {"{term}", "{ref}", "{doc}", "{numref}"}  # "words <target>"


def fixed_parts(text: str) -> Counter[str]:
    """Return how often each part occurs that a translation has to keep.

    Where a formula has words, in ``\\text``, these may differ.
    """
    found: Counter[str] = Counter()

    def code(match: re.Match[str]) -> str:
        role, content = match["role"] or "", match["code"].strip()
        if role == "{label}":
            content = ""
        elif role in _WORDED:
            target = _TARGET.search(content)
            content = target[1] if target else content
            content = content.lower() if role == "{term}" else content
        found[f"{role}`{' '.join(content.split())}`"] += 1
        return " "

    def formula(match: re.Match[str]) -> str:
        signs = _WORDS_IN_FORMULA.sub(r"\1", "".join(match[1].split()))
        found[f"${signs}$"] += 1
        return " "

    def link(match: re.Match[str]) -> str:
        found[f"]({match[1]})"] += 1
        return "] "

    rest = _LINK.sub(link, _FORMULA.sub(formula, _CODE.sub(code, text)))
    found.update(_SLOT.findall(rest))
    numbers = _NUMBER.findall(_SLOT.sub(" ", rest))
    found.update(one.replace("−", "-") for one in numbers)
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
