"""Checks the copying loops of a kernel, on its typed syntax tree.

The tree is the block simulator's. It has the binding of every name and the type of every
expression, so neither names nor the order of statements matter. Like ``grader.py`` this
file runs in CPython and in MicroPython.

The copying region is the part of the kernel up to the barrier after its last load from an
input, with all functions called there. If tiles are filled after this barrier, the region
extends to the last statement that fills one. These rules hold in the region:

* no loop converts integers to floats or floats to integers;
* a loop divides only by a constant, and only numbers that the compiler can prove not to
  be negative: then the division is a shift;
* there is no condition except where a loop ends, and an inner loop also copies or has a
  constant trip count;
* no index in a loop may be negative.

An integer may be negative unless its type is unsigned or it is computed from non-negative
integers by an operation that cannot go below 0: a sum, but not a difference.
"""

from blocksim.expressions import fold
from blocksim.tree import nodes_in, parts_of
from blocksim.types import FLOATS, UNSIGNED, is_array, is_integer, is_number
from blocksim.values import UNKNOWN, possible
from livepage.drills.faults import new_fault
from livepage.drills.values import as_code

RULES = (  # keys of sentences; the first rule that is violated is reported
    "kernelLoopFloat",
    "kernelLoopDivision",
    "kernelLoopDivisor",
    "kernelLoopTest",
    "kernelLoopInner",
    "kernelLoopSign",
)
# Instructions per number, from machine code. For the loops that were counted, the estimate
# is within a factor of 1.5.
LEAN = 4.7  # with row and column computed before the loop
SPLIT = 6.3  # extra, if the loop splits a flat index into row and column
CHECKED = 12.7  # extra, if indices are signed
WHILE = 2.3  # extra, if each iteration ends with a test
UNEVEN = 20.0  # in all, if the trip count of a `for` is not constant


def look(kernel: object, inputs: list) -> dict:
    """Check the loops of a kernel that has run.

    Parameters
    ----------
    kernel : blocksim.Kernel
    inputs : list of int
        The indices of the parameters that are arrays to copy from.

    Returns
    -------
    dict
        ``fault``, of the first rule violated, or None; ``form``, a digest of the tree;
        ``estimate``, the approximate instructions per number.
    """
    code = list(kernel.program.compiled.values())[0]
    names = [kernel.program.parameters[place] for place in inputs]
    loops = Loops(code.typed, names)
    return {
        "fault": loops.fault(),
        "form": form(code.typed, loops.region),
        "estimate": loops.estimate(),
    }


