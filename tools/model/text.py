"""What the model of the last chapter learns from: the book's own prose, in few letters.

The pages of the road in their order, then their drills: what they ask, hint at, and
explain. Code, displayed formulas, tables and raw HTML are left out; a formula in a line
is read out; a paragraph becomes a line, and what is said twice counts once. Of every
twelve paragraphs one is held out, and the model never learns from it.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[2]
OWN = "10-a-model-that-speaks"  # the model's own chapter, which it has not read
SAID = ("prompt", "hint", "hints", "solution", "text", "because")  # of a drill
SHORTEST = 20  # letters of a paragraph that counts
EVERY, HELD = 12, 7  # of so many paragraphs, the one of this number is held out
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
    """What is learnt, and what is held out; a line is a paragraph."""

    learnt: str
    held: str


def texts(root: Path = ROOT) -> Texts:
    """Return the two, from the book as it stands."""
    every = list(dict.fromkeys(x for part in _parts(root) for x in paragraphs(part)))
    kept = [one for i, one in enumerate(every) if i % EVERY != HELD]
    held = [one for i, one in enumerate(every) if i % EVERY == HELD]
    return Texts("\n".join(kept), "\n".join(held))


def _parts(root: Path) -> Iterator[str]:
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    files = [one["file"] for part in toc["parts"] for one in part["chapters"]]
    pages = [toc["root"], *(file for file in files if file != OWN)]
    for page in pages:
        yield (root / "book" / f"{page}.md").read_text("utf-8")
    for page in pages:
        drills = root / "book" / "drills" / f"{page}.yml"
        if drills.exists():
            yield from _said(yaml.safe_load(drills.read_text("utf-8")))


def _said(value: Any, key: str = "") -> Iterator[str]:
    """The words of drills, wherever they stand."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _said(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from _said(each, key)
    elif isinstance(value, str) and key in SAID:
        yield value


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a page or a drill as the model reads them.

    Examples
    --------
    >>> paragraphs("# From scores\\n\\nThe {q}`m` of $e^{s - \\\\qm'}$ is **not** lost.")
    ["The m of e^s - m' is not lost."]
    """
    for pattern, flags in LEFT_OUT:
        text = re.sub(pattern, "", text, flags=flags)
    text = re.sub(r"\$([^$]*)\$", lambda match: _read_out(match[1]), text)
    for pattern, word in READ_AS:
        text = re.sub(pattern, word, text, flags=re.M)
    for sign, word in SIGNS.items():
        text = text.replace(sign, word)
    parts = (re.sub(r"\s+", " ", part).strip() for part in re.split(r"\n\s*\n", text))
    known = ("".join(x for x in part if x in LETTERS) for part in parts)
    return [part for part in known if len(part) >= SHORTEST]


def _read_out(formula: str) -> str:
    for pattern, word in FORMULAS:
        formula = re.sub(pattern, word, formula)
    return formula
