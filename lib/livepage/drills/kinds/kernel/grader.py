"""Runs a reader's kernel over a drill's cases, on the block simulator.

Like the grader of code drills this file runs in CPython and in MicroPython, and holds no
mathematics. A case is a launch: ``{"grid", "block", "names", "args", "expected",
"ideal", "drawn", "together", "share", "shared", "single"}``. Each argument is ``[name,
kind, value]``: a "number", an array of "floats" or "ints", or an "out" with its shape,
which ``expected`` has the numbers for. ``share`` has for an array how many of its numbers
one thread may take on; ``shared`` is how many bytes of shared memory a block may take;
``single`` allows nothing in float64. A drawn case is a random one, or the larger one. As
there, one side plays and has no expected value, the other judges. Where a case is
``lean``, the loops of the kernel obey the rules in ``loops.py``; the last such case with a
name has as ``counted`` how many instructions kernels of some ``forms`` take.
"""

from livepage.drills.faults import ANSWER, missing, misspelt, new_fault, raised
from livepage.drills.kinds.code import grader as code_grader
from livepage.drills.values import (
    FEW,
    as_code,
    close,
    distinct_cells,
    fingerprint,
    finite,
    pack,
    unpack,
)

SHOWN_THREADS = 16  # what a figure of a whole launch has room for
MOST_TURNS = 50000  # of a thread's loops; the launches of a drill are small
ROUNDED = 1e-4  # float32, in whatever order a kernel adds


# ---- playing: where the kernel is


_loaded = []


def simulator() -> object:
    """Return the simulator, loaded on first use: whoever only judges does without."""
    if not _loaded:
        import blocksim
        from livepage.drills.kinds.kernel import loops

        _loaded.extend([blocksim, loops])
    return _loaded[0]


def defined(source: str, function: str) -> tuple:
    """Return what makes the kernel of a text for a case, and a fault or None."""
    try:
        kernel = simulator().load(source, function, {}, ANSWER)
    except BaseException as error:
        if "expected a function" in str(error) and not hasattr(error, "fields"):
            return None, missing(function)
        if isinstance(error, SyntaxError):
            return None, misspelt(error, source)
        return None, broken(error, [1, 1])

    def make(names):
        kernel.program.names = names
        return kernel

    return make, None


def broken(error: BaseException, block: list) -> dict:
    """Return as a fault what ended a launch, or kept it from starting."""
    fields = error.fields if hasattr(error, "fields") else None
    return simulator_fault(fields, block) if fields else raised(error)


def play(make: object, case: dict, how: str, beat: object) -> dict:
    """Launch one case.

    Parameters
    ----------
    make : callable
        ``make(names)`` returns the kernel, for a case with these further names.
    case : dict
        Without what is expected of it.
    how : {"", "log", "full"}
        To mark it; to see who touches what; or rounded to the kernel's types.
    beat : callable
        Called at every thread's turn, so that a watchdog stays quiet.

    Returns
    -------
    dict
        ``fault``, the first one, or None; and of a launch that ended ``outs``, the
        arrays by name, ``bytes`` moved, ``shared`` bytes, ``double``, the first line
        that computes in float64, and the ``log``, with what its ``loops`` do.
    """
    mode = "full" if how == "full" else "race"
    options = {"log": how == "log", "beat": beat, "mode": mode, "turns": MOST_TURNS}
    try:
        kernel = make(case["names"])
        arguments = [argument(kind, value, mode) for _, kind, value in case["args"]]
        report = simulator().run(
            kernel, case["grid"], case["block"], *arguments, **options
        )
    except BaseException as error:
        if type(error).__name__ == "OutOfTime":
            raise
        return {"fault": broken(error, case["block"])}
    wide = [f.fields for f in report.faults if f.fields["kind"] == "float64"]
    found = [f.fields for f in report.faults if f.fields["kind"] != "float64"]
    outs = [arg for arg in zip(case["args"], arguments) if arg[0][1] == "out"]
    return {
        "fault": simulator_fault(found[0], case["block"]) if found else None,
        "outs": {arg[0]: pack(value) for arg, value in outs},
        "bytes": moved_bytes(report, case, kernel.program.parameters),
        "shared": report.shared_bytes,
        "double": wide[0]["line"] if wide else None,
        "log": report.log if how == "log" else None,
        "loops": read_loops(kernel, case) if how == "log" and report else None,
        "shuffles": uses(kernel, "shfl_"),
        "atomic": uses(kernel, "atomic"),
    }