class Loops:
    """The copying region of a kernel, and its violations of the rules.

    Attributes
    ----------
    region : list of Node
        The statements that copy.
    sources : dict
        Maps (function, name) to the assignments of the name: the function, the
        expression, and "value", or "item" if the name iterates over the expression.
    arguments : list of tuple
        The keys in ``sources`` of the kernel's parameters, which the launch also
        assigns.
    """

    def __init__(self, typed: object, inputs: list):
        self.typed, self.inputs = typed, inputs
        self.arguments = [(id(typed), one.name) for one in typed.node.parameters]
        self.sources = {key: [] for key in self.arguments}
        self.functions = []
        self.collect(typed)
        # Two views: thread indices are never negative, but the compiler cannot know that.
        self.signed = {True: set(), False: set()}
        for wise in self.signed:
            self.find_signed(wise)
        self.region = self.copying(typed.node.body)
        self.violations, self.splits, self.checks = [], 0, 0
        self.varies, self.whiles = False, False
        self.block(typed, self.region, False)

    def fault(self) -> dict | None:
        """Return the fault of the first rule violated, in the order of the rules."""
        for rule in RULES:
            entries = [entry for entry in self.violations if entry[0] == rule]
            if entries:
                _, line, name = min(entries)
                slots = {"line": line, "name": as_code(name)}
                return new_fault("loops", line, rule, **slots)
        return None

    def estimate(self) -> float:
        """Return the approximate number of instructions per number copied."""
        if self.varies:
            return UNEVEN
        extra = max(SPLIT * bool(self.splits), CHECKED * bool(self.checks))
        return LEAN + extra + WHILE * self.whiles

    # ---- names

    def collect(self, typed: object) -> None:
        """Record the assignments of names, in a function and in all that it calls."""
        self.functions.append(typed)
        for node in nodes_in(typed.node.body):
            if node.kind == "Call" and hasattr(node, "typed"):
                self.call(typed, node)
            elif not getattr(node, "reached", False):
                continue
            elif node.kind == "Assign":
                for target in node.targets:
                    self.bind(typed, target, node.value, "value")
            elif node.kind == "AnnAssign" and node.value is not None:
                self.bind(typed, node.target, node.value, "value")
            elif node.kind == "AugAssign":
                self.bind(typed, node.target, node, "value")
            elif node.kind == "For":
                self.bind(typed, node.target, node.iter, "item")
            elif node.kind == "Return" and node.value is not None:
                self.note(typed, RETURNED, (typed, node.value, "value"))

    def call(self, typed: object, node: object) -> None:
        """Record the arguments of a call as assignments of the parameters."""
        called = node.typed
        for parameter, value in zip(called.node.parameters, node.args):
            self.note(called, parameter.name, (typed, value, "value"))
        if called not in self.functions:
            self.collect(called)

    def bind(self, typed: object, target: object, value: object, how: str) -> None:
        """Record the assignments of a target, which may be a tuple."""
        if target.kind == "Name":
            self.note(typed, target.id, (typed, value, how))
        elif target.kind == "Tuple":
            parts = [value] * len(target.elts)
            if value.kind == "Tuple" and how == "value":
                parts = value.elts
            for name, part in zip(target.elts, parts):
                self.bind(typed, name, part, how)

    def note(self, typed: object, name: str, source: tuple) -> None:
        """Record one assignment of a name."""
        self.sources.setdefault((id(typed), name), []).append(source)

    def key(self, typed: object, name: str) -> tuple | None:
        """Return the key of a name in ``sources``; None if it is no variable."""
        while (id(typed), name) not in self.sources:
            outer = getattr(typed.function, "outer", None)
            if outer is None:
                return None
            typed = outer.typed
        return id(typed), name

    # ---- signs

    def find_signed(self, wise: bool) -> None:
        """Find the names that may be negative, by iterating to a fixed point.

        Arguments may be. Any other name may not, until one of its values may.
        """
        signed, more = self.signed[wise], True
        signed.update(self.arguments)
        signed.difference_update(self.replaced(wise))
        while more:
            more = [
                key
                for key in self.sources
                if key not in signed
                and any(
                    [self.gives_negative(source, wise) for source in self.sources[key]]
                )
            ]
            signed.update(more)

    def replaced(self, wise: bool) -> list:
        """Return the arguments that the kernel first overwrites with a non-negative number.

        Only the new value reads such an argument: ``base = max(base, 0)``.
        """
        result = []
        for key in self.arguments:
            first = first_use(self.typed.node.body, key[1])
            if assigns(first, key[1]) and not self.negative(
                self.typed, first.value, wise
            ):
                result.append(key)
        return result

    def gives_negative(self, source: tuple, wise: bool) -> bool:
        """Say whether an assignment may give a negative value."""
        typed, node, how = source
        if how == "item":
            return self.item_negative(typed, node, wise)
        if node.kind == "AugAssign":
            if node.result.kind in UNSIGNED:
                return False
            sides = [
                self.negative(typed, part, wise) for part in (node.target, node.value)
            ]
            return joined_negative(node.op, *sides)
        return self.negative(typed, node, wise)

    def negative(self, typed: object, node: object, wise: bool) -> bool:
        """Say whether a number, or any part of a tuple, may be negative.

        Parameters
        ----------
        typed : Typed
            The function that contains the expression.
        node : Node
        wise : bool
            Whether array sizes and thread indices are known not to be negative.
        """
        value = getattr(node, "got", None)
        if value is None:
            return node.kind != "Name" or self.name_negative(typed, node, wise)
        if value.kind in UNSIGNED or value.kind == "bool":
            return False
        number = self.number(typed, node)
        if number is not UNKNOWN:
            return number < 0
        if self.own_size(typed, node):
            return False
        read = getattr(self, node.kind.lower() + "_negative", None)
        return read is None or read(typed, node, wise)

    def number(self, typed: object, node: object) -> object:
        """Return the result of constant folding, or UNKNOWN."""
        value = node.got
        if not (is_number(value.kind) and value.fixed):
            return UNKNOWN
        if value.known or hasattr(value, "scalar"):
            return value.const if value.known else value.scalar
        if node.kind == "Name":
            sources = self.sources.get(self.key(typed, node.id), [])
            plain = len(sources) == 1 and sources[0][2] == "value"
            return self.number(*sources[0][:2]) if plain else UNKNOWN
        sides = [self.number(typed, part) for part in operands(node)]
        if UNKNOWN in sides or not sides or node.kind == "AugAssign":
            return UNKNOWN
        return fold(node.op, *sides) if node.kind == "BinOp" else sides[0]

    def fixed(self, typed: object, node: object, seen: tuple = ()) -> bool:
        """Say whether a number is computed from constants and constant sizes only."""
        if node.kind == "AugAssign":
            return False
        if node.got.fixed or self.own_size(typed, node):
            return True
        if node.kind == "Name":
            key = self.key(typed, node.id)
            sources = [] if key in seen else self.sources.get(key, [])
            plain = len(sources) == 1 and sources[0][2] == "value"
            return plain and self.fixed(*sources[0][:2], seen + (key,))
        parts = operands(node) if is_plain(node) else []
        return parts != [] and all([self.fixed(typed, one, seen) for one in parts])

    def own_size(self, typed: object, node: object) -> bool:
        """Say whether this is a size of an array that the kernel creates: a constant."""
        node = node.value if node.kind == "Subscript" else node
        if node.kind == "Attribute" and node.attr in ("shape", "size"):
            array = node.value
        elif node.kind == "Call" and getattr(node, "path", "") == "len":
            array = node.args[0]
        else:
            return False
        names = self.origins(typed, array)
        return names != [] and all([name in OWN for name in names])

    def name_negative(self, typed, node, wise) -> bool:
        key = self.key(typed, node.id)
        return key is None or key in self.signed[wise]

    def tuple_negative(self, typed, node, wise) -> bool:
        return any([self.negative(typed, part, wise) for part in node.elts])

    def binop_negative(self, typed, node, wise) -> bool:
        sides = [self.negative(typed, part, wise) for part in (node.left, node.right)]
        return joined_negative(node.op, *sides)

    def unaryop_negative(self, typed, node, wise) -> bool:
        return node.op != "+" or self.negative(typed, node.operand, wise)

    def ifexp_negative(self, typed, node, wise) -> bool:
        arms = [arm for arm in (node.body, node.orelse) if hasattr(arm, "got")]
        return any([self.negative(typed, arm, wise) for arm in arms])

    def attribute_negative(self, typed, node, wise) -> bool:
        """Attributes are thread and block indices and array sizes."""
        return not wise

    def subscript_negative(self, typed, node, wise) -> bool:
        shape = node.value.kind == "Attribute" and node.value.attr == "shape"
        return not (shape and wise)

    def call_negative(self, typed, node, wise) -> bool:
        if hasattr(node, "typed"):
            return (id(node.typed), RETURNED) in self.signed[wise]
        path = getattr(node, "path", "")
        each = [self.negative(typed, part, wise) for part in node.args]
        if path == "max":
            return all(each)
        if path in ("min", "divmod"):
            return any(each)
        if is_integer(path) or path == "int":
            narrow = kind_of(node.args[0]) in UNSIGNED[:-1]
            return not (narrow and path == "int64") and self.negative(
                typed, before_conversion(node), wise
            )
        return path not in ("abs", "len", "cuda.grid", "cuda.gridsize") or not wise

    def item_negative(self, typed, node, wise) -> bool:
        """Say whether an item of an iteration may be negative."""
        kind = node.got.kind
        if node.kind == "Name" and self.key(typed, node.id):
            key = self.key(typed, node.id)
            items = [
                self.item_negative(t, one, wise) for t, one, _ in self.sources[key]
            ]
            return key in self.arguments or any(items)
        if isinstance(kind, tuple) and kind[0] == "range" and node.kind == "Call":
            if kind[1] in UNSIGNED:
                return False
            return self.range_negative(typed, node.args, wise)
        return node.kind != "Tuple" or self.negative(typed, node, wise)

    def range_negative(self, typed, bounds, wise) -> bool:
        """Say whether a range, ascending or descending, may contain a negative number."""
        first = len(bounds) > 1 and self.negative(typed, bounds[0], wise)
        if len(bounds) < 3 or not self.negative(typed, bounds[2], wise):
            return first
        step, stop = bounds[2], bounds[1]
        down = step.got.known or (
            step.kind == "UnaryOp" and not self.negative(typed, step.operand, wise)
        )
        last = stop.got.known and stop.got.const == -1
        last = last or not self.negative(typed, stop, wise)
        return first or not (down and last)

    # ---- the copying region

    def copying(self, body: list) -> list:
        """Return the statements up to the barrier after the last load from an input.

        A kernel may hold the loaded numbers in registers across that barrier, so the
        stores to shared memory also belong to the region. The sums do not: they start
        with the first read of shared memory.
        """
        loads = [k for k, node in enumerate(body) if self.copies(self.typed, node)]
        if not loads:
            return body
        end = loads[-1] + 1
        sums = self.first(body, end, self.reads_shared)
        barrier = min(sums, self.first(body, end, is_barrier))
        ends = [end] + [
            k + 1
            for k in range(end, sums)
            if self.holds(self.typed, body[k], self.stores_shared)
        ]
        if barrier < len(body):
            ends.append(barrier)
        return body[: max(ends)]

    def first(self, body: list, start: int, test: object) -> int:
        """Return the index of the first statement for which a test holds."""
        for k in range(start, len(body)):
            if self.holds(self.typed, body[k], test):
                return k
        return len(body)

    def holds(self, typed: object, part: object, test: object) -> bool:
        """Say whether a test holds in a part of the tree or in a function it calls."""
        for node in nodes_in(part):
            called = getattr(node, "typed", None)
            if test(typed, node) or (
                called and self.holds(called, called.node.body, test)
            ):
                return True
        return False

    def copies(self, typed: object, part: object) -> bool:
        """Say whether a part of the tree, or a function it calls, reads an input."""
        return self.holds(typed, part, self.loads_input)

    def loads_input(self, typed: object, node: object) -> bool:
        """Say whether this reads an element of an input."""
        return is_read(node) and self.within(typed, node, self.inputs)

    def reads_shared(self, typed: object, node: object) -> bool:
        """Say whether this reads an element of shared memory."""
        return is_read(node) and self.within(typed, node, SHARED)

    def stores_shared(self, typed: object, node: object) -> bool:
        """Say whether this stores to an element of shared memory."""
        return any([
            part.kind == "Subscript" and self.within(typed, part, SHARED)
            for part in targets(node)
        ])  # fmt: skip

    def within(self, typed: object, node: object, arrays: list) -> bool:
        """Say whether an element may belong to one of these arrays."""
        return any([one in arrays for one in self.origins(typed, node.value)])

    def origins(self, typed: object, node: object, seen: tuple = ()) -> list:
        """Return the arrays to which an expression may refer, whatever their local names.

        An array is named by the kernel's parameter or by a path such as
        "cuda.shared.array". A tuple refers to the arrays of all its parts.
        """
        names, sources = [], []
        if is_number(kind_of(node)):
            return []
        if node.kind == "Name":
            key = self.key(typed, node.id)
            names = [node.id] if key in self.arguments else []
            sources = [] if key in seen else self.sources.get(key, [])
            seen += (key,)
        elif node.kind == "Subscript":
            sources = [(typed, node.value, "value")]
        elif node.kind == "Tuple":
            sources = [(typed, part, "value") for part in node.elts]
        elif hasattr(node, "typed"):
            sources = self.sources.get((id(node.typed), RETURNED), [])
        elif node.kind == "Call":
            names = [getattr(node, "path", "")]
        for where, one, _ in sources:
            names += self.origins(where, one, seen)
        return names

    # ---- checking the rules

    def block(self, typed: object, body: list, looped: bool, ends=None) -> None:
        """Check statements; ``ends`` is an `if` that only ends the enclosing loop."""
        for node in body:
            if not getattr(node, "reached", False):
                continue
            if node.kind == "For":
                self.loop(typed, node, looped)
            elif node.kind == "While":
                self.turns(typed, node, looped)
            elif node.kind == "If":
                self.branch(typed, node, looped, node is ends)
            elif node.kind in ("Break", "Continue") or (
                node.kind == "Return" and looped == "here"
            ):
                self.report("kernelLoopTest", node.line)
            elif node.kind != "FunctionDef":
                self.expression(typed, node, looped)

    def loop(self, typed: object, node: object, looped: bool) -> None:
        """Check a `for`. Its range is computed once, before the first iteration."""
        self.expression(typed, node.iter, looped)
        bounds = node.iter.args if node.iter.kind == "Call" else []
        varies = not all([self.fixed(typed, bound) for bound in bounds])
        if self.copies(typed, node.body):
            self.varies = self.varies or varies
        elif looped and varies:
            self.report("kernelLoopInner", node.line)
        self.block(typed, node.body, "here")
        self.block(typed, node.orelse, looped)

    def turns(self, typed: object, node: object, looped: bool) -> None:
        """Check a `while`. Its test is computed in every iteration."""
        if looped and not self.copies(typed, node.body):  # such as a division in steps
            self.report("kernelLoopInner", node.line)
        self.expression(typed, node.test, "here", True)
        endless = possible(node.test) == (True, False)
        ends = [part for part in node.body if endless and only_ends(part)]
        if ends:
            self.expression(typed, ends[0].test, "here", True)
        self.whiles = True
        self.block(typed, node.body, "here", ends[0] if ends else None)
        self.block(typed, node.orelse, False)

    def branch(self, typed: object, node: object, looped: bool, ends: bool) -> None:
        """Check an `if`. A constant condition is allowed."""
        if ends:
            return
        if not constant(node.test):
            self.report("kernelLoopTest", node.line)
        self.expression(typed, node.test, looped)
        self.block(typed, node.body, looped)
        self.block(typed, node.orelse, looped)

    def expression(self, typed, part, looped, ends: bool = False) -> None:
        """Check all operations in a statement or an expression."""
        for node in nodes_in(part):
            if hasattr(node, "typed"):
                self.block(node.typed, node.typed.node.body, looped and "around")
            if is_test(node):
                if not (ends or constant(node)):
                    self.report("kernelLoopTest", node.line)
            elif looped:
                self.operation(typed, node)

    def operation(self, typed: object, node: object) -> None:
        """Check one operation in a loop."""
        if node.kind == "Subscript" and is_array(kind_of(node.value)):
            self.element(typed, node)
        sides = operands(node)
        value = getattr(node, "result", getattr(node, "got", None))
        if value is None or not sides or value.fixed:
            return
        varying = [side.got for side in sides if not side.got.fixed]
        floats = [one.kind in FLOATS for one in [value] + varying]
        if any(floats):
            if not all(floats):  # arithmetic on floats alone is data, not an index
                self.report("kernelLoopFloat", node.line)
        elif divides(node):
            self.splits += 1
            if not self.fixed(typed, sides[1]):
                self.report("kernelLoopDivisor", node.line)
            if any([self.negative(typed, side, False) for side in sides]):
                self.report("kernelLoopDivision", node.line)
        elif getattr(node, "op", "") in ("&", ">>"):
            self.splits += 1

    def element(self, typed: object, node: object) -> None:
        """Check the indices of an element for negative ones."""
        several = node.slice.kind == "Tuple"
        for index in node.slice.elts if several else [node.slice]:
            self.checks += self.negative(typed, index, False)
            if self.negative(typed, index, True):
                self.report("kernelLoopSign", node.line, self.culprit(typed, index))

    def culprit(self, typed: object, node: object) -> str:
        """Return the name that may make an index negative, or else the operation."""
        if not self.negative(typed, node, True):
            return ""
        if node.kind == "Name":
            return node.id
        sources = [(typed, part, "value") for part in made_of(node)]
        if hasattr(node, "typed"):
            sources += self.sources.get((id(node.typed), RETURNED), [])
        names = [self.culprit(where, one) for where, one, _ in sources]
        operation = getattr(node, "op", getattr(node, "path", node.kind))
        return ([name for name in names if name] + [operation])[0]

    def report(self, rule: str, line: int, name: str = "") -> None:
        """Record the violation of a rule."""
        self.violations.append((rule, line, name))


