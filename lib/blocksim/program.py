"""A kernel, and its compiled code for each list of argument types."""

from .arithmetic import device_names
from .emit import emit
from .infer import Compiler
from .scalars import convert
from .source import too_deep
from .types import FLOATS, in_words, is_number
from .values import Function, Refusal, signed


class Code:
    """A kernel compiled for arguments of certain types.

    Attributes
    ----------
    typed : Typed
        The typed tree that it was compiled from.
    stops, waits : bool
        Do its threads stop anywhere, to meet or to poll? May they poll in a loop?
    sites : list of tuple
        The calls at which threads meet; see ``emit.Text``.
    shared : list of tuple
        Its static shared arrays: name, bytes and line.
    doubles : dict
        Line -> what is computed in float64 there.
    text : str
        The Python text that the simulator runs.
    """

    def __init__(self, typed, doubles: dict, full: bool, rounds: bool):
        text = emit(typed, full, rounds)
        self.typed = typed
        self.stops, self.waits = typed.stops, typed.waits
        self.sites = text.sites
        self.constants = text.constants
        self.shared = text.shared
        self.doubles = doubles
        self.text = "\n".join(text.lines) + "\n"
        self.code = compile(self.text, "kernel as the simulator runs it", "exec")

    def load(self, runtime: object) -> object:
        """Return the kernel as a function; it calls the runtime ``__rt``."""
        space = device_names()
        space["__rt"] = runtime
        exec(self.code, space)
        return space["__kernel"]


class Program:
    """A kernel, with the names around it and its compiled code.

    Attributes
    ----------
    name : str
    parameters : list of str
    names : dict
        Further names that the kernel may use, such as tile sizes.
    refused : Refusal or None
        Why it is no kernel, whatever its arguments are.
    """

    def __init__(self, function: Function, names: dict, refused: object = None):
        self.function = function
        self.name = function.name
        self.overrides = names
        self.refused = refused
        self.parameters = [p.name for p in function.node.parameters if p.name]
        self.compiled = {}

    @property
    def names(self) -> dict:
        return self.overrides

    @names.setter
    def names(self, names: dict) -> None:
        """Set other names, and drop the code that was compiled with the old ones."""
        if names != self.overrides:
            self.overrides.clear()
            self.overrides.update(names)
            self.compiled.clear()
            source = getattr(self.function, "source", None)
            if source:
                source.space = None

    def code(self, kinds: tuple, full: bool, fair=False, rounds=None) -> Code:
        """Return the code for arguments of these types, or raise Refusal."""
        if self.refused:
            raise self.refused
        takes = self.takes() or kinds
        key = (takes, full, fair, full if rounds is None else rounds)
        if key not in self.compiled:
            self.check_parameters()
            try:
                self.compiled[key] = self.compile(*key)
            except (RuntimeError, MemoryError, SyntaxError) as error:
                if not too_deep(error):
                    raise
                raise Refusal(
                    self.function.node.line,
                    "too much stands in each other's brackets or blocks",
                    "several lines, each with a part of it",
                    "depth",
                ) from None
        for name, taken, kind in zip(self.parameters, takes, kinds):
            self.check_fit(name, taken, kind)
        return self.compiled[key]

    def takes(self) -> tuple | None:
        """Return the argument types of the decorator's signature, if there is one."""
        takes = signed(self.function)
        if takes is not None and self.function.signature.gives not in (None, "none"):
            node = self.function.node
            line = (node.decorators or [node])[0].line
            raise Refusal(line, "a kernel returns nothing", "void(…) as its signature")
        return takes

    def check_fit(self, name: str, takes: object, kind: object) -> None:
        """Refuse an argument of another type than the signature gives."""
        numbers = is_number(takes) and is_number(kind)
        if takes != kind and not (numbers and (takes in FLOATS or kind not in FLOATS)):
            raise Refusal(
                self.function.node.line,
                f"the signature says that {name} is {in_words(takes)},"
                f" and this launch gives {in_words(kind)}",
                "@cuda.jit alone: a launch gives the types",
                "signatures",
            )

    def fitted(self, values: list, kinds: tuple) -> list:
        """Return the arguments, with numbers converted to the types of a signature."""
        signature = getattr(self.function.signature, "takes", kinds)
        if len(signature) != len(kinds):
            return values
        return [
            convert(value, takes, True)
            if takes != kind and is_number(takes) and is_number(kind)
            else value
            for value, takes, kind in zip(values, signature, kinds)
        ]

    def compile(self, kinds: tuple, full: bool, fair: bool, rounds: bool) -> Code:
        compiler = Compiler(fair)
        typed = compiler.kernel(self.function, kinds)
        return Code(typed, compiler.doubles, full, rounds)

    def check_parameters(self) -> None:
        """Refuse parameters that a launch does not fill."""
        for parameter in self.function.node.parameters:
            if parameter.stars or parameter.default is not None:
                raise Refusal(
                    parameter.line,
                    "a kernel's parameters have neither stars nor defaults",
                    "name every parameter",
                    "functions",
                )
