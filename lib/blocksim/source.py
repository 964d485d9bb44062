"""Resolves the names around a kernel.

A text is first run as a Python module, with stand-ins for Numba: this gives its
constants, and shows which functions are decorated. The functions themselves are parsed,
and compiled for the arguments of each launch.
"""

import builtins
import math

from .things import (
    ALIASES,
    BUILTINS,
    DType,
    Family,
    Member,
    Scalar,
    Thing,
    Type,
    type_of_name,
)
from .tokens import plain
from .tree import parse, parts_of
from .values import Function, Unusable, Value

TOO_DEEP = "more brackets or blocks in each other than the simulator reads"
ENDS_OF_STACKS = (
    "maximum recursion depth exceeded",  # both Pythons
    "pystack exhausted",  # MicroPython
    "too many nested parentheses",  # CPython's parser
    "too many statically nested blocks",
    "too many levels of indentation",
)
PLAIN = (
    "{name} is a plain function of Python's",
    "put @cuda.jit(device=True) above it",
)


class Source:
    """A text with kernels in it.

    Parameters
    ----------
    text : str
    file : str
        Its name in tracebacks.
    names : dict
        Further names that the text may use; they override the text's own assignments.
    numba : Thing
        The stand-in for ``import numba``.
    whole : bool
        Does the text import all that it uses?
    """

    def __init__(self, text, file, names: dict, numba: object, whole: bool):
        self.text = plain(text)
        compile(
            self.text, file, "exec"
        )  # raises syntax errors before the text is edited
        try:
            self.tree = parse(self.text)
        except RuntimeError as error:
            if not too_deep(error):
                raise
            raise SyntaxError(TOO_DEEP) from None
        self.file = file
        self.functions = {node.name: node for node in defined(self.tree)}
        self.numba = numba
        self.overrides = names
        self.whole = whole
        self.space = None

    def around(self) -> dict:
        """Return the names that the text defines; the text runs once."""
        if self.space is None:
            self.space = {"__name__": "kernels", "__numba": self.numba}
            self.space["__given"] = self.overrides
            self.space.update(self.overrides)
            edits = stand_ins_of(self.tree) + restorations(self)
            exec(compile(apply_edits(self.text, edits), self.file, "exec"), self.space)
        return self.space

    def find(self, name: str) -> object:
        """Return the value of a name around a kernel."""
        if name in self.overrides:
            return resolved(self.overrides[name], self.function)
        space = self.around()
        if name in space:
            return resolved(space[name], self.function)
        if not self.whole and (name == "math" or hasattr(self.numba, name)):
            return Thing("math") if name == "math" else getattr(self.numba, name)
        return builtin(name)

    def function(self, kernel: object) -> object:
        """Return the compiler's view of a decorated function."""
        name = getattr(kernel.function, "__name__", None)
        if name not in self.functions:
            return Unusable(
                "{name} is no function of this text",
                "a def under @cuda.jit(device=True)",
                "functions",
            )
        signature = getattr(kernel, "signature", None)
        return Function(name, self.functions[name], self.find, None, signature)


def too_deep(error: Exception) -> bool:
    """Return whether an error says that Python's stack, or its parser's, overflowed.

    Any other error is a bug in the simulator, and must not be hidden.
    """
    if isinstance(error, MemoryError):  # CPython's parser raises it without a message
        return str(error) == ""
    return any([words in str(error) for words in ENDS_OF_STACKS])


def defined(body: list) -> list:
    """Return the functions that a module defines, also those under an if."""
    functions = []
    for node in body:
        if node.kind == "FunctionDef":
            functions.append(node)
        elif node.kind == "If":
            functions += defined(node.body) + defined(node.orelse)
    return functions


def apply_edits(text: str, edits: list) -> str:
    """Apply edits (start, stop, words) to a text; every line keeps its number."""
    parts, done = [], 0
    for start, stop, words in sorted(edits):
        parts += [text[done:start], words, "\n" * text[start:stop].count("\n")]
        done = stop
    return "".join(parts) + text[done:]