SHARED = ["cuda.shared.array"]
OWN = SHARED + ["cuda.local.array"]
RETURNED = "what a function returns"  # a key that cannot be an identifier


def joined_negative(op: str, left: bool, right: bool) -> bool:
    """Say whether a binary operation may be negative, given that its operands may be."""
    if op == "-":
        return True
    if op == "%":
        return right
    return left and right if op == "&" else left or right


def is_barrier(typed: object, node: object) -> bool:
    """Say whether this is a barrier of the block."""
    return getattr(node, "path", "") == "cuda.syncthreads"


def is_read(node: object) -> bool:
    """Say whether this reads a number from an array or a tuple."""
    return node.kind == "Subscript" and is_number(kind_of(node))


def targets(node: object) -> list:
    """Return the names and elements that a statement assigns."""
    if node.kind not in ("Assign", "AnnAssign", "AugAssign"):
        return []
    several = getattr(node, "targets", None) or [node.target]
    return [part for target in several for part in parts_of(target)]


def first_use(body: list, name: str) -> object:
    """Return the first statement that uses a name, or None."""
    for statement in body:
        names = [node.id for node in nodes_in(statement) if node.kind == "Name"]
        if name in names:
            return statement
    return None


def assigns(statement: object, name: str) -> bool:
    """Say whether a statement assigns only this name."""
    if statement is None or statement.kind != "Assign":
        return False
    return [getattr(target, "id", "") for target in statement.targets] == [name]


