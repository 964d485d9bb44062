"""The WGSL value of an expression: a number, a tuple, or an element or part of an array."""

from ..scalars import rounded
from ..types import FLOATS, UNSIGNED, WHOLE_BITS, is_number, is_tuple
from ..values import UNKNOWN

STAND_IN = 2.0**126  # stands for an infinity, which a WGSL compiler may assume away
FAR = 2.0**120  # a number this large came from STAND_IN, perhaps scaled down since
TYPES = ("bool", "u32", "i32", "f32")  # each converts to those after it


class Untranslatable(ValueError):
    """A kernel that cannot be translated to WGSL.

    Attributes
    ----------
    line : int
    reason, instead : str
        Why it cannot be translated; what to write instead, or "".
    """

    def __init__(self, line: int, reason: str, instead: str = ""):
        said = f"{reason}; instead: {instead}" if instead else reason
        super().__init__(f"WebGPU cannot run this: {said} (line {line})")
        self.line = line
        self.reason = reason
        self.instead = instead


class Number:
    """A number: its text and its type in WGSL.

    Attributes
    ----------
    code : str
    type : str
        One of TYPES.
    const : object
        Its value if it is constant, else UNKNOWN. The text of a constant depends on the
        type it is converted to.
    settled : bool
        Does its text have the same value wherever it is inserted?
    """

    def __init__(self, code: str, type: str, const=UNKNOWN, settled=False):
        self.code = code
        self.type = type
        self.const = const
        self.settled = settled or const is not UNKNOWN

    @property
    def known(self) -> bool:
        """Whether it is a constant."""
        return self.const is not UNKNOWN


class Parts:
    """A tuple."""

    def __init__(self, parts: list):
        self.parts = parts


class Ref:
    """An array, or the part of it that its first indices select.

    Attributes
    ----------
    array : Array
    at : list of Number
        The first indices.
    """

    def __init__(self, array: object, at: list):
        self.array = array
        self.at = at


class Array:
    """An array in a kernel.

    Attributes
    ----------
    key : object
        Its identity.
    name, called : str
        Its name in the kernel and in WGSL.
    space : str
        "global", "shared", "local" or "constant".
    kind : str
        The type of its elements in the kernel.
    shape : list of Number
    line : int
    """

    def __init__(self, key, name: str, called: str, space: str, kind: str, shape, line):
        self.key = key
        self.name = name
        self.called = called
        self.space = space
        self.kind = kind
        self.shape = shape
        self.line = line

    @property
    def size(self) -> int:
        """How many elements it has; undefined for an array in global memory."""
        size = 1
        for extent in self.shape:
            size *= extent.const
        return size

    def as_pointer(self, called: str) -> "Array":
        """Return the array as seen by a function that gets a pointer to it."""
        shape = (self.space, self.kind, self.shape, self.line)
        return Array(self.key, self.name, called, *shape)


NOTHING = Parts([])  # the result of a call without a result


def type_of(kind: str) -> str:
    """Return the WGSL type of a number; all of them have 32 bits."""
    if kind == "bool":
        return "bool"
    if kind in FLOATS:
        return "f32"
    return "u32" if kind in UNSIGNED else "i32"


def plain(name: str) -> str:
    """Return a kernel's name as a valid one in WGSL, which forbids _ and a leading __."""
    return "v" + name if name[:1] == "_" else name


def mangled(name: str) -> str:
    """Return a kernel's name so that it is no keyword of WGSL, nor a name of ours."""
    return plain(name).replace(".", "_") + "_"


def leaves(name: str, kind: object) -> list:
    """Return the numbers in a value of this type, as pairs of a name and a type."""
    if is_number(kind):
        return [(name, kind)]
    numbers = []
    if is_tuple(kind):
        for number, part in enumerate(kind[1:]):
            numbers += leaves(f"{name}.{number}", part)
    return numbers


def flat(piece: object) -> list:
    """Return the numbers in a value, in order."""
    if isinstance(piece, Number):
        return [piece]
    numbers = []
    for part in piece.parts if isinstance(piece, Parts) else []:
        numbers += flat(part)
    return numbers


def whole(value: int) -> Number:
    """Return an integer constant."""
    return Number("", "i32", value)


def product(a: Number, b: Number) -> Number:
    """Return the product of two extents or indices, simplified."""
    if a.known and b.known:
        return whole(a.const * b.const)
    for one, other in ((a, b), (b, a)):
        if one.known and one.const == 0:
            return whole(0)
        if one.known and one.const == 1:
            return other
    return Number(f"({written(a, 'i32')} * {written(b, 'i32')})", "i32")


def total(a: Number, b: Number) -> Number:
    """Return the sum of two indices, simplified."""
    for one, other in ((a, b), (b, a)):
        if one.known and one.const == 0:
            return other
    if a.known and b.known:
        return whole(a.const + b.const)
    return Number(f"({written(a, 'i32')} + {written(b, 'i32')})", "i32")


def written(number: Number, type: str, line: int = 0, ieee: bool = False) -> str:
    """Return the text of a number, converted to a type.

    ``line`` is for the refusal of an integer that is too large; ``ieee`` says that
    infinities are IEEE's.
    """
    if number.known:
        return literal(number.const, type, line, ieee)
    if type == number.type:
        return number.code
    if type == "bool":
        return f"({number.code} != {literal(0, number.type, line)})"
    return f"{type}({bare(number.code)})"


def bare(code: str) -> str:
    """Return a text without the brackets around all of it.

    A comparison keeps them, because WGSL may read < and > as a list of template parameters.
    """
    if code[:1] != "(" or code[-1:] != ")" or "<" in code:
        return code
    depth = 0
    for sign in code[:-1]:
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return code
    return code[1:-1]


def literal(value: object, type: str, line: int, ieee: bool = False) -> str:
    """Return the literal of a constant in this type."""
    if type == "bool":
        return "true" if value else "false"
    if type == "f32":
        return real(float(value), ieee)
    value = int(value)
    high = WHOLE_BITS["int32" if type == "i32" else "uint32"]
    if not -(1 << 31) <= value < 1 << high:
        raise Untranslatable(line, f"{value} has more than 32 bits")
    if type == "u32":
        return f"{value & 0xFFFFFFFF}u"
    if value == -(1 << 31):
        return "i32(-2147483648)"
    return f"({value})" if value < 0 else f"{value}"


def real(value: float, ieee: bool) -> str:
    """Return a float literal. Infinity and NaN come from the launch, as WGSL has none."""
    if value != value:
        return "P.nan"
    near = rounded(value, "float32")
    if near - near != 0 or abs(near) >= STAND_IN:
        if ieee and near - near != 0:
            return "P.infinity" if near > 0 else "(-P.infinity)"
        near = STAND_IN if near > 0 else -STAND_IN
    text = "%.6g" % near
    if rounded(float(text), "float32") != near:
        text = "%.9g" % near
    text += "f"
    return f"({text})" if text[0] == "-" else text
