# The interpreter that plays: a small Python with the reader's code in it, and nothing
# that judges. Its `print` tells the page, its `exp` overflows as CPython's does.


def player(emit, beat):
    """Return what the page calls: define an answer, play a case, perform a cell."""
    import builtins
    import json
    import math
    import sys

    loads, dumps, imported = json.loads, json.dumps, builtins.__import__
    state = {"function": None, "drive": None, "marks": None}
    state["hidden"] = "blocksim", "livepage", "js", "jsffi", "micropython"

    class Module:
        pass

    def shadow(module):
        copy = Module()
        for name in dir(module):
            setattr(copy, name, getattr(module, name))
        return copy

    def overflowing(function):
        def called(x):
            try:
                return function(x)
            except ValueError:
                raise OverflowError("math range error") from None

        return called

    def fsum(values):
        parts = []
        for x in values:
            kept = 0
            for y in parts:
                if abs(x) < abs(y):
                    x, y = y, x
                high = x + y
                low = y - (high - x)
                if low:
                    parts[kept] = low
                    kept += 1
                x = high
            parts[kept:] = [x]
        return sum(parts, 0.0)

    def prod(values, start=1):
        for value in values:
            start *= value
        return start

    def said(text):
        if not state.get("quiet"):
            emit(text[:MOST], len(text))

    def show(*values, sep=" ", end="\n", file=None, flush=False):
        sep, end = " " if sep is None else sep, "\n" if end is None else end
        text = sep.join([str(value) for value in values]) + end
        if file is None or not hasattr(file, "write"):
            said(text)
        else:
            file.write(text)

    class Stream:
        """What `sys.stdout` is: the interpreter's own passes on letter by letter."""

        def write(self, text):
            said(text)
            return len(text)

        def flush(self):
            pass

    def no_input(prompt=""):
        raise EOFError("input")

    def sleep(*seconds):
        if not state.get("slept"):
            state["slept"] = True
            show("(No time passes here: sleep returns at once.)")

    class Builtin:
        """A function of ours, printed as Python's own is: a closure shows its cells."""

        def __init__(self, name, function):
            self.name, self.function = name, function

        def __call__(self, *args, **named):
            return self.function(*args, **named)

        def __repr__(self):
            return "<built-in function %s>" % self.name

    def is_hidden(module):
        return module.split(".")[0] in state["hidden"]

    def importing(name, *rest):
        within = state.get("importing")  # a module may import what a reader may not
        if is_hidden(name) and not within and not (len(rest) > 3 and rest[3]):
            raise ImportError("no module named '%s'" % name)
        state["importing"] = True
        try:
            module = imported(name, *rest)
        finally:
            state["importing"] = within
        if name == "time":
            module = shadow(module)
            module.sleep = module.sleep_ms = module.sleep_us = sleep
        return module

    MOST = 10000  # characters of one print: the page keeps no more

    mathematics = shadow(math)
    for name in ("exp", "expm1", "cosh", "sinh"):
        if hasattr(math, name):
            setattr(mathematics, name, overflowing(getattr(math, name)))
    mathematics.fsum, mathematics.prod = fsum, prod
    system = shadow(sys)
    system.stdout = system.stderr = Stream()

    def furnish():
        """Give the reader's code what the page has for it."""
        ours = {"print": show, "input": no_input, "__import__": importing}
        for name, function in ours.items():
            setattr(builtins, name, Builtin(name, function))
        sys.modules["sys"] = system
        shown = [name for name in sys.modules if not is_hidden(name)]
        system.modules = {name: sys.modules[name] for name in shown}

    def define(job):
        """Run the text of an answer; return a fault as JSON, or null."""
        job = loads(job)
        grader = "livepage.drills.kinds.%s.grader" % job["kind"]
        marks = imported(grader, None, None, "*")
        if "drive" in job:
            state["drive"] = marks.load(job["drive"], "drive")
            sys.modules["math"] = mathematics  # a kernel's is the simulator's
        else:
            # Loaded before the first beat: on a slow machine it takes a while.
            marks.simulator()
        beat()
        furnish()
        state["marks"] = marks
        state["function"], fault = marks.defined(job["answer"], job["function"])
        return dumps(fault)

    def play(case, how):
        """Play one case; return what came of it as JSON."""
        case, marks = loads(case), state["marks"]
        if state["drive"] is None:
            return dumps(marks.play(state["function"], case, how, beat))
        function, drive = state["function"], state["drive"]
        return dumps(marks.play(function, drive, case["args"], case["most"], beat))

    def perform(job):
        """Run a cell after those that it needs; return what came of it as JSON."""
        from livepage.cells import runner, small

        job = loads(job)
        runner.prepare(job)
        small.furnish(mathematics)
        state["hidden"] = "livepage", "js", "jsffi", "micropython"
        sys.modules["math"] = mathematics
        furnish()
        state["quiet"] = True
        return dumps(runner.perform(job, lambda: state.pop("quiet")))

    return define, play, perform