def before_conversion(node: object) -> object:
    """Strip conversions between integer types."""
    while node.kind == "Call" and is_integer(getattr(node, "path", "")):
        node = node.args[0]
    return node


def operands(node: object) -> list:
    """Return the operands of an operation, or [] for anything else."""
    if node.kind == "BinOp":
        return [node.left, node.right]
    if node.kind == "AugAssign":
        return [node.target, node.value]
    if node.kind == "Call" and not hasattr(node, "typed"):
        return [part for part in node.args if is_number(kind_of(part))]
    return []


def made_of(node: object) -> list:
    """Return the subexpressions that determine a number."""
    if node.kind == "UnaryOp":
        return [node.operand]
    if node.kind == "Subscript":
        return [node.value]
    if node.kind == "IfExp":
        return [node.body, node.orelse]
    return node.args if node.kind == "Call" else operands(node)


def kind_of(node: object) -> object:
    """Return the type of an expression, or "" if it is never computed."""
    return node.got.kind if hasattr(node, "got") else ""


def is_plain(node: object) -> bool:
    """Say whether the result of an operation depends only on its operands."""
    path = getattr(node, "path", "")
    return node.kind != "Call" or is_integer(path) or path in ("int", "min", "max")


def divides(node: object) -> bool:
    """Say whether an operation is a division or a remainder."""
    if node.kind == "Call":
        return node.path == "divmod"
    return node.op in ("//", "%")