def player(make: object, cases: list) -> object:
    """Return ``play(index, how)``, which launches a kernel in a case."""
    return lambda index, how: play(make, cases[index], how, lambda: None)


def read_loops(kernel: object, case: dict) -> dict | None:
    """Return what the loops of a kernel do, where a drill asks for it."""
    if not case.get("lean"):
        return None
    kinds = [kind for _, kind, _ in case["args"]]
    inputs = [k for k, kind in enumerate(kinds) if kind == "floats"]
    return _loaded[1].look(kernel, inputs)


def uses(kernel: object, name: str) -> bool:
    """Say whether a kernel calls anything with this text in its name."""
    return any([name in code.text for code in kernel.program.compiled.values()])


def moved_bytes(report, case: dict, names: list) -> int:
    """Return how many bytes of global memory a launch loads and stores.

    The names are those that the reader gave the arguments.
    """
    arrays = [name for arg, name in zip(case["args"], names) if arg[1] != "number"]
    return sum([report.bytes[name] for name in arrays])


# ---- judging: where the expected values are


def grade(
    play: object, cases: list, slips: object, tolerance: float, settled: object
) -> dict:
    """Mark a kernel: as the grader of code drills, with ``play(index, how)``.

    The faults are "kernel" (found by the simulator), "element" (a wrong number), and
    those of a kernel that is right but breaks a rule of the drill. The report also has
    ``log``, who touched what in the case that failed, or else in one that a figure can
    show, and ``score``.
    """
    signs, report = [], None
    for index, case in enumerate(cases):
        played = play(index, "")
        fault = judge(played, case, tolerance)
        signs.append(sign(played, fault))
        if fault and report is None:
            started = fault.get("fields", {}).get("kind") != "compile"
            at = (index, [], fault, case) if started else (None, [], fault)
            report = fail(*at)
            settled(report)
            report["log"] = play(index, "log").get("log")
    if report is None:
        settled(None)
        return rounded(play, cases, tolerance)
    report["slip"] = mistake(signs, slips())
    return report


def rounded(play: object, cases: list, tolerance: float) -> dict:
    """Return the report of a kernel that passes, if it also passes rounded as on a GPU."""
    named = [index for index, case in enumerate(cases) if not case["drawn"]]
    for index in named:
        full = play(index, "full")
        fault = judge(full, cases[index], max(tolerance, ROUNDED))
        if fault:
            return fail(index, [], fault, cases[index])
    passed = {"passed": True, "case": None, "rows": []}
    if not named:
        return passed
    last, logs = play(named[-1], ""), [play(index, "log") for index in named]
    fault, log = broken_rule(last, logs, [cases[index] for index in named])
    fault = fault or double_precision(full, cases[named[-1]])
    if fault:
        report = fail(None, [], fault)
        report["log"] = log
        return report
    size = [cases[index]["block"][0] * cases[index]["block"][1] for index in named]
    small = [played["log"] for played, n in zip(logs, size) if n <= SHOWN_THREADS]
    passed["log"] = small[-1] if small else logs[-1]["log"]
    loops = logs[-1]["loops"]
    passed["score"] = score_card(last, full, cases[named[-1]], len(cases), loops)
    return passed


def fail(index: int | None, rows: list, fault: dict, case: dict | None = None) -> dict:
    """Return the report of a failure, with how its case was launched."""
    report = code_grader.fail(index, rows, fault)
    if case:
        report["launched"] = launched(case)
    return report


