"""Arguments of a launch: converted to the kernel's arrays, and written back afterwards.

Two arguments may share memory: one array passed twice, or views of one, such as
``x[1:]`` and ``x[:-1]``, ``x`` and ``x.T``. On a GPU they are the same memory under two
names, and here as well. Elements are identified by their addresses: in a numpy array by
the address in memory, in a list by the identity of the list and the index in it.
"""

from .faults import shown
from .memory import Aliased, Array, PlainAliased, Watched
from .scalars import Scalar, Type, convert, type_name, wrapped
from .types import SIZES, tuple_tag


def leaves(value: object) -> list:
    """Return what is in a tuple and in the tuples in it, or the value alone."""
    return [leaf for _, leaf in named_leaves("", value)]


def named_leaves(name: str, value: object) -> list:
    """Return the leaves of an argument with their names: x, or x[0], x[1][0], …"""
    if not isinstance(value, tuple):
        return [(name, value)]
    found = []
    for number, part in enumerate(value):
        found += named_leaves(f"{name}[{number}]", part)
    return found


def nested(like: object, parts: object) -> object:
    """Return an argument of the same form, with the next parts as its leaves."""
    if not isinstance(like, tuple):
        return next(parts)
    return tuple([nested(part, parts) for part in like])


def kind_of_argument(value: object, kinds: object) -> object:
    """Return the type of an argument, by those of its leaves."""
    if not isinstance(value, tuple):
        return next(kinds)
    parts = [kind_of_argument(part, kinds) for part in value]
    return tuple([tuple_tag(value)] + parts)


def take_in(launch, parameters: list, arguments: list) -> tuple:
    """Return the types of a launch's arguments, and the arguments for the kernel."""
    named = []
    for name, value in zip(parameters, arguments):
        named += named_leaves(name, value)
    taken = take_leaves(launch, named)
    found = iter([
        kind_of(name, array if isinstance(array, Array) else value)
        for (name, value), array in zip(named, taken)
    ])  # fmt: skip
    kinds = tuple([kind_of_argument(value, found) for value in arguments])
    return kinds, nested(tuple(arguments), iter(taken))


def take_leaves(launch, named: list) -> list:
    """Return the leaves of arguments: numbers, and arrays of this package."""
    values = [value for _, value in named]
    taken = [convert_argument(launch, name, value) for name, value in named]
    arrays = [
        [array, addresses(value)]
        for array, value in zip(taken, values)
        if isinstance(array, Array)
    ]
    for group in groups_on_one_memory(arrays):
        for old, new in zip([pair[0] for pair in group], on_one_memory(launch, group)):
            taken = [new if each is old else each for each in taken]
    if launch.full:
        for array, value in zip(taken, values):
            if isinstance(array, Array):
                array.addresses = byte_offsets(array, value)
    return taken


def byte_offsets(array: Array, value: object) -> list | None:
    """Return the byte addresses of the elements of a non-contiguous numpy array."""
    if isinstance(value, list) or value.flags["C_CONTIGUOUS"] or not array.size:
        return None
    starts = cells(array, addresses(value))
    first = min(starts)
    return [address - first for address in starts]


def convert_argument(launch, name: str, value: object) -> object:
    """Return an argument for the kernel, as if it shared its memory with no other."""
    if isinstance(value, list):
        data, shape = flat(value, name)
        whole = data and all([type(x) is int for x in data])
        kind = "int32" if whole else "float32"
        data = [list_element(name, x, kind, launch.rounds) for x in data]
        return array(launch, name, shape, kind, data)
    if getattr(value, "shape", ()) and hasattr(value, "dtype"):
        taken = array(launch, name, value.shape, kind_of(name, value), None, value)
        flags = getattr(value, "flags", None)
        taken.read_only = flags is not None and not flags["WRITEABLE"]
        return taken
    kind = kind_of(name, value)
    if isinstance(value, Scalar):
        return convert(value.value, kind, launch.rounds)
    if hasattr(value, "dtype"):  # a scalar of numpy's
        return convert(value.item(), kind, launch.rounds)
    return value


