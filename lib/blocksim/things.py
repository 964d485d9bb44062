"""What the names of a kernel can stand for, apart from numbers and arrays.

A `Thing` is a module or function, known by its path: "cuda.grid", "math.exp", "range". It
has no value while a kernel runs; only the compiler sees it.
"""

from .types import ANGLES, CONSTANTS, HALVES, ONE, PARTS, SIZES, TESTS, TWO

DIMS = ("threadIdx", "blockIdx", "blockDim", "gridDim")
# The types of elements that each atomic changes, and how many values it takes.
ATOMICS = {name: ("numbers", 1) for name in "add sub max min nanmax nanmin".split()}
ATOMICS.update({name: ("integers", 1) for name in ("and_", "or_", "xor", "exch")})
ATOMICS.update({"inc": ("unsigned", 1), "dec": ("unsigned", 1), "cas": ("integers", 2)})
SHUFFLES = ("shfl_sync", "shfl_xor_sync", "shfl_up_sync", "shfl_down_sync")
# Votes among the lanes of a mask: the types of the operand and of the result.
VOTES = {name: ("test", "bool") for name in ("all_sync", "any_sync", "eq_sync")}
VOTES["ballot_sync"] = ("test", "int32")
VOTES["match_any_sync"] = ("number", "int32")
VOTES["match_all_sync"] = ("number", ("tuple", "int32", "bool"))
COUNTS = ("syncthreads_count", "syncthreads_and", "syncthreads_or")
MEETINGS = ("syncthreads", "syncwarp", "activemask") + COUNTS + SHUFFLES + tuple(VOTES)
FENCES = ("threadfence", "threadfence_block", "threadfence_system", "nanosleep")
WHOLES = [kind for kind in SIZES if "int" in kind]
BITS = {  # bit intrinsics: type of the operand -> type of the result
    "popc": {kind: kind for kind in WHOLES},
    "clz": {kind: kind for kind in WHOLES},
    "ffs": {kind: "uint32" for kind in ("int32", "uint32", "int64", "uint64")},
    "brev": {kind: "uint32" for kind in WHOLES + ["bool"]},
}
BITS["popc"]["bool"] = BITS["clz"]["bool"] = "int8"
BITS["brev"]["uint64"] = "uint64"
ALIASES = [  # Numba lets these be imported by name, and takes keywords in their calls
    "cuda." + name
    for name in ("grid", "gridsize", "syncthreads")
    + COUNTS
    + SHUFFLES
    + ("ballot_sync", "all_sync", "any_sync", "eq_sync")
]
BUILTINS = "range len min max abs int float bool round pow divmod enumerate zip".split()
KNOWN = {"numba", "numba.cuda", "numba.types", "cuda.types", "math", "numpy"}
KNOWN.update(["cuda." + name for name in DIMS])
KNOWN.update([f"cuda.{name}.{axis}" for name in DIMS for axis in "xyz"])
KNOWN.update(["cuda." + name for name in MEETINGS + FENCES + tuple(BITS)])
KNOWN.update(["cuda.atomic." + name for name in ATOMICS])
KNOWN.update(
    "cuda cuda.grid cuda.gridsize cuda.laneid cuda.warpsize cuda.activemask"
    " cuda.lanemask_lt cuda.shared cuda.shared.array cuda.local cuda.local.array"
    " cuda.const cuda.const.array_like cuda.atomic cuda.atomic.compare_and_swap"
    " cuda.fma cuda.cbrt cuda.selp cuda.jit".split()
)
MATHS = ONE + TESTS + ANGLES + TWO + PARTS
KNOWN.update(["math." + name for name in MATHS + CONSTANTS])
KNOWN.update(["cuda.fp16." + name for name in HALVES] + ["cuda.fp16"])
# The functions of ``operator``, and their signs.
SIGNS = dict(zip("neg pos invert not_".split(), "- + ~ not".split()))
UNARY = tuple(SIGNS)
SIGNS.update(zip("eq ne lt le gt ge".split(), "== != < <= > >=".split()))
SYMBOLS = "+ - * / // % ** & | ^ << >>".split()
NAMES = "add sub mul truediv floordiv mod pow and or xor lshift rshift".split()
SIGNS.update(
    {name + "_" * (name in ("and", "or")): s for name, s in zip(NAMES, SYMBOLS)}
)
SIGNS.update({"i" + name: sign for name, sign in zip(NAMES, SYMBOLS)})
KNOWN.update(["operator"] + ["operator." + name for name in SIGNS])
KNOWN.update(["numpy.inf", "numpy.nan", "numpy.pi", "numpy.e"])


class Thing:
    """A module or function that only the compiler sees, by its path."""

    def __init__(self, path: str):
        self.path = path

    def child(self, name: str) -> object:
        """Return this module's attribute with this name, or None."""
        if self.path in ABSENT and name not in ABSENT[self.path]:
            spelled = OF_NUMPY.get(name, name) if self.path == "numpy" else name
            dtype = type_of_name(spelled)
            if dtype is None and name == "void" and self.path != "numpy":
                dtype = Void("numba.void")
            if dtype is not None:
                return dtype
        path = "cuda" if (self.path, name) == ("numba", "cuda") else None
        path = path or f"{self.path}.{name}"
        return Thing(path) if path in KNOWN else None

    def __getattr__(self, name: str) -> object:
        child = None if name[:2] == "__" or name == "path" else self.child(name)
        if child is None:
            raise AttributeError(f"{self.path} has no {name}")
        return child

    def __repr__(self) -> str:
        return self.path


