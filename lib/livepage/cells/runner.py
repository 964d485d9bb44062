"""Runs a cell of a chapter on the page: first the cells it needs, then the cell itself.

This file runs in MicroPython on the page, and in CPython where it is tested, so it is
plain Python. Texts of cells come in the page's order, as the reader has left them. A
cell above is run if it gives a name that is used below it, and what it prints is not
shown: a run depends on nothing but the texts.
"""

import sys

from livepage.cells.assertions import Tally, bare, closes, conditions_at, cut
from livepage.drills import faults, syntax

CELL, ABOVE = "cell.py", "above.py"  # as tracebacks call the cell, and one above it
WIDEST = 300  # letters of a value that is shown


def perform(job: dict, show: object) -> dict:
    """Run a cell after those that it needs; return what stopped it, and what it claims.

    Parameters
    ----------
    job : dict
        ``text``, ``needs`` and ``above``, a list of ``{"name", "text", "needs", "binds"}``:
        what a cell is called, and the names that it takes and gives. ``needs`` is None
        where the reader has changed the text, and then they are read from it.
    show : callable
        Called where what is printed begins to be shown.

    Returns
    -------
    dict
        ``fault``, what stopped the cell or one above it, or None; ``claims``, how many
        assertions the cell has; ``doubts``, those of them that say nothing.
    """
    above, space, texts = job["above"], {"__name__": "__main__"}, []
    _finder.begin(space, texts)
    for index in needed(job, above):
        fault = run(above[index]["text"], ABOVE, space, texts)
        if fault:
            fault["above"] = above[index]["name"]
            return {"fault": fault, "claims": 0, "doubts": []}
    show()
    tally = Tally(job["text"])
    fault = run(job["text"], CELL, space, texts, tally)
    doubts = [] if fault else tally.doubts(space)
    return {"fault": fault, "claims": len(tally.places), "doubts": doubts}


def run(
    text: str, file: str, space: dict, texts: list, tally: Tally | None = None
) -> dict | None:
    """Run one text in the names there are; return what stopped it, or None."""
    texts.append(text)
    try:
        code = compiled(text, file, tally)
        if tally:
            space.update(tally.names())
        exec(code, space)
    except BaseException as error:
        return fault_of(error, text, file, space)
    return None


def compiled(text: str, file: str, tally: Tally | None) -> object:
    """Return the code of a text, with its assertions counted where that can be."""
    try:
        return compile(tally.counted() if tally else text, file, "exec")
    except SyntaxError:
        return compile(text, file, "exec")


# ---- which cells a cell needs


def needed(cell: dict, above: list) -> list:
    """Return the places of the cells that a cell needs, in the page's order."""
    found, open_ends = set(), [(cell, len(above))]
    while open_ends:
        cell, end = open_ends.pop()
        names = words(cell["text"]) if cell["needs"] is None else cell["needs"]
        for name in names:
            index = giver(name, above[:end])
            if index is not None and index not in found:
                found.add(index)
                open_ends.append((above[index], index))
    return sorted(found)


def giver(name: str, above: list) -> int | None:
    """Return the place of the last cell that gives a name, or None."""
    for index in range(len(above) - 1, -1, -1):
        cell = above[index]
        if name in cell["binds"]:
            return index
        if cell["needs"] is None and name in bound(cell["text"]):
            return index
    return None


def bound(text: str) -> set:
    """Return what looks like a name that a text binds, line by line."""
    found = set()
    for line in text.split("\n"):
        line = line.strip()
        first = line.split(" ")[0]
        if first in ("def", "class"):
            found |= words(line.replace(":", "(").split("(")[0])
        elif first in ("import", "from"):
            found |= words(line)
        elif first == "for":
            found |= words(line.split(" in ")[0])
        for sign in ("==", "!=", "<=", ">="):
            line = line.replace(sign, " ")
        for target in cut(line, ["="])[:-1]:
            found |= words(target)
    return found


_words = {}


def words(text: str) -> set:
    """Return all that looks like a name in a text: more than it uses, never less."""
    if text not in _words:
        found, word = set(), ""
        for letter in text + " ":
            if letter == "_" or letter.isalpha() or (word and letter.isdigit()):
                word += letter
            else:
                found.add(word)
                word = ""
        _words[text] = found - {""}
    return _words[text]


# ---- kernels


def prepare(job: dict) -> None:
    """Load the simulator, if a cell has a kernel; ``numba`` is the simulator then."""
    texts = [job["text"]] + [cell["text"] for cell in job["above"]]
    if not any(["cuda" in words(text) for text in texts]):
        return
    import blocksim.kernel

    sys.modules["numba"] = blocksim.kernel.numba
    if faults.MICROPYTHON:  # where no function knows its text
        sys.modules["blocksim.functions"] = _finder


class _Finder:
    """What stands for ``blocksim.functions``: kernels by their name in the cells."""

    def begin(self, space, texts):
        """Look for kernels in these texts, and for their names in this space."""
        self.space, self.texts, self.read = space, texts, {}

    def program(self, function):
        """Return what can be compiled of a function."""
        from blocksim.kernel import Kernel
        from blocksim.program import Program

        return Program(self.compilable(Kernel(function=function)), {})

    def compilable(self, kernel):
        """Return a function of one of the cells, the last that has it, as text."""
        name = kernel.function.__name__
        for text in reversed(self.texts):
            if "def " + name + "(" in text:
                source = self.source(text)
                if name in source.functions:
                    return source.own(kernel)
        raise ValueError(
            f"{name}: a kernel has to stand at the left margin of its cell"
        )

    def source(self, text):
        """Return a text as the simulator reads it."""
        if text not in self.read:
            self.read[text] = _source(text, self)
        return self.read[text]