def broken_rule(last: dict, logs: list, cases: list) -> tuple:
    """Return the fault of a right kernel that breaks a rule of the drill, and a log."""
    fault = excess_traffic(last, cases[-1])
    if not fault and any([case.get("together") for case in cases]):
        fault = None if any([work_together(played) for played in logs]) else ALONE
    if fault:
        return fault, logs[-1]["log"]
    for played, case in zip(logs, cases):
        fault = gathered(played, case) or excess_share(played["log"], case)
        if fault:
            return fault, played["log"]
    fault = excess_shared(last, cases[-1])
    lean = [played["loops"]["fault"] for played in logs if played["loops"]]
    return fault or (lean + [None])[0], logs[-1]["log"]


ALONE = new_fault("alone", 0, "kernelAlone")


def work_together(played: dict) -> bool:
    """Say whether at least two threads of a block take what others have put there.

    They find it in shared memory, or ask another thread of their warp; an atomic takes
    what it adds to. One thread that gathers everything leaves no work to the others.
    """
    return bool(played["shuffles"]) or len(takers(played["log"])) > 1


def gathered(played: dict, case: dict) -> dict | None:
    """Return the fault of a thread that takes from more others than it may, or None."""
    most = case.get("together") or True
    if most is True:
        return None
    for thread, givers in sorted(takers(played["log"]).items()):
        if len(givers) > most:
            now = thread_name(thread, case["block"])
            slots = {"now": now, "mine": len(givers), "most": most}
            return new_fault("gathered", len(givers), "kernelGathers", **slots)
    return None


def takers(log: dict) -> dict:
    """Return the threads that take from shared memory, each with those who put it there."""
    found = {}
    for block in log["blocks"]:
        writers = {}
        for phase in block["phases"]:
            for thread, kind, array, place, _ in phase["touches"]:
                if log["arrays"][array]["space"] != "shared":
                    continue
                giver = writers.get((array, place), thread)
                if kind != "w" and giver != thread:
                    found.setdefault(thread, set()).add(giver)
                if kind != "r":
                    writers[(array, place)] = thread
    return found


def excess_share(log: dict, case: dict) -> dict | None:
    """Return the fault of a thread that does what others should do, or None.

    What a thread takes on of an array is how many of its numbers it reads; where the
    kernel fills the array, how many it writes. One that it touches twice counts once.
    """
    share = case.get("share") or {}
    arrays = [k for k, entry in enumerate(log["arrays"]) if entry["space"] == "global"]
    given = [arg for arg in case["args"] if arg[1] != "number"]
    for (name, kind, _), array in zip(given, arrays):
        does = "w" if kind == "out" else "r"
        for thread, count in taken_on(log, array, does):
            if name in share and count > share[name]:
                slots = {
                    "now": thread_name(thread, case["block"]),
                    "mine": count,
                    "array": as_code(log["arrays"][array]["name"]),
                    "most": share[name],
                    "all": numbers(log["arrays"][array]["shape"]),
                }
                word = "kernelWritesMore" if kind == "out" else "kernelReadsMore"
                return new_fault("share", count, word, **slots)
    return None


def numbers(shape: list) -> int:
    """Return how many numbers an array of this shape has."""
    count = 1
    for extent in shape:
        count *= extent
    return count


def taken_on(log: dict, array: int, does: str) -> list:
    """Return the threads of a launch's first block, each with its count of numbers."""
    known = set([
        (thread, place)
        for phase in log["blocks"][0]["phases"]
        for thread, kind, number, place, _ in phase["touches"]
        if number == array and kind in (does, "a")
    ])  # fmt: skip
    threads = sorted(set([thread for thread, _ in known]))
    return [(who, len([1 for thread, _ in known if thread == who])) for who in threads]


