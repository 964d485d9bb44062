"""Uses: applications that run a reader's kernel, besides the drill that asks for it.

A use is a folder `uses/<name>/` beside the book's drills, with two files. `use.yml` has
the ``drill`` whose kernel runs, the ``figure`` whose `loaded.mjs` the use shares, and its
``words``: language → key → text. The page shows the texts `title` and `link` (the name of
the drill), a notebook shows `notebook`, and each way has a button with its own text.
`use.mjs` imports the figure's data from "livepage/loaded" and exports `ways` by name.
Each way has the ``names`` that the kernel gets, its ``device``, "simulator" or "gpu", and
``run(at)``, which returns the final sentence, ``said``, and further ``parts`` to show.
`at` has ``launch(cases)``, which launches the kernel for cases in a drill's format and
returns the arrays that it wrote; ``tick.launched``, which is called after each launch;
``word``, ``say`` and ``shows``; and ``gpu``, if there is one.

A chapter shows a use with ``with_your_kernel("<name>")``. The page loads its script and
the figure's data when the reader first presses a button.
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
    """An application of a reader's kernel.

    Parameters
    ----------
    name : str
        The name of its folder.
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
        """Return one of the use's own texts, or else one of the kit's."""
        kit = words.table("gpu", lang)
        own = self.fields["words"].get(lang, self.fields["words"][ENGLISH])
        return own.get(key) or kit[key]

    def section(self, lang: str) -> str:
        """Return the element on the page, hidden until a script runs it."""
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
        """Return a text, escaped for HTML."""
        return escape(self.word(key, lang))

    def script(self) -> str:
        drill = find(self.fields["drill"])
        data = {
            "drill": drill.id,
            "payload": payload(drill),
            "code": drill.get("code"),
            "words": self.fields["words"],
        }
        loaded = f"osLoaded[{modules.to_json(self.fields['figure'])}]"
        known = {"livepage/drills/page": "livepageDrills", "livepage/loaded": loaded}
        module = modules.expression(self.folder / "use.mjs", known)
        entry = modules.to_json(self.name)
        use = f"{{...{modules.to_json(data)}, ...{module}}}"
        return f"(globalThis.livepageUses ??= {{}})[{entry}] = {use};\n"


class Shown:
    """A use as a cell's output: a line in a notebook, replaced on the site."""

    def __init__(self, use: Use) -> None:
        self.use = use

    def __repr__(self) -> str:
        return self.use.word("notebook")

    def _repr_html_(self) -> str:
        text = escape(repr(self))
        return f'<div class="os-use" data-use="{self.use.name}"><p>{text}</p></div>'


def with_your_kernel(name: str) -> Shown:
    """Show an application that runs the reader's kernel of a drill.

    Parameters
    ----------
    name : str
        The folder in the book's `drills/uses/`.
    """
    return Shown(Use(name))


def use_html(name: str, lang: str = ENGLISH) -> str:
    """Return the HTML of a use."""
    return Use(name).section(lang)


@cache
def use_script(name: str) -> str:
    """Return the script of a use, which the page loads on demand."""
    return Use(name).script()