def stand_ins_of(tree: list) -> list:
    """Return the edits that replace imports of Numba and NumPy by stand-ins."""
    edits = []
    for node in statements(tree):
        if node.kind == "Refused" and node.words[:1] in (["import"], ["from"]):
            taken = stand_ins(node.words)
            if taken is not None:
                edits.append((node.start, node.stop, taken))
    return edits


def restorations(source: Source) -> list:
    """Return the edits that restore each given name after the text assigns to it.

    Names that the text computes from a given name then use the given value.
    """
    edits = []
    for node in statements(source.tree):
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        if node.kind not in ("Assign", "AnnAssign", "AugAssign"):
            continue
        parts = [part for target in targets for part in parts_of(target)]
        names = [part.id for part in parts if part.kind == "Name"]
        again = [
            f"; {name} = __given[{name!r}]"
            for name in names
            if name in source.overrides
        ]
        edits.append((node.stop, node.stop, "".join(again)))
    return edits


def statements(body: list) -> list:
    """Return the statements of a module, also those under an if."""
    nodes = []
    for node in body:
        inside = statements(node.body + node.orelse) if node.kind == "If" else [node]
        nodes += inside
    return nodes


def stand_ins(words: list) -> str | None:
    """Return an import of Numba or NumPy as assignments; None for any other import."""
    words = [word for word in words if word not in ("(", ")")]
    if words[0] == "from":
        stop = words.index("import")
        module = "".join(words[1:stop])
        names = words[stop + 1 :]
    else:
        module, names = None, words[1:]
    taken = []
    for path, name in imported_names(names):
        whole = f"{module}.{path}" if module else path
        root = whole.split(".")[0]
        if root not in ("numba", "numpy", "operator"):
            return None
        if path == "*":
            name = "_"  # running the import raises the error
        if module is None and name is None:
            whole, name = root, root
        taken.append(f"{name or path} = {imported(whole)}")
    return "; ".join(taken)


def imported_names(words: list) -> list:
    """Return the names of an import as pairs (path, name after ``as`` or None)."""
    pairs, path, name = [], "", None
    for word in words + [","]:
        if word == ",":
            if path:
                pairs.append((path, name))
            path, name = "", None
        elif word == "as":
            name = ""
        elif name == "":
            name = word
        else:
            path += word
    return pairs


def imported(path: str) -> str:
    """Return the expression for an import from Numba or NumPy."""
    return f"__numba.imported({path!r})"


def resolved(value: object, function: object) -> object:
    """Return the compiler's view of a value around a kernel.

    ``function(value)`` returns it for a decorated function.
    """
    if (
        isinstance(value, Thing)
        and value.path[:5] == "cuda."
        and value.path not in ALIASES
        and value.path[:9] != "cuda.fp16"
    ):
        return Unusable(
            "Numba does not know {name} by this name",
            "write " + value.path + " where it is used",
        )
    if hasattr(value, "__members__"):
        return Family(value)
    if hasattr(type(value), "__members__"):
        return Member(value)
    if value is None or isinstance(value, (bool, int, float, str, Thing, Type, Scalar)):
        return value
    if isinstance(value, tuple):
        return whole_tuple(value, [resolved(part, function) for part in value])
    if hasattr(value, "function") and hasattr(value, "made"):
        return function(value)
    if value is math:
        return Thing("math")
    known = Thing("math").child(getattr(value, "__name__", "") or "")
    if known is not None and value is getattr(math, value.__name__, None):
        return known
    if getattr(value, "__module__", "") in ("operator", "_operator"):
        known = Thing("operator").child(value.__name__)
        if known is not None:
            return known
    for name in BUILTINS:
        if value is getattr(builtins, name):
            return builtin(name)
    return other_value(value)


def whole_tuple(value: tuple, parts: list) -> object:
    """Return a tuple around a kernel, or why no kernel can use it."""
    for part in parts:
        if isinstance(part, Unusable):
            return part
        if isinstance(part, Thing):
            return Unusable("{name} is a tuple with " + part.path, "a name for each")
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)