def score_card(
    played: dict, full: dict, case: dict, count: int, loops: dict | None
) -> dict | None:
    """Return the score card of a drill that has one: rows of a name and a sentence."""
    if loops is not None:
        return counted_card(case["counted"], loops)
    if case.get("ideal") is None:
        return None
    times = [[played["bytes"] / case["ideal"], 3]]
    moved = {"bytes": played["bytes"], "ideal": case["ideal"], "times": times}
    double = full["double"]
    rows = [
        ["scoreCorrect", "scoreCases", {"n": count}],
        ["scoreRaces", "scoreNoRace", {}],
        ["scoreBytes", "scoreOfIdeal", moved],
        ["scoreShared", "scoreSharedBytes", {"bytes": played["shared"]}],
        [
            "scorePrecision",
            "scoreDouble" if double else "scoreSingle",
            {"line": double},
        ],
    ]
    return {"case": case["name"], "rows": rows}


def counted_card(counted: dict, loops: dict) -> dict:
    """Return the score card of a kernel whose instructions are counted, or estimated."""
    count = counted["forms"].get(loops["form"])
    word, shown = "scoreEach", [[count, 3]]
    if count is None:
        word, shown = "scoreEstimate", str(int(loops["estimate"] + 0.5))
    rows = [["scoreCounted", word, {"count": shown}]]
    return {"case": counted["sizes"], "rows": rows}


def scored_case(cases: list) -> dict:
    """Return the case that the score card is about: the last with a name."""
    return [case for case in cases if not case["drawn"]][-1]


def judge(played: dict, case: dict, tolerance: float) -> dict | None:
    """Return the first fault of a launch, or None."""
    if played["fault"]:
        return played["fault"]
    for name, _, _ in [arg for arg in case["args"] if arg[1] == "out"]:
        mine = unpack(played["outs"][name])
        fault = compare(name, mine, case["expected"][name], tolerance)
        if fault:
            return fault
    return None


def excess_traffic(played: dict, case: dict) -> dict | None:
    """Return the fault of a right kernel that moves too many bytes, or None."""
    moved = played["bytes"]
    if case.get("most") is None or moved <= case["most"]:
        return None
    slots = {"bytes": moved, "ideal": case["ideal"], "most": case["most"]}
    return new_fault("traffic", moved, "kernelTraffic", **slots)


def excess_shared(played: dict, case: dict) -> dict | None:
    """Return the fault of a kernel that takes too much shared memory, or None."""
    taken, most = played["shared"], case.get("shared")
    if most is None or taken <= most:
        return None
    return new_fault("shared", taken, "kernelSharedMore", bytes=taken, most=most)


def double_precision(full: dict, case: dict) -> dict | None:
    """Return the fault of a kernel that computes in float64 where it may not, or None.

    The types of a drill's arguments are the same in every case, so one case tells.
    """
    line = full["double"]
    if not case.get("single") or line is None:
        return None
    return new_fault("double", line, "kernelDouble", line=line)


def argument(kind: str, value: object, mode: str = "race") -> object:
    """Return an argument as the kernel's launch takes it."""
    if kind == "number" and mode == "full" and type(unpack(value)) is float:
        return simulator().float32(unpack(value))
    if kind == "out":
        return filled(value)
    if kind == "floats":
        return floats(unpack(value))
    return unpack(value)


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
    mine, right = elements(value, []), elements(unpack(expected), [])
    for (index, a), (_, b) in zip(mine, right):
        if a is None or not close(a, b, tolerance):
            what = f"{name}[{', '.join([str(i) for i in index])}]"
            cells = dict(
                zip(("mine", "right"), [[cell] for cell in distinct_cells(a, b)])
            )
            key = "elementUnwritten" if a is None else "elementDiffers"
            fault = new_fault("element", a or 0, key, what=as_code(what), **cells)
            fault.update({"array": name, "index": index, "nudge": "kernelNudge"})
            return fault
    return None


def elements(value: object, index: list) -> list:
    """Return every number of lists in lists with its index."""
    if not isinstance(value, list):
        return [(index, value)]
    found = []
    for i, part in enumerate(value):
        found += elements(part, index + [i])
    return found


