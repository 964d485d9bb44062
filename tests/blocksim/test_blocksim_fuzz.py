"""The random programs find a simulator that loses an access on one way to an element."""

from collections.abc import Callable

import pytest

from blocksim import arithmetic, things
from blocksim.emit import Emitter
from blocksim.launch import Launch
from blocksim.memory import Array, Rows, View
from blocksim.types import is_array, is_tuple
from blocksim.values import Closure
from kernels import fuzz

Patch = pytest.MonkeyPatch
expression, item, atomic = Emitter.expression, Emitter.item, Emitter.atomic
dynamic, part = Launch.dynamic, View.__getitem__


def unrecorded(rows: Rows, key: object) -> object:
    """Read an element as a simulator does that forgets to record it."""
    array = getattr(rows, "array", rows)
    value = array.data[array.offset(key if rows is array else rows.position(key))]
    return value or 0


def reads(forgotten: Callable) -> Callable:
    """Return a fault: reads of elements are not recorded where that is so."""

    def written(self, node) -> str:
        element = node.kind == "Subscript" and is_array(node.value.got.kind)
        if element and not is_array(node.got.kind) and forgotten(self, node):
            return f"{self.expression(node.value)}.unrecorded({self.index(node)})"
        return expression(self, node)

    return lambda patch: patch.setattr(Emitter, "expression", written)


def loops(path: str) -> Callable:
    """Return a fault: what a ``for`` reads through a function is not recorded."""

    def written(self, node, names: list, index: str) -> str:
        around = getattr(self, "around", "")
        self.around = getattr(node, "path", "") or around
        text, through, self.around = item(self, node, names, index), self.around, around
        if is_array(node.got.kind) and through == path:
            return text.replace(f"[{index}]", f".unrecorded({index})")
        return text

    return lambda patch: patch.setattr(Emitter, "item", written)


def part_of(view: View, key: object) -> object:
    return part(view, key) if view.position(key) is None else unrecorded(view, key)


def writes(view: View, key: object, value: object) -> None:
    array = view.array
    array.data[array.offset(view.position(key))] = array.convert(value)


def changes(view: View, key: object, change: Callable, reads: bool = True) -> object:
    return Array.change(view.array, view.position(key), change, reads)


def unwatched(launch: Launch, name: str, dtype: object) -> Array:
    watched, launch.memory = launch.memory, Array
    array = dynamic(launch, name, dtype)
    launch.memory = watched
    launch.watched.remove(array)
    return array


def unread(self, node, name: str) -> str:
    written = atomic(self, node, name)
    if self.called == "__kernel":
        return written
    return written.replace("atomic_unread", "atomic")


def replaced(owner: object, name: str, value: object) -> Callable:
    return lambda patch: patch.setattr(owner, name, value)


FAULTS = {
    "a read through a slice": replaced(View, "__getitem__", part_of),
    "a write through a slice": replaced(View, "__setitem__", writes),
    "an atomic on a slice": replaced(View, "change", changes),
    "a slice of dynamic shared memory": replaced(Launch, "dynamic", unwatched),
    "a for over a slice": loops(""),
    "a for with enumerate": loops("enumerate"),
    "a for with zip": loops("zip"),
    "an array in a tuple": reads(
        lambda _, node: (
            node.value.kind == "Subscript" and is_tuple(node.value.value.got.kind)
        )
    ),
    "an array that a function returns": reads(
        lambda _, node: node.value.kind == "Call"
    ),
    "a function with a tuple": reads(
        lambda emitter, _: True in [is_tuple(kind) for kind in emitter.typed.kinds]
    ),
    "a function that is handed over": reads(
        lambda emitter, _: emitter.typed.node.name == "fetch"
    ),
    "a lambda": reads(lambda emitter, _: hasattr(emitter.typed.node, "anonymous")),
    "a nested function": reads(
        lambda emitter, _: isinstance(emitter.typed.function, Closure)
    ),
    "an atomic handed over whose result nobody reads": replaced(
        Emitter, "atomic", unread
    ),
    "a negative index": replaced(
        Launch, "wrapped", lambda self, array, key: tuple([0 for _ in key])
    ),
    "operator.add": lambda patch: patch.setitem(things.SIGNS, "add", "-"),
    "the bits of a small integer": replaced(
        arithmetic, "popc", lambda value, bits: (value & 0xFFFFFFFF).bit_count()
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_random_programs_find_the_fault(fault: str, monkeypatch: Patch) -> None:
    monkeypatch.setattr(Rows, "unrecorded", unrecorded, raising=False)
    FAULTS[fault](monkeypatch)
    judge = fuzz.judged.__wrapped__
    complaint = next(filter(None, (judge(seed)[0] for seed in range(1, 240, 2))), "")
    assert complaint and "Error" not in complaint
