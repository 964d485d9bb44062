"""What can go wrong in a kernel, as a sentence and as data."""

FATAL = ("index", "barrier", "barriers", "shared", "block", "error")


class Fault(ValueError):
    """A fault of a kernel.

    Attributes
    ----------
    kind : str
        As in the package's docstring.
    fields : dict
        Everything known about it, ready for JSON; also as attributes.
    """

    def __init__(self, kind: str, text: str, line: object = None, **fields):
        at = "" if line is None else f" (line {line})"
        super().__init__(text + at)
        self.fields = {"kind": kind, "text": text, "line": line}
        self.fields.update(fields)

    def __getattr__(self, name: str) -> object:
        if name == "fields" or name not in self.fields:
            raise AttributeError(name)
        return self.fields[name]


HOW = {
    "read": "{now} reads {what}, which {before} wrote{at}, with no barrier between",
    "ahead": "{now} reads {what}, which {before} writes anew{at}, with no barrier"
    " between: it may get the old one or the new",
    "overwrite": "{now} overwrites {what}, which {before} read{at}, with no barrier"
    " between",
    "too early": "{now} reads {what}, which {before} has yet to write{at}, with no"
    " barrier between",
    "both write": "{now} and {before} both write {what}, with no barrier between",
}


def race(now: str, before: str, what: str, how: str, earlier: int) -> str:
    """Return the sentence about two threads in one place."""
    at = f" on line {earlier}"
    return HOW[how].format(now=now, before=before, what=what, at=at)


def element(name: str, index: list[int]) -> str:
    """Return an element as one writes it: tile[3, 0]."""
    return f"{name}[{', '.join([str(i) for i in index])}]"


# What Python calls the simulator's own classes, and what a reader of its errors should.
CLASSES = {
    "'Watched'": "an array",
    "'Array'": "an array",
    "'Part'": "a row of an array",
    "'Triple'": "an index without .x or .y",
    "'Cuda' object": "cuda",
    "Cuda.": "cuda.",
}


def in_words(message: str) -> str:
    """Return an error of Python's without the simulator's own names."""
    for name in CLASSES:
        message = message.replace(name, CLASSES[name])
    return message