def other_value(value: object) -> object:
    """Return the compiler's view of the remaining kinds of values."""
    kind = type(value).__name__
    if kind == "ndarray":
        if type_of_name(str(value.dtype)) is not None:
            return constant_array(value)
        kind = "records" if value.dtype.names else str(value.dtype)
        return Unusable("{name} is an array of " + kind, "", "complex")
    if kind == "module" and value.__name__ in ("numpy", "operator"):
        return Thing(value.__name__)
    if "numpy" in (
        getattr(value, "__module__", ""),
        getattr(type(value), "__module__", "").split(".")[0],
    ):
        dtype = type_of_name(getattr(value, "name", getattr(value, "__name__", "")))
        if dtype is not None:
            return dtype if kind == "type" else DType(dtype.name)
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        return Scalar(value.item(), Type(str(value.dtype)))
    if kind in ("function", "closure"):
        return Unusable(*PLAIN)
    if kind in ("list", "dict", "set"):
        return Unusable("{name} is a " + kind, "a tuple, or an array as an argument")
    if kind == "module" and value.__name__ in HOSTS:
        return Unusable(
            "{name} is a module that no kernel can use",
            "hand its numbers in, as an array",
        )
    if kind == "type" and issubclass(value, Exception):
        return raised(value.__name__, value)
    # A class of the kernel's own text; in MicroPython no class has a module.
    own = getattr(value, "__module__", "kernels") == "kernels"
    if own and kind == "type" and not issubclass(value, tuple):
        return Unusable(
            "{name} is a class, and a kernel sees no attributes of classes",
            "each number under a name of its own around the kernel",
        )
    return Unusable("{name} is nothing that a kernel can use: " + kind, "", "library")


def constant_array(value: object) -> Value:
    """Return the compiler's view of a NumPy array around a kernel, which Numba copies."""
    array = Value(("array", str(value.dtype), value.ndim, "constant"))
    array.array = value
    return array


def raised(name: str, kind: object = None) -> Unusable:
    """Return the compiler's view of an exception, which can only be raised."""
    exception = Unusable(name + " has no place in a kernel, except after raise")
    exception.raises = kind
    return exception


def builtin(name: str) -> object:
    """Return the compiler's view of a Python builtin."""
    if name == "__debug__":
        return True
    if name in BUILTINS:
        return Thing(name)
    if name in EXCEPTIONS:
        return raised(name)
    if name in PYTHONS or name in OWN_CHOICE:
        return Unusable(
            f"{name} has no place in a kernel",
            REPLACED.get(name, ""),
            OWN_CHOICE.get(name, ""),
        )
    raise KeyError(name)


HOSTS = "random time functools itertools collections copy os torch scipy".split()
PYTHONS = (
    "reversed sorted list dict set map filter any all complex input open repr"
    " hash id iter next object super callable eval exec format"
    " ascii bin bytearray bytes compile delattr dir exit frozenset globals hex"
    " issubclass locals memoryview oct property quit setattr vars"
).split()
EXCEPTIONS = (
    "ArithmeticError AssertionError AttributeError Exception FloatingPointError IndexError"
    " KeyError LookupError MemoryError NameError NotImplementedError OSError OverflowError"
    " RuntimeError StopIteration TypeError ValueError ZeroDivisionError"
).split()
OWN_CHOICE = {
    "print": "output",
    "sum": "loops",
    "tuple": "tuples",
    "isinstance": "asking",
    "hasattr": "asking",
    "getattr": "asking",
    "type": "asking",
    "slice": "asking",
    "str": "texts",
    "ord": "texts",
    "chr": "texts",
    "complex": "complex",
}


REPLACED = {
    "sum": "a loop that adds up in a variable",
    "print": "write numbers into an array",
    "str": "write numbers into an array",
    "list": "cuda.local.array(n, float32)",
    "any": "a loop",
    "all": "a loop",
    "sorted": "a loop",
    "reversed": "range(n - 1, -1, -1)",
}
