"""Runs a reader's kernel over a drill's cases, on the block simulator.

Like ``grader.py`` this file runs in CPython and in MicroPython, and holds no
mathematics. A case is a launch: ``{"grid", "block", "names", "args", "expected",
"ideal", "slips", "drawn"}``. Each argument is ``[name, kind, value]``: a "number", an
array of "floats" or "ints", or an "out" with its shape, which ``expected`` has the
numbers for. A drawn case is a random one, or the larger one.
"""

from onlinesoftmax.blocksim import load, run as simulate
from onlinesoftmax.blocksim.scalars import Type
from onlinesoftmax.drills import grader

SHOWN_THREADS = 16  # what a figure of a whole launch has room for


def run(source, function, cases, tolerance, beat):
    """Mark the source text of a kernel; see ``grade``."""
    try:
        make = maker(source, function)
    except Exception as error:
        if isinstance(error, ValueError) and "expected a function" in str(error):
            return grader.fail(None, [], {"fault": "missing", "value": function})
        return grader.fail(None, [], grader.raised(error))
    return grade(make, cases, tolerance, beat)


def maker(source: str, function: str) -> object:
    """Return what makes the kernel for a case, with the names that it gives."""
    kernel = load(source, function, {}, grader.ANSWER)  # a syntax error shows at once

    def make(names):
        kernel.program.names = names
        return kernel

    return make


def grade(make, cases, tolerance, beat) -> dict:
    """Mark a kernel.

    Parameters
    ----------
    make : callable
        ``make(names)`` returns the kernel, for a case with these further names.
    cases : list of dict
    tolerance : float
        Relative, on every number.
    beat : callable
        ``beat(case)`` is called at every thread's turn: a watchdog stays quiet.

    Returns
    -------
    dict
        As ``grader.grade`` does; the faults are "kernel" (found by the simulator) and
        "element" (a wrong number), told by ``word`` and its ``places``. Besides,
        ``log``: who touched what, in the case that failed, or else in one that shows
        the kernel whole; and ``bytes`` moved in the last case that has a name.
    """
    for index, case in enumerate(cases):
        beat(index)
        report, fault = follow(make, case, tolerance, lambda: beat(index))
        if fault:
            sign = signature(fault)
            failed = grader.fail(index, [], fault, case["slips"], sign)
            if failed["slip"] is None:
                failed["slip"] = kin(sign, case["slips"])
            failed["log"] = logged(make, case, lambda: beat(index))
            return failed
    named = [case for case in cases if not case["drawn"]]
    shown = [c for c in named if c["block"][0] * c["block"][1] <= SHOWN_THREADS]
    passed = {"passed": True, "case": None, "rows": []}
    if not named:
        return passed
    passed["log"] = logged(make, (shown or named)[-1], lambda: beat(index))
    passed["score"] = score(make, scored(cases), lambda: beat(index))
    return passed


def scored(cases: list) -> dict:
    """Return the case that the score card is about: the last with a name."""
    return [case for case in cases if not case["drawn"]][-1]


def follow(make, case, tolerance, beat, log=False, mode="race") -> tuple:
    """Launch one case; return the simulator's report, and the first fault or None."""
    try:
        kernel = make(case["names"])
        arguments = [argument(kind, value, mode) for _, kind, value in case["args"]]
        options = {"log": log, "beat": beat, "mode": mode}
        report = simulate(kernel, case["grid"], case["block"], *arguments, **options)
    except Exception as error:
        return None, grader.raised(error)
    if report.faults:
        return report, told(report.faults[0].fields, case["block"])
    for (name, kind, _), value in zip(case["args"], arguments):
        if kind == "out":
            fault = compare(name, value, case["expected"][name], tolerance)
            if fault:
                return report, fault
    return report, lavish(report, case)


def lavish(report, case: dict) -> dict | None:
    """Return the fault of a right kernel that moves too many bytes, or None."""
    moved = moved_bytes(report, case)
    if case.get("most") is None or moved <= case["most"]:
        return None
    places = {"bytes": moved, "ideal": case["ideal"], "most": case["most"]}
    return {
        "fault": "traffic", "value": moved, "line": None, "word": "kernelTraffic",
        "places": places,
    }


def moved_bytes(report, case: dict) -> int:
    """Return how many bytes of global memory a launch loads and stores."""
    return sum([report.bytes[arg[0]] for arg in case["args"] if arg[0] in report.bytes])


def argument(kind: str, value: object, mode: str = "race") -> object:
    """Return an argument as the kernel's launch takes it."""
    if kind == "number" and mode == "full" and type(grader.unpack(value)) is float:
        return Type("float32", True)(grader.unpack(value))
    if kind == "out":
        return filled(value)
    if kind == "floats":
        return floats(grader.unpack(value))
    return grader.unpack(value)


def filled(shape: list) -> list:
    """Return lists of this shape that hold no number yet."""
    if len(shape) == 1:
        return [None] * shape[0]
    return [filled(shape[1:]) for _ in range(shape[0])]


