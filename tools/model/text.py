"""The training text of the last chapter's model: the book's own prose, in few letters.

It consists of the pages of the road in their order, then of their drills: prompts, hints
and solutions. Code, displayed formulas, tables and raw HTML are left out. Inline formulas
become words, a paragraph becomes a line, and a repeated paragraph counts once. One
paragraph of every twelve is held out for validation.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tools.common.paths import ROOT

OWN = "10-a-model-that-speaks"  # the model's own chapter, which is left out
FIELDS = ("prompt", "hint", "hints", "solution", "text", "because")  # of a drill
SHORTEST = 20  # letters of a paragraph that counts
EVERY, HELD = 12, 7  # of so many paragraphs, the one with this number is held out
LETTERS = set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 \n.,:;?!'\"()+-*/=_^|"
)

LEFT_OUT = [
    (r"\A---\n.*?\n---\n", re.S),  # the front matter
    (r"^ *(`{3,}).*?^ *\1 *$", re.S | re.M),  # cells and listings
    (r"\$\$.*?\$\$", re.S),  # displayed formulas
    (r"^\([a-z0-9-]+\)=$", re.M),  # names of sections
    (r"^\|.*$", re.M),  # tables
    (r"^:::+.*$", re.M),  # the fences of boxes
    (r"\{(?:label|cite[:\w]*)\}`[^`]*`", 0),
    (r"<[^>\n]+>", 0),
]
READ_AS = [
    (r"\{glue:text\}`[^`]*`", "so many"),  # a number, which comes with the build
    (r"\{[\w:-]+\}`([^`<]*?)\s*(?:<[^`]*>)?`", r"\1"),  # any other role is its text
    (r"!?\[([^\]]*)\]\([^)]*\)", r"\1"),  # a link is its words
    (r"^#+ *", ""),
    (r"^ *- ", ""),
    (r"[`*]", ""),
]
FORMULAS = [
    (r"\\(?:text|mathrm|mathbf|operatorname|mathsf)\{([^}]*)\}", r"\1"),
    (r"\\q([a-z])\b", lambda match: {"a": "alpha"}.get(match[1], match[1])),
    (r"\\ell\b", "l"),
    (r"\\(?:infty)\b", "infinity"),
    (r"\\(?:cdot|times)\b", " times "),
    (r"\\(?:ldots|dots|cdots)\b", "..."),
    (r"\\(?:leq?)\b", "<="),
    (r"\\(?:geq?)\b", ">="),
    (r"\\[dt]?frac(\w)(\w)", r"\1/\2"),
    (r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2"),
    (r"\\(alpha|max|min|exp|log|ln|sum|sqrt|tau|Delta|delta|varepsilon|pm)\b", r"\1"),
    (r"\\[A-Za-z]+|\\.", ""),
    (r"[{}$]", ""),
]
SIGNS = {
    **dict.fromkeys("’‘", "'"),
    **dict.fromkeys("“”", '"'),
    **dict.fromkeys("–—−", "-"),
    "…": "...",
    "ℓ": "l",
    "α": "alpha",
    "∞": "infinity",
    "×": "times",
    "·": " ",
    "≤": "at most",
    "≥": "at least",
    "<=": "at most",
    ">=": "at least",
    "<": "below",
    ">": "above",
    "%": " percent",
    "&": "and",
    "[": "(",
    "]": ")",
}


class Texts(NamedTuple):
    """The training and the validation text; a line is a paragraph."""

    learnt: str
    held: str


def texts(root: Path = ROOT) -> Texts:
    """Return both texts of the current book."""
    every = list(dict.fromkeys(x for part in _parts(root) for x in paragraphs(part)))
    learnt = [text for i, text in enumerate(every) if i % EVERY != HELD]
    held = [text for i, text in enumerate(every) if i % EVERY == HELD]
    return Texts("\n".join(learnt), "\n".join(held))


def _parts(root: Path) -> Iterator[str]:
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    files = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    pages = [toc["root"], *(file for file in files if file != OWN)]
    for page in pages:
        yield (root / "book" / f"{page}.md").read_text("utf-8")
    for page in pages:
        drills = root / "book" / "drills" / f"{page}.yml"
        if drills.exists():
            yield from _prose(yaml.safe_load(drills.read_text("utf-8")))


def _prose(value: Any, key: str = "") -> Iterator[str]:
    """Yield the prose of drills at any depth of the YAML."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _prose(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from _prose(each, key)
    elif isinstance(value, str) and key in FIELDS:
        yield value


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a page or a drill in the letters of the model.

    Examples
    --------
    >>> paragraphs("# From scores\\n\\nThe {q}`m` of $e^{s - \\\\qm'}$ is **not** lost.")
    ["The m of e^s - m' is not lost."]
    """
    for pattern, flags in LEFT_OUT:
        text = re.sub(pattern, "", text, flags=flags)
    text = re.sub(r"\$([^$]*)\$", lambda match: _in_words(match[1]), text)
    for pattern, word in READ_AS:
        text = re.sub(pattern, word, text, flags=re.M)
    for sign, word in SIGNS.items():
        text = text.replace(sign, word)
    parts = (re.sub(r"\s+", " ", part).strip() for part in re.split(r"\n\s*\n", text))
    known = ("".join(x for x in part if x in LETTERS) for part in parts)
    return [part for part in known if len(part) >= SHORTEST]


def _in_words(formula: str) -> str:
    for pattern, word in FORMULAS:
        formula = re.sub(pattern, word, formula)
    return formula