class Type:
    """A number type of Numba's, for ``float32(x)`` in a kernel or the dtype of an array."""

    def __init__(self, name: str):
        self.name = name
        self.size = SIZES[name]
        self.is_float = name[0] == "f"

    def __call__(self, *values: object) -> object:
        """Outside of kernels: return a number of this type, or a signature."""
        if len(values) == 1 and not isinstance(values[0], (Type, Shaped)):
            return Scalar(values[0], self)
        return Signature(self.name, values)

    def __getitem__(self, key: object) -> object:
        return Shaped(self.name, len(key) if isinstance(key, tuple) else 1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Type) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name


class DType(Type):
    """The dtype of an array: unlike a `Type`, it cannot be called to convert a number."""


class Member:
    """A member of an enum, by its name; that of an IntEnum is also a whole number."""

    def __init__(self, member: object):
        self.path = f"{type(member).__name__}.{member.name}"
        self.family = type(member)
        self.value = member.value
        self.whole = isinstance(member, int) and not hasattr(member, "_boundary_")

    def __str__(self) -> str:
        return self.path


class Family:
    """An enum, whose members a kernel may name."""

    def __init__(self, family: object):
        self.family = family
        self.path = family.__name__

    def member(self, name: str) -> Member | None:
        """Return the member with this name, or None."""
        known = self.family.__members__
        return Member(known[name]) if name in known else None

    def __str__(self) -> str:
        return self.path


class Shaped:
    """The type of an array in a signature: float32[:, :]."""

    def __init__(self, name: str, ndim: int):
        self.kind = ("array", name, ndim)


class Void(Thing):
    """``void``, the result type of a kernel."""

    def __call__(self, *takes: object) -> object:
        return Signature("none", takes)


class Signature:
    """The types that a decorator declares.

    Attributes
    ----------
    gives : str or None
        The type of the result; None if only those of the arguments are declared.
    takes : tuple
        The types of the arguments.
    """

    def __init__(self, gives: object, takes: tuple):
        self.gives = gives
        named = [one.name if isinstance(one, Type) else one.kind for one in takes]
        self.takes = tuple(named)


def signature_of(declared: object) -> object:
    """Return the signature in a decorator, or a text that says what is wrong with it."""
    if isinstance(declared, list):
        if len(declared) != 1:
            return "several"
        declared = declared[0]
    if isinstance(declared, str):
        names = {name: Type(name) for name in SIZES}
        names.update({name: Type(SPELLINGS[name]) for name in SPELLINGS})
        names["void"] = Void("numba.void")
        try:
            declared = eval(declared, names)
        except (SyntaxError, NameError, TypeError, AttributeError) as error:
            return str(error)
    try:
        return Signature(None, declared) if isinstance(declared, tuple) else declared
    except AttributeError:
        return "not a type in it"


class Scalar:
    """A typed number, as an argument of a launch or a name around a kernel."""

    def __init__(self, value: object, dtype: Type):
        self.value = value
        self.dtype = dtype


def pairs(text: str) -> dict:
    """Parse a table that is written as "name:type name:type …"."""
    return dict([pair.split(":") for pair in text.split()])


SPELLINGS = pairs(
    "f2:float16 f4:float32 f8:float64 i1:int8 i2:int16 i4:int32 i8:int64 u1:uint8"
    " u2:uint16 u4:uint32 u8:uint64 b1:bool boolean:bool bool_:bool intp:int64"
    " uintp:uint64 double:float64 half:float16 single:float32 byte:uint8 char:int8"
    " uchar:uint8 short:int16 ushort:uint16 intc:int32 uintc:uint32 int_:int64"
    " uint:uint64 long_:int64 ulong:uint64 longlong:int64 ulonglong:uint64"
    " ssize_t:int64 size_t:uint64"
)
# Names that mean different types in NumPy and in Numba, then names that only Numba has,
# then NumPy's type codes.
OF_NUMPY = {"byte": "int8", "ubyte": "uint8", "long": "int64"}
NOT_OF_NUMPY = ("boolean", "char", "uchar", "long_", "size_t", "ssize_t")
CODES = pairs(
    "?:bool b:int8 B:uint8 h:int16 H:uint16 i:int32 I:uint32 l:int64 L:uint64"
    " q:int64 Q:uint64 e:float16 f:float32 d:float64 int:int64 float:float64"
)


ABSENT = {  # modules that hold types -> the spellings that the module lacks
    "numba": ("float16", "f2", "half", "single"),
    "numba.types": ("half", "single"),
    "numpy": NOT_OF_NUMPY + tuple([name for name in SPELLINGS if len(name) == 2]),
}
ABSENT["cuda"], ABSENT["cuda.types"] = ABSENT["numba"], ABSENT["numba.types"]


def type_of_text(text: str) -> Type | None:
    """Return the type that NumPy reads from a text, such as "float32", "f4" or "f"."""
    code = text[1:] if text[:1] in ("<", "=") and len(text) < 4 else text
    code = CODES.get(code, OF_NUMPY.get(code, code))
    return None if code in NOT_OF_NUMPY else type_of_name(code)


def type_of_name(name: str) -> Type | None:
    """Return the type with this name, in any of Numba's and NumPy's spellings."""
    name = SPELLINGS.get(name, name)
    return Type(name) if name in SIZES else None