def floats(value: object) -> object:
    """Return numbers as floats: a page's JSON knows no difference of 1 and 1.0."""
    return [floats(part) for part in value] if isinstance(value, list) else float(value)


def compare(name: str, value: list, expected: list, tolerance: float) -> dict | None:
    """Return None, or the first element that differs."""
    mine, right = elements(value, []), elements(grader.unpack(expected), [])
    for (index, a), (_, b) in zip(mine, right):
        if a is None or not grader.close(a, b, tolerance):
            what = f"{name}[{', '.join([str(i) for i in index])}]"
            key = "elementUnwritten" if a is None else "elementDiffers"
            places = {"what": what, "mine": grader.pack(a), "right": grader.pack(b)}
            return {
                "fault": "element", "value": 0 if a is None else a, "line": None,
                "array": name, "index": index, "word": key, "places": places,
            }
    return None


def elements(value: object, index: list) -> list:
    """Return every number of lists in lists with its index."""
    if not isinstance(value, list):
        return [(index, value)]
    found = []
    for i, part in enumerate(value):
        found += elements(part, index + [i])
    return found


def signature(fault: dict) -> list:
    """Return what two kernels with the same mistake have in common."""
    if fault["fault"] == "element":
        keys = ("word", "array", "index", "value")
        return [fault[key] for key in keys]
    if fault["fault"] != "kernel":
        return [fault["fault"], fault.get("type")]
    fields = fault["fields"]
    keys = ("kind", "how", "threads", "index", "error")
    mine = fields.get("space") != "global"  # then the reader gave it its name
    array = [None if mine else fields["array"]]
    return [fields[key] if key in fields else None for key in keys] + array


def kin(sign: list, slips: list) -> int | None:
    """Return the one mutant that fails in this way at all, elsewhere or not."""
    if sign[0] not in ("race", "barrier"):
        return None
    near = [slip["mutant"] for slip in slips if slip["sign"][:2] == sign[:2]]
    return near[0] if len(near) == 1 else None


WORDS = {
    "uninitialised": "kernelUninitialised",
    "index": "kernelIndex",
    "barrier": "kernelBarrier",
    "barriers": "kernelBarriers",
    "shared": "kernelShared",
    "block": "kernelBlock",
    "error": "kernelError",
    "float64": "kernelFloat64",
}
RACES = {
    "read": "raceRead",
    "too early": "raceEarly",
    "ahead": "raceAhead",
    "overwrite": "raceOverwrite",
    "both write": "raceBoth",
}


def told(fields: dict, block: list) -> dict:
    """Return a fault of the simulator as the word for it, and what fills its places."""
    kind = fields["kind"]
    key = RACES[fields["how"]] if kind == "race" else WORDS.get(kind, "kernelError")
    if kind == "race" and fields["other_block"] != fields["block"]:
        key = "raceBlocks"
    elif key == "raceBoth" and fields["line"] == fields["earlier"]:
        key = "raceBothHere"
    places = {}
    for place in ("line", "earlier", "array", "error", "bytes", "threads_asked"):
        if place in fields:
            places[place] = fields[place]
    if "threads" in fields:
        names = [named(thread, block) for thread in fields["threads"]]
        places.update(dict(zip(("now", "before"), names)))
    if "index" in fields:
        index = ", ".join([str(i) for i in fields["index"]])
        places["what"] = f"{fields['array']}[{index}]"
    if "shape" in fields:
        places["shape"] = ", ".join([str(n) for n in fields["shape"]])
    if "said" in fields:
        places["error"] = fields["said"]
    places["block"] = shown_block(fields["block"])
    if "other_block" in fields:
        places["other"] = shown_block(fields["other_block"])
    return {
        "fault": "kernel", "value": fields["text"], "line": fields["line"],
        "word": key, "places": places, "fields": fields,
    }


def named(thread: int | None, block: list) -> str:
    """Return a thread's number, or its two in a block with rows."""
    if thread is None or block[1] == 1:
        return str(thread)
    return f"({thread % block[0]}, {thread // block[0]})"


def shown_block(at: list) -> str:
    """Return a block's number, or its two."""
    return f"({at[0]}, {at[1]})" if at[1] else str(at[0])


def logged(make, case, beat) -> dict | None:
    """Return who touched what in a case, or None where it did not even start."""
    report, _ = follow(make, case, 0, beat, log=True)
    return None if report is None else report.log


def score(make, case, beat) -> dict | None:
    """Return how many bytes of global memory a case moves, where a drill asks."""
    if case.get("ideal") is None:
        return None
    report, _ = follow(make, case, 0, beat)
    return {
        "bytes": moved_bytes(report, case),
        "ideal": case["ideal"],
        "shared": report.shared_bytes,
        "double": double(make, case, beat),
        "case": case["name"],
    }


def double(make, case, beat) -> int | None:
    """Return the first line that computes in float64, or None."""
    report, _ = follow(make, case, 0, beat, mode="full")
    lines = [fault.line for fault in report.faults if fault.kind == "float64"]
    return lines[0] if lines else None
