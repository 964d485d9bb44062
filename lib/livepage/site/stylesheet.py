"""One stylesheet for the whole book: merged, cut to what pages use, made small."""

from __future__ import annotations

import re
from collections.abc import Iterable

import tinycss2
from tinycss2.ast import AtRule, Node, QualifiedRule

_NESTING = {"media", "supports", "container", "layer"}
_SELECTOR_PART = re.compile(r"([.#]?)(-?[A-Za-z_][\w-]*)")
_IGNORED = re.compile(r"\[[^\]]*\]|::?[\w-]+(\((?:[^()]|\([^()]*\))*\))?")

_TAG, _ID, _CLASS = map(  # of pages as they are written here: always in double quotes
    re.compile, (r"<([a-z][\w-]*)", r'\bid="([^"]*)"', r'\bclass="([^"]*)"')
)
_FACE = re.compile(r"@font-face\s*\{[^}]*\}")
_BODY = re.compile(r"\{([^{}]*)\}")
_STRING_OR_COMMENT = re.compile(r"(\"[^\"]*\"|'[^']*'|/\*.*?\*/)", re.DOTALL)


def names_on(page: str) -> set[str]:
    """Every tag, class and id of a page."""
    used = {*_TAG.findall(page), *(f"#{name}" for name in _ID.findall(page))}
    classes = " ".join(set(_CLASS.findall(page)))
    return used.union(f".{name}" for name in classes.split())


def names_in(script: str) -> set[str]:
    """Every word of a script, as a tag, a class and an id: scripts build elements."""
    words = set(re.findall(r"[A-Za-z_][\w-]*", script))
    return {kind + word for word in words for kind in ("", ".", "#")}


def can_match(selector: str, used: set[str]) -> bool:
    """Whether one selector could match an element of the book."""
    plain = _IGNORED.sub("", selector)
    return all(kind + name in used for kind, name in _SELECTOR_PART.findall(plain))


def _selectors(prelude: list[Node]) -> list[str]:
    """Split a rule's prelude at its top-level commas."""
    parts: list[list[Node]] = [[]]
    for token in prelude:
        if token.type == "literal" and token.value == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return [tinycss2.serialize(part).strip() for part in parts]


def purge(rules: list[Node], used: set[str]) -> str:
    """CSS of the rules that can match, with the selectors that can."""
    kept = []
    for rule in rules:
        if isinstance(rule, QualifiedRule):
            alive = [s for s in _selectors(rule.prelude) if can_match(s, used)]
            if alive:
                body = tinycss2.serialize(rule.content)
                kept.append(f"{','.join(alive)}{{{body}}}")
        elif isinstance(rule, AtRule) and rule.lower_at_keyword in _NESTING:
            inner = tinycss2.parse_rule_list(rule.content or [], True, True)
            if body := purge(inner, used):
                head = tinycss2.serialize(rule.prelude).strip()
                kept.append(f"@{rule.at_keyword} {head}{{{body}}}")
        else:
            kept.append(rule.serialize())
    return "\n".join(kept)


def drop_unused_fonts(css: str) -> str:
    """Remove the font faces that no remaining rule asks for."""
    rules = _FACE.sub("", css)
    return _FACE.sub(lambda face: face[0] if _is_used(face[0], rules) else "", css)


def _is_used(face: str, rules: str) -> bool:
    """Whether a rule names the family, and one that does so wants it to look so.

    A family that is named in a custom property only may be wanted in any look, and so
    may one whose look is set by a rule of its own.
    """
    family = re.search(r"font-family:\s*[\"']?([^;\"'}]+)", face)
    if not family or family[1].strip() not in rules:
        return False
    name = re.escape(family[1].strip())
    direct = re.compile(rf"font(-family)?:[^;]*\b{name}\b")
    asking = [body for body in _BODY.findall(rules) if direct.search(body)]
    maths = re.findall(r"\.katex[^{},]*\{([^{}]*font-(?:weight|style)[^{}]*)\}", rules)
    asking += [body for body in maths if "family" not in body] if asking else []
    return not asking or _look(face) in map(_look, asking)


def _look(declarations: str) -> tuple[bool, bool]:
    """Whether they say that type is bold, and italic."""
    fonts = " ".join(re.findall(r"font[\w-]*:[^;}]*", declarations))
    return bool(re.search(r"\b(bold|700)\b", fonts)), "italic" in fonts


def squeeze(css: str) -> str:
    """Remove what a browser does not need: comments, and white space between words."""
    parts = _STRING_OR_COMMENT.split(css)  # every second part is a string or a comment
    for place, part in enumerate(parts):
        if place % 2:
            parts[place] = "" if part.startswith("/*") else part
        else:
            text = re.sub(r"\s+", " ", part)
            text = re.sub(r" ?([{};,]) ?", r"\1", text)
            parts[place] = re.sub(r"(?<=[\w-]): ", ":", text).replace(";}", "}")
    return "".join(parts).strip()


def merge(sheets: Iterable[str], used: set[str]) -> str:
    """One small stylesheet from many.

    Parameters
    ----------
    sheets : iterable of str
        CSS in cascade order.
    used : set of str
        Every tag, `.class` and `#id` that pages have or may get.
    """
    rules = tinycss2.parse_stylesheet("\n".join(sheets), True, True)
    errors = [rule.message for rule in rules if rule.type == "error"]
    if errors:
        raise ValueError(f"the stylesheet cannot be read: {'; '.join(errors)}")
    return squeeze(drop_unused_fonts(purge(rules, used)))
