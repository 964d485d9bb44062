"""What running code says, in another language: pairs of patterns with the same slots.

The simulator's messages and the sentences of drills' own code are English. A pair such as
"{here} waits, {name} never comes" → "el {here} espera, y el {name} no llega nunca" is
applied when a message is shown. A slot may hold a phrase that has a pair of its own, or a
name, a number or code, which stay as they are.

`words/sentences/<language>.yml` has the pairs of the simulator and the kit; those of a
drill's code are texts of the book. ``drills/page/sentences/main.mjs`` is the same code for
the page.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from livepage import yml
from livepage.fixed import has_words
from livepage.translations import translation
from livepage.words import ENGLISH

FOLDER = Path(__file__).parent / "words" / "sentences"
SLOT = re.compile(r"\{(\w+)\}")
FORMATTED = re.compile(r"%[dsr]|\{\}")
PHRASE = re.compile(r"[^\W\d_]{2,}[ ,;:]|[ ,;:][^\W\d_]{2,}")
# Between the words of a sentence; a name, a number or code has none of these.
PROSE = re.compile(r"[\w'\")\]] ['\"(]?[A-Za-z]")
HERE = re.compile(r"\b(a kernel) here\b")  # said of what only the simulator declines
CAPITAL = re.compile("(Thread|Lane) ")  # a phrase that begins a sentence
JOINS = ": "  # "thread 3: IndexError: …": what follows may be in whatever language


@cache
def pairs(language: str) -> Mapping[str, str]:
    """Return the English and the translated patterns of the simulator and of the kit."""
    sections = yml.read(FOLDER / f"{language}.yml")
    return {
        english: new for found in sections.values() for english, new in found.items()
    }


def languages() -> list[str]:
    """Return the languages that have pairs."""
    return sorted(file.stem for file in FOLDER.glob("*.yml"))


def numbered(text: str) -> str:
    """Return a format string as a pattern: "%d of %d" → "{1} of {2}"."""
    count = iter(range(1, 100))
    return FORMATTED.sub(lambda _: f"{{{next(count)}}}", text)


def of_code(code: str) -> list[str]:
    """Return the sentences that a drill's code can say to a reader, as patterns.

    These are strings of several words, and words among the results that it yields.
    """
    found = (numbered(text) for text in _strings(ast.parse(code), False))
    return list(dict.fromkeys(found))


def _strings(node: ast.AST, yielded: bool) -> Iterator[str]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
        word = yielded and text.isalpha() and has_words(text)
        if word or PHRASE.search(FORMATTED.sub("", text)):
            yield text
    yielded = yielded or isinstance(node, ast.Yield)
    for child in ast.iter_child_nodes(node):
        yield from _strings(child, yielded)


def pairs_of_code(code: str, language: str) -> dict[str, str]:
    """Return the pairs of a drill's sentences that the book has in a language."""
    found = {text: translation(text, language) for text in of_code(code)}
    return {text: new for text, new in found.items() if new is not None}


class Translator:
    """Translates messages by pairs of patterns.

    Parameters
    ----------
    pairs : mapping of str to str
        English pattern → pattern in another language, with the same slots.
    """

    def __init__(self, pairs: Mapping[str, str]) -> None:
        self.phrases = {k: v for k, v in pairs.items() if not SLOT.search(k)}
        patterns = [_Pattern(k, v) for k, v in pairs.items() if k not in self.phrases]
        self.patterns = sorted(patterns, key=lambda one: -len(one.literal))

    def translate(self, message: str) -> str | None:
        """Return a message in the other language, or None if no pattern matches."""
        text = HERE.sub(r"\1", message)
        if found := not CAPITAL.match(text) and self._find(text, False):
            return found
        found = self._find(text[:1].lower() + text[1:], False)
        return found and found[:1].upper() + found[1:]

    def _find(self, text: str, inside: bool) -> str | None:
        if text in self.phrases:
            return self.phrases[text]
        for pattern in self.patterns if " " in text else ():
            filled = self._fill(pattern, text, inside)
            if filled is not None:
                return filled
        return None

    def _fill(self, pattern: _Pattern, text: str, inside: bool) -> str | None:
        """Return the translation by one pattern; ``inside`` says that it is in a slot.

        Alone, a pattern with hardly a word is no proof that the message is a known one.
        """
        match = pattern.regex.fullmatch(text)
        if not match:
            return None
        filled, known = {}, pattern.strong or inside
        for name, value in zip(pattern.names, match.groups()):
            new = self._find(value, pattern.strong)
            if new is None and not pattern.free(name) and PROSE.search(value):
                return None
            known = known or new is not None
            filled[name] = value if new is None else new
        return SLOT.sub(lambda slot: filled[slot[1]], pattern.new) if known else None


class _Pattern:
    def __init__(self, english: str, new: str) -> None:
        self.names, self.new = SLOT.findall(english), new
        self.free_end = self.names[-1] if re.search(r": \{\w+\}$", english) else ""
        parts = SLOT.split(english)[::2]
        self.regex = re.compile("(.+?)".join(map(re.escape, parts)), re.DOTALL)
        self.literal = "".join(parts)
        words = re.findall(r"[A-Za-z]+", self.literal)
        self.strong = len(words) > 1 or sum(map(len, words)) > 4

    def free(self, slot: str) -> bool:
        """Say whether a slot may hold any text: a value, or what stands after a colon."""
        return slot.isdigit() or self.free_end == slot or self.literal == JOINS


@cache
def translator(language: str) -> Translator:
    """Return what translates the simulator's messages and the kit's."""
    return Translator(pairs(language))


SAID = ("said", "error", "reason", "instead")  # slots that code has filled


def in_slots(
    slots: Mapping[str, Any], language: str, own: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the slots of a sentence, with code's words in a language."""
    return {
        name: translated(value, language, own)
        if name in SAID and isinstance(value, str)
        else value
        for name, value in slots.items()
    }


def translated(
    message: str, language: str, own: Mapping[str, str] | None = None
) -> str:
    """Return a message in a language, or in English if no pattern matches.

    A message that is code, between backticks, stays code. ``own`` are a drill's pairs.
    """
    if language == ENGLISH or language not in languages():
        return message
    ticks = "`" if message[:1] == message[-1:] == "`" else ""
    bare = message.strip("`") if ticks else message
    known = Translator({**pairs(language), **own}) if own else translator(language)
    return f"{ticks}{known.translate(bare) or bare}{ticks}"