def list_element(name: str, value: object, kind: str, rounds: bool) -> object:
    """Return a number of a list, converted to the array's type; None stays None."""
    value = value.item() if hasattr(value, "item") else value
    if value is None:
        return None
    if type(value) not in (bool, int, float):
        raise ValueError(f"{name}: expected numbers in its lists, got {shown(value)}")
    if kind == "int32" and wrapped(value, kind) != value:
        raise ValueError(f"{name}: expected whole numbers of 32 bits, got {value}")
    return convert(value, kind, rounds)


def kind_of(name: str, value: object) -> object:
    """Return the type of an argument for the compiler.

    For a numpy array this is the type of its numbers; for an array of this package it is
    the whole type, with the number of dimensions.
    """
    if isinstance(value, Array):
        return ("array", value.dtype.name, value.ndim)
    if hasattr(value, "dtype"):
        if not getattr(value.dtype, "isnative", True):  # Numba refuses such an array
            wanted = f"{name}: expected numbers in this machine's order of bytes"
            raise ValueError(f"{wanted}; got {value.dtype}")
        try:
            return type_name(value.dtype)
        except ValueError:
            wanted = ", ".join(sorted(SIZES))
            message = f"{name}: expected numbers of {wanted}; got {value.dtype}"
            raise ValueError(message) from None
    kind = {bool: "bool", int: "int64", float: "float64"}.get(type(value))
    if kind == "int64" and value >= 1 << 63:
        kind = "uint64"
    if kind in ("int64", "uint64") and wrapped(value, kind) != value:
        raise ValueError(f"{name}: expected a number of 64 bits at most, got {value}")
    if kind is None:
        raise ValueError(f"{name}: expected a number or an array, got {shown(value)}")
    return kind


def array(launch, name, shape, kind, data, value=None) -> Array:
    """Return an array in global memory."""
    data = value.ravel().tolist() if data is None else data
    return launch.memory(launch, name, "global", shape, Type(kind), data)


def constant(launch, name: str, value: object) -> Array:
    """Return an array around a kernel, which is read-only like Numba's constants."""
    data, shape = value.ravel().tolist(), value.shape
    kind = Type(type_name(value.dtype))
    made = Array(launch, name, "constant", shape, kind, data)
    made.read_only = True
    return made


# ---- arguments that share memory


def addresses(value: object) -> tuple:
    """Return where an argument's elements are: (bounds, array), or (list ids, None).

    For a numpy array the bounds of its memory decide most cases, because most arrays do
    not overlap; the array itself decides the others.
    """
    if isinstance(value, list):
        return sorted_ids(value), None
    start = value.__array_interface__["data"][0]
    low = high = start
    for extent, stride in zip(value.shape, value.strides):
        reach = (extent - 1) * stride
        low, high = low + min(reach, 0), high + max(reach, 0)
    return (low, high + value.itemsize), value


def sorted_ids(value: list) -> list:
    """Return the identities of the lists that hold an argument's numbers."""
    if value and isinstance(value[0], list):
        ids = []
        for part in value:
            ids += sorted_ids(part)
        return ids
    return [id(value)]


def groups_on_one_memory(arrays: list) -> list:
    """Return the groups of arguments that may share memory, two members at least."""
    groups = []
    for pair in arrays:
        near = [
            group for group in groups if any([overlap(pair, each) for each in group])
        ]
        merged = [pair]
        for group in near:
            merged = group + merged
        groups = [group for group in groups if group not in near] + [merged]
    return [g for g in groups if len(g) > 1 or overlaps_itself(g[0])]


def overlap(a: list, b: list) -> bool:
    """Return whether two arguments may share memory."""
    (mine, numpys), (other, others) = a[1], b[1]
    if (numpys is None) != (others is None):
        return False
    if numpys is None:
        return any([identity in other for identity in mine])
    return mine[0] < other[1] and other[0] < mine[1]


def overlaps_itself(pair: list) -> bool:
    """Return whether two elements of one argument may have one address."""
    mine, value = pair[1]
    if value is None:
        return len(set(mine)) < len(mine)
    if pair[0].read_only:
        return False
    # The extent in bytes of an element and of the dimensions with smaller strides.
    reach = value.itemsize - 1
    for stride, extent in sorted(zip([abs(n) for n in value.strides], value.shape)):
        if extent > 1 and stride <= reach:
            return True
        reach += stride * (extent - 1)
    return False