def is_test(node: object) -> bool:
    """Say whether an expression is a condition that is computed."""
    words = ("Compare", "BoolOp", "IfExp")
    negated = node.kind == "UnaryOp" and node.op == "not"
    return hasattr(node, "got") and (node.kind in words or negated)


def constant(node: object) -> bool:
    """Say whether the compiler knows the result of a condition."""
    if possible(node) != (True, True):
        return True
    if node.kind == "Compare":
        return all([part.got.fixed for part in [node.left] + node.comparators])
    if node.kind == "BoolOp":
        return all([constant(part) for part in node.values])
    if node.kind == "UnaryOp" and node.op == "not":
        return constant(node.operand)
    return node.got.fixed if node.kind != "IfExp" else constant(node.test)


def only_ends(node: object) -> bool:
    """Say whether a statement only ends the enclosing loop."""
    return (
        node.kind == "If"
        and not node.orelse
        and [part.kind for part in node.body] == ["Break"]
    )


# ---- the form


PARTS = (  # the attributes of a node that determine its meaning
    "target targets value left right op ops comparators values operand func args slice"
    " elts attr test iter body orelse"
).split()
MOST = 2**61 - 1


def form(typed: object, region: list) -> str:
    """Return a digest of the copying region that does not depend on names."""
    plain = all([part.kind != "Call" for part in typed.node.decorators])
    words = serialize(region, {}, []) if plain else ["options"]
    digest = 0
    for letter in " ".join(words):
        digest = (digest * 257 + ord(letter)) % MOST
    return str(digest)


def serialize(part: object, names: dict, words: list) -> list:
    """Append a part of a tree to a list of words, with types, and names as numbers."""
    if isinstance(part, (list, tuple)):
        words.append("(")
        for one in part:
            serialize(one, names, words)
        words.append(")")
    elif not hasattr(part, "kind"):
        words.append(str(part))
    else:
        value = getattr(part, "got", None)
        kind = getattr(value, "kind", "")
        words += [part.kind, str(kind), getattr(part, "path", "")]
        if is_number(kind) and (value.known or hasattr(value, "scalar")):
            words.append(str(value.const if value.known else value.scalar))
        elif part.kind == "Name":
            words.append(str(names.setdefault(part.id, len(names))))
        else:
            for name in PARTS:
                if hasattr(part, name):
                    serialize(getattr(part, name), names, words)
        if hasattr(part, "typed"):
            serialize(part.typed.node.body, {}, words)
    return words