# ---- naming a mistake


def sign(played: dict, fault: dict | None) -> str:
    """Return what two kernels with the same mistake have in common in one case.

    The sign of a fault is its kind, a slash, how it came about, a colon, and a number
    that stands for the threads and the element at which it shows.
    """
    if fault is None:
        return ""
    kind = fault["fault"]
    if kind == "element":
        outs = [unpack(value) for _, value in sorted(played["outs"].items())]
        whole = finite(elements(outs, [])) and fault["word"] == "elementDiffers"
        return ("d" if whole else "n") + "%.5f" % fingerprint(blanks(outs))
    if kind != "kernel":
        return "r%s:0" % fault.get("type", kind)
    fields = fault["fields"]
    mine = fields.get("space") != "global"  # then the reader gave it its name
    where = [fields.get("threads"), fields.get("index")]
    where += ["" if mine else fields.get("array"), fields.get("error")]
    number = fingerprint([part or "" for part in where])
    kind = "lane" if among_lanes(fields) else fields["kind"]
    kind += "" if mine else " of an argument"
    if kind.startswith("race"):
        atomic = played.get("atomic")
        kind += " of atomics" if atomic else " of %s" % (fields["threads"],)
    return "k%s/%s:%.5f" % (kind, fields.get("how"), number)


def blanks(value: object) -> object:
    """Return lists with a text where nothing was written."""
    if isinstance(value, list):
        return [blanks(part) for part in value]
    return "unwritten" if value is None else value


def mistake(signs: list, slips: list) -> int | None:
    """Return the one mutant that does the same as this kernel, or None."""
    slips = [slip.split(";") for slip in slips]
    found = [k for k, slip in enumerate(slips) if same_mistake(signs, slip, same_sign)]
    if not found:  # in a table laid out in another way, the same race is elsewhere
        found = [
            k for k, slip in enumerate(slips) if same_mistake(signs, slip, same_kind)
        ]
    return found[0] if len(found) == 1 else None


def same_mistake(mine: list, theirs: list, alike: object) -> bool:
    """Say whether a kernel fails as a mutant does, in every case."""
    return all([alike(a, b) for a, b in zip(mine, theirs)])


def same_sign(a: str, b: str) -> bool:
    """Say whether two signs are the same, numbers up to rounding."""
    if a == b or ":" not in a + b:
        return a == b or code_grader.same_sign(a, b)
    (kind, where), (other, there) = parts_of(a), parts_of(b)
    return kind == other and abs(where - there) <= code_grader.ALIKE


def same_kind(a: str, b: str) -> bool:
    """Say whether two signs are of the same kind of race, or waiting."""
    if a.startswith("krace") or a.startswith("kbarrier"):
        return parts_of(a)[0] == parts_of(b)[0]
    return same_sign(a, b)


def parts_of(sign: str) -> tuple:
    """Return the two parts of a sign."""
    kind, _, where = sign.partition(":")
    return kind, float(where or 0)


# ---- in words


WORDS = {
    "uninitialised": "kernelUninitialised",
    "index": "kernelIndex",
    "barrier": "kernelBarrier",
    "barriers": "kernelBarriers",
    "shared": "kernelShared",
    "block": "kernelBlock",
    "error": "kernelError",
    "endless": "kernelEndless",
    "float64": "kernelFloat64",
}
RACES = {
    "read": "raceRead",
    "too early": "raceEarly",
    "ahead": "raceAhead",
    "overwrite": "raceOverwrite",
    "both write": "raceBoth",
}


def simulator_fault(fields: dict, block: list) -> dict:
    """Return a fault of the simulator as the word for it, and what fills its slots."""
    key, slots = word_for(fields), slots_of(fields, block)
    if fields["kind"] == "compile":
        slots["reason"], slots["instead"] = fields["reason"], fields["instead"]
    if key in ("kernelFault", "kernelEndless"):
        said = fields.get("said") or fields["text"]
        slots["said"] = said[:1].upper() + said[1:]
    fault = new_fault("kernel", fields["text"], key, **slots)
    fault.update({"line": fields.get("line"), "fields": fields})
    return fault