def on_one_memory(launch, group: list) -> list:
    """Return arrays with one common memory for arguments that share memory."""
    addressed = [cells(*pair) for pair in group]
    known, holders = {}, []
    for (array, _), mine in zip(group, addressed):
        for cell in mine:
            if cell not in known:
                known[cell] = len(known)
                holders.append(array)
            elif holders[known[cell]].dtype.name != array.dtype.name:
                refuse_to_share(holders[known[cell]], array)
    if group[0][1][1] is not None:
        check_elements_apart(known, holders)
    if sum([len(set(mine)) for mine in addressed]) == len(known) and len(group) > 1:
        return [array for array, _ in group]  # interleaved, without a common element
    first, made = None, []
    data = [None] * len(known)
    for (array, _), mine in zip(group, addressed):
        for cell, number in zip(mine, array.data):
            data[known[cell]] = number
    for (array, _), mine in zip(group, addressed):
        alias = aliased(launch, array, data)
        first = first or alias
        alias.share([known[cell] for cell in mine], first)
        made.append(alias)
    for alias in made:
        alias.others = made
    return made


def check_elements_apart(known: dict, holders: list) -> None:
    """Refuse elements that begin at different addresses and overlap in memory."""
    last = end = None
    for start in sorted(known):
        array = holders[known[start]]
        if last is not None and start < end:
            refuse_to_share(last, array)
        last, end = array, start + array.dtype.size


def refuse_to_share(one: Array, other: Array) -> None:
    """Refuse arrays that share bytes but not elements: an element has one record."""
    names = one.name if one is other else f"{one.name} and {other.name}"
    kinds = one.dtype.name, other.dtype.name
    said = (
        f"{names} share memory, and hold {kinds[0]} and {kinds[1]}; expected one type"
    )
    if kinds[0] == kinds[1]:
        said = f"elements of {names} overlap in part; expected the same ones, or others"
    raise ValueError(f"arguments: {said}")


def aliased(launch, array: Array, data: list) -> Array:
    """Return a copy of an array that can share its memory."""
    make = Aliased if launch.memory is Watched else PlainAliased
    made = make(launch, array.name, "global", array.shape, array.dtype, data)
    made.read_only = array.read_only
    return made


def cells(array: Array, where: tuple) -> list:
    """Return the address of every element of an argument."""
    lists, value = where
    if value is None:
        width = array.width
        return [(lists[k // width], k % width) for k in range(array.size)]
    starts = [value.__array_interface__["data"][0]]
    for extent, stride in zip(value.shape, value.strides):
        starts = [start + k * stride for start in starts for k in range(extent)]
    return starts


# ---- reading lists, and writing results back


def flat(value: list, name: str) -> tuple[list, tuple]:
    """Return the numbers of a nested list, and its shape."""
    if not (value and isinstance(value[0], list)):
        return list(value), (len(value),)
    data, shape = [], None
    for row in value:
        numbers, inner = flat(row, name) if isinstance(row, list) else ([row], None)
        if shape not in (None, inner) or inner is None:
            message = f"{name}: expected rows of one shape, got {shape} and {inner}"
            raise ValueError(message)
        data += numbers
        shape = inner
    return data, (len(value),) + shape


def give_back(values: list, arrays: list) -> None:
    """Copy the arrays that the kernel changed back into the arguments."""
    for value, array in zip(leaves(tuple(values)), leaves(tuple(arrays))):
        if not isinstance(array, Array):
            continue
        if not array.changed and not any([each.changed for each in array.others]):
            continue
        table = getattr(array, "table", None)
        data = array.data if table is None else [array.data[k] for k in table]
        if isinstance(value, list):
            fill(value, iter(data))
        elif not array.read_only:
            # A number that overflows the array's type becomes an infinity.
            with __import__("numpy").errstate(over="ignore"):
                value.flat = data


def fill(value: list, numbers: object) -> None:
    """Write numbers into a nested list, row by row."""
    for i in range(len(value)):
        if isinstance(value[i], list):
            fill(value[i], numbers)
        else:
            value[i] = next(numbers)
