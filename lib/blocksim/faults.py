"""What can go wrong in a kernel, as a sentence and as data."""

FATAL = "index barrier barriers shared block launch endless error compile".split()


class Fault(ValueError):
    """A fault of a kernel.

    Attributes
    ----------
    kind, severity : str
        As in the package's docstring.
    fields : dict
        All of the fault's data, ready for JSON; also available as attributes.
    """

    def __init__(self, kind: str, text: str, line: object = None, **fields):
        super().__init__(text if line is None else f"{text} (line {line})")
        self.fields = {"kind": kind, "text": text, "line": line}
        self.fields.update(fields)
        self.severity = fields.get("severity", "fault")

    def __getattr__(self, name: str) -> object:
        if name == "fields" or name not in self.fields:
            raise AttributeError(name)
        return self.fields[name]

    def __reduce__(self) -> tuple:
        """Return how to make it again, in the process that waits for a pool's worker."""
        made = self.fields["kind"], self.fields["text"], self.fields["line"]
        return type(self), made, self.__dict__


class TooLong(Exception):
    """A launch takes longer than it may; ``beat`` of `blocksim.run` raises it."""


HOW = {
    "read": "{now} reads {what}, which {before} wrote on line {line}, with {none}; it got"
    " {old}",
    "ahead": "{now} reads {what}, which {before} writes anew on line {line}, with {none}:"
    " it may get the old one or the new; here it got {old}",
    "overwrite": "{now} overwrites {what}, which {before} read on line {line}, with"
    " {none}",
    "too early": "{now} reads {what}, which {before} has yet to write on line {line}, with"
    " {none}",
    "both write": "{now} and {before} both write {what}, with {none}: {new} now, {old}"
    " before on line {line}",
    "another": "{now} and {before} both write {what}, with {none}: {new} now, another"
    " number before on line {line}",
    "benign": "{now} and {before} both write {new} to {what} on line {line}, with {none}:"
    " whichever comes last, it is the same number",
}
NONE = "no barrier between"
NONE_FOR_BLOCKS = "nothing to order the two"


def race(how: str, words: dict) -> str:
    """Return the sentence about two threads that race for one element."""
    return HOW[how].format(**words)


def shown(value: object) -> str:
    """Return a value as a message shows it."""
    if value is None:
        return "None"
    if type(value) in (bool, int, float):
        return number(value)
    if isinstance(value, (list, tuple)):
        return "a list" if isinstance(value, list) else f"a tuple of {len(value)}"
    if isinstance(value, str):
        return "a text"
    if hasattr(value, "shape") and value.shape:
        return "an array"
    return number(getattr(value, "value", value))


def number(value: object) -> str:
    """Return a number with six significant digits at most."""
    if type(value) is not float or value != value or value in (INF, -INF):
        return str(value)
    return f"{value:.6g}"


INF = float("inf")


def whole_number(index: object, name: str) -> int:
    """Return an index as a Python int; refuse anything else."""
    if isinstance(index, int):
        return int(index)
    kind = getattr(index, "dtype", None)
    if kind is not None and str(kind)[0] in "iu" and not index.shape:
        return int(index)
    if isinstance(index, slice):
        raise TypeError(f"{name}: the simulator takes whole numbers, no slices")
    raise TypeError(f"{name}: an index is a whole number, got {shown(index)}")


def element(name: str, index: list[int]) -> str:
    """Return an element in a kernel's notation: tile[3, 0]."""
    return f"{name}[{', '.join([str(i) for i in index])}]"


# The simulator's own names in Python's error messages, and what a reader sees instead.
CLASSES = {
    "'Watched'": "an array",
    "'Aliased'": "an array",
    "'PlainAliased'": "an array",
    "'Array'": "an array",
    "'View'": "a part of an array",
    "'Triple'": "an index without .x or .y",
    "'Cuda' object": "cuda",
    "Cuda.": "cuda.",
}


def in_words(message: str) -> str:
    """Return a Python error message without the simulator's own names."""
    for name in CLASSES:
        message = message.replace(name, CLASSES[name])
    return message
