"""Uses: what a reader's kernel is put to, besides the drill that asks for it.

A use is a folder `uses/<name>/` beside the book's drills, with two files. `use.yml` has
the ``drill`` whose kernel it takes, the ``figure`` with whose `loaded.mjs` it shares what
is heavy, and its ``words``: language → key → text. Of those `title` and `link` (what the
drill is called) stand on the page at once, `notebook` in a notebook; each way has a
button with its own. `use.mjs` imports what the figure has loaded from "livepage/loaded",
and exports `ways`: by name, the ``names`` that the kernel gets, the ``device`` it runs
on, "simulator" or "gpu", and ``run(at)``, which returns what is ``said`` at the end and
further ``parts``. `at` has ``launch(cases)``, which launches the kernel for cases as a
drill has them and gives what they wrote; ``tick.launched``, to be called after each;
``word``, ``say`` and ``shows``; and ``gpu``, where there is one.

A chapter shows it with ``with_your_kernel("<name>")``. The page loads what runs there,
the figure's part included, with the reader's first press.
"""

from __future__ import annotations

from functools import cache
from html import escape
from typing import Any

from livepage import book, modules, words, yml
from livepage.drills.bank import find
from livepage.drills.payload import payload
from livepage.words import ENGLISH

WAYS = ("simulator", "gpu")


class Use:
    """What a reader's kernel is put to.

    Parameters
    ----------
    name : str
        That of its folder.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.folder = book.current().drills / "uses" / name
        if not (self.folder / "use.yml").is_file():
            known = sorted(
                path.parent.name for path in self.folder.parent.glob("*/use.yml")
            )
            raise ValueError(f"name: expected one of {known}, got {name!r}")
        self.fields: dict[str, Any] = dict(yml.read(self.folder / "use.yml"))

    def word(self, key: str, lang: str = ENGLISH) -> str:
        """Return one of its own words, or else one of the kit's."""
        kit = words.table("gpu", lang)
        said = self.fields["words"].get(lang, self.fields["words"][ENGLISH])
        return said.get(key) or kit[key]

    def section(self, lang: str) -> str:
        """Return what stands on the page; without a script it can do nothing."""
        drill = find(self.fields["drill"])
        address = f"{drill.chapter}.html#drill-{drill.id}"
        link = f'<a href="{address}">{self.said("link", lang)}</a>'
        notes = (self.said(key, lang) for key in ("ownKernel", "noKernel"))
        own, none = (note.replace("{link}", link) for note in notes)
        title = f"use-{self.name}-title"
        buttons = " ".join(
            f'<button type="button" data-way="{way}">{self.said(way, lang)}</button>'
            for way in WAYS
        )
        return f"""\
<div class="os-drill os-use" role="group" id="use-{self.name}" data-use="{self.name}"\
 data-drill="{drill.id}" data-figure="{self.fields["figure"]}" aria-labelledby="{title}"\
 data-loading="{self.said("loads", lang)}" data-missing="{self.said("notLoaded", lang)}"\
 hidden>
<p id="{title}"><strong>{self.said("title", lang)}</strong></p>
<p class="os-use-own">{own}</p>
<p class="os-use-none">{none}</p>
<div class="os-drill-actions">{buttons}</div>
<p class="os-drill-how os-use-note" role="status"></p>
</div>
"""

    def said(self, key: str, lang: str) -> str:
        """Return a word as HTML."""
        return escape(self.word(key, lang))

    def script(self) -> str:
        """Return what the page loads with the first press."""
        drill = find(self.fields["drill"])
        given = {
            "drill": drill.id,
            "payload": payload(drill),
            "code": drill.get("code"),
            "words": self.fields["words"],
        }
        loaded = f"osLoaded[{modules.to_json(self.fields['figure'])}]"
        known = {"livepage/drills/page": "livepageDrills", "livepage/loaded": loaded}
        module = modules.expression(self.folder / "use.mjs", known)
        entry = modules.to_json(self.name)
        made = f"{{...{modules.to_json(given)}, ...{module}}}"
        return f"(globalThis.livepageUses ??= {{}})[{entry}] = {made};\n"


class Shown:
    """A use as a cell's output: a line in a notebook, and a host that the site fills."""

    def __init__(self, use: Use) -> None:
        self.use = use

    def __repr__(self) -> str:
        return self.use.word("notebook")

    def _repr_html_(self) -> str:
        said = escape(repr(self))
        return f'<div class="os-use" data-use="{self.use.name}"><p>{said}</p></div>'


def with_your_kernel(name: str) -> Shown:
    """Show what a reader's kernel of a drill is put to.

    Parameters
    ----------
    name : str
        The folder in the book's `drills/uses/`.
    """
    return Shown(Use(name))


def use_html(name: str, lang: str = ENGLISH) -> str:
    """Return a use as a group of the page."""
    return Use(name).section(lang)


@cache
def use_script(name: str) -> str:
    """Return the script that a use loads with the first press."""
    return Use(name).script()