def _source(text, finder):
    from blocksim.kernel import numba
    from blocksim.source import Source, builtin, resolved
    from blocksim.things import Thing

    class CellSource(Source):
        """A cell's text, whose names are those that its run has made."""

        def find(self, name):
            if name == "math":
                return Thing("math")
            if name in finder.space:
                return resolved(finder.space[name], finder.compilable)
            return builtin(name)

        def own(self, kernel):
            return Source.function(self, kernel)

    return CellSource(text, CELL, finder.space, numba, True)


_finder = _Finder()


# ---- what stopped a cell


def fault_of(error: BaseException, text: str, file: str, space: dict) -> dict:
    """Return what an exception says, and for an assertion what it compared."""
    kind, said = type(error).__name__, str(error)[:WIDEST]
    line, inside = place(faults.traceback(error), file)
    if line is None and getattr(error, "line", None):
        line = error.line  # of a kernel, which runs as another text
    if line:  # a bracket that never closes is blamed on the line after the last
        line = min(line, len(text.rstrip().split("\n")))
    fault = {"kind": kind, "said": said, "line": line}
    slip = syntax.slip(text, line) if kind == "SyntaxError" else None
    if slip:
        fault["word"], fault["line"], fault["sign"] = slip
    if kind == "AssertionError" and line:
        fault["compared"] = None if inside else compared(text, line, space)
    return fault


def place(trace: str, file: str) -> tuple:
    """Return the last line of a file in a traceback, and if it is inside a function."""
    mark = 'File "' + file + '", line '
    at = trace.rfind(mark)
    if at < 0:
        return None, False
    rest, digits = trace[at + len(mark) :], ""
    for letter in rest:
        if not letter.isdigit():
            break
        digits += letter
    where = rest.split("\n")[0]
    return int(digits), "<module>" not in where and ", in " in where


def compared(text: str, line: int, space: dict) -> dict | None:
    """Return what a false assertion compared, worked out once more; None if it cannot.

    The values are those that the names have now. Where working it out again gives
    something true, nothing is claimed.
    """
    claims = conditions_at(text, line)
    try:
        for part in [part for claim in claims for part in cut(claim, [" and "])]:
            if not value_of(part, space):
                return {
                    "part": " ".join(bare(part).split()),
                    "sides": sides(part, space),
                }
    except BaseException:
        pass
    return None


def value_of(text: str, space: dict) -> object:
    """Return the value of an expression."""
    return eval("(" + text + "\n)", space)


def sides(part: str, space: dict) -> list:
    """Return the texts and the values that a false expression compares."""
    part = bare(part)
    found = []
    if part.startswith("all(") and closes(part[4:]):
        found = first_false(part[4:-1], space)
    for piece in [] if found else operands(part):
        piece = " ".join(piece.split())
        found.append([piece, shown(value_of(piece, space))])
    return [pair for pair in found if tells(*pair)]


def tells(piece: str, value: str) -> bool:
    """Say whether a value is more than its own text, or where an object lies."""
    return not value.startswith("<") and squeezed(piece) != squeezed(value)


def squeezed(text: str) -> str:
    """Return a text without spaces: a number as it stands says nothing of its value."""
    return "".join(text.split())


def first_false(claim: str, space: dict) -> list:
    """Return for "claim for names in rows" the first names for which it is false."""
    parts = cut(claim, [" for "])
    names = cut(parts[1], [" in "])[0].strip() if len(parts) == 2 else ""
    if not names:
        return []
    ends = claim[len(parts[0]) :]
    glue = " and " if len(cut(ends, [" if "])) > 1 else " if "
    failing = value_of(
        "[(" + names + ",)" + ends + glue + "not (" + parts[0] + ")]", space
    )
    first = failing[0][0] if len(failing[0]) == 1 else failing[0]
    return [[names, shown(first)]]


def operands(part: str) -> list:
    """Return the expressions that a condition compares; none where that is unclear."""
    if part.startswith("not "):
        return [part[4:]]
    if part.startswith("lambda") or len(cut(part, [" if ", " else "])) > 1:
        return []
    found = cut(part, [" or "])
    if len(found) == 1:
        found = cut(part, COMPARING)
    if len(found) == 1 and part.endswith(")") and " for " not in part:
        name, _, rest = part.partition("(")
        inner = cut(rest[:-1], [","])
        if name.replace(".", "").replace("_", "").isalpha() and closes(rest):
            found = [p for p in inner if p.strip() and "=" not in first_word(p)]
    elif len(found) == 2 and found[0].startswith("abs(") and closes(found[0][4:]):
        found = cut(found[0].rstrip()[4:-1], [" - "])[:2] + found
    return [p for p in found if len(found) > 1 or p.strip() != part]


COMPARING = ["==", "!=", "<=", ">=", " not in ", " in ", " is not ", " is ", "<", ">"]


def first_word(text: str) -> str:
    """Return a text up to its first bracket or quotation mark: where `name=` stands."""
    for index, letter in enumerate(text):
        if letter in "([{'\"":
            return text[:index]
    return text.replace("==", "")


def shown(value: object) -> str:
    """Return a value as Python writes it, not too long."""
    text = repr(value)
    return text if len(text) <= WIDEST else text[:WIDEST] + "…"