def word_for(fields: dict) -> str:
    """Return the word for a fault of the simulator."""
    kind, text = fields["kind"], fields["text"]
    if among_lanes(fields) or kind == "barrier" and ": it has left" in text:
        return "kernelFault"
    if kind == "race":
        here = fields["line"] == fields["earlier"]
        if fields["other_block"] != fields["block"]:
            return "raceBlocksHere" if here else "raceBlocks"
        key = RACES[fields["how"]]
        return "raceBothHere" if key == "raceBoth" and here else key
    if kind == "index" and "a negative index" in text:
        return "kernelIndexBelow"
    if kind == "uninitialised" and fields.get("space") == "local":
        return "kernelUnwrittenHere"
    if kind == "compile":
        both = "kernelCompile", "kernelCompileBut"
        if fields["declined"]:
            both = "kernelDeclined", "kernelDeclinedBut"
        return both[1 if fields["instead"] else 0]
    return WORDS.get(kind, "kernelFault")


def slots_of(fields: dict, block: list) -> dict:
    """Return what the sentences about a fault may name: threads, blocks, elements."""
    slots = {}
    for name in ("line", "earlier", "bytes", "threads_asked"):
        if name in fields:
            slots[name] = fields[name]
    if fields.get("array"):
        slots["array"] = as_code(fields["array"])
    if "threads" in fields:
        names = [thread_name(thread, block) for thread in fields["threads"]]
        slots.update(dict(zip(("now", "before"), names)))
    if "index" in fields:
        index = ", ".join([str(i) for i in fields["index"]])
        slots["what"] = as_code(f"{fields['array']}[{index}]")
    if "shape" in fields:
        slots["shape"] = ", ".join([str(n) for n in fields["shape"]])
    if "said" in fields:
        slots["error"] = as_code(fields["said"])
    blocks = [fields.get("block") or [0, 0], fields.get("other_block") or [0, 0]]
    rows = any([at[1] for at in blocks])  # in a grid with rows each has two numbers
    slots["block"], slots["other"] = [shown_block(at, rows) for at in blocks]
    return slots


MOST_SHOWN = 24  # numbers of an input


def launched(case: dict) -> list:
    """Return the sentence on how a case was launched, and what fills its slots."""
    extents = []
    for counts in (case["grid"], case["block"]):
        extents.append(" × ".join([str(n) for n in counts if n > 1]) or "1")
    inputs = []
    for name, kind, value in case["args"]:
        if kind != "out":
            comma = ", " if inputs else ""
            inputs += [comma + as_code(name) + " = "] + shown_input(value)
    word = "launchedOne" if extents[0] == "1" else "launched"
    return [word, {"grid": extents[0], "block": extents[1], "inputs": inputs}]


def shown_input(value: object) -> list:
    """Return a number, or the first of some rows of numbers, for a slot."""
    if not isinstance(value, list):
        return [[value, FEW]]
    rows = value if isinstance(value[0], list) else [value]
    shown = []
    for row in rows[:3]:
        more = ", …]" if len(row) > MOST_SHOWN else "]"
        shown += [", [" if shown else "[", [row[:MOST_SHOWN], FEW], more]
    return shown + ([", …"] if len(rows) > 3 else [])


def among_lanes(fields: dict) -> bool:
    """Say whether threads of a warp waited for each other, not those of a block."""
    return fields["kind"] == "barrier" and " lane " in fields["text"]


def thread_name(thread: int | None, block: list) -> str:
    """Return a thread's number, or its two in a block with rows."""
    if thread is None or block[1] == 1:
        return str(thread)
    return f"({thread % block[0]}, {thread // block[0]})"


def shown_block(at: list, rows: bool) -> str:
    """Return a block's number, or its two."""
    return f"({at[0]}, {at[1]})" if rows else str(at[0])
