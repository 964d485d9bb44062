"""Runs a reader's kernel over a drill's cases, on the block simulator.

Like the grader of code drills, this file runs in CPython and in MicroPython and contains
no mathematics. One side plays and has no expected values; the other judges.

A case is a launch: ``{"grid", "block", "names", "args", "expected", "ideal", "drawn",
"together", "share", "shared", "single"}``. Each argument is ``[name, kind, value]``: a
"number", an array of "floats" or "ints", or an "out" with its shape, whose numbers are in
``expected``. ``share`` limits, for some arrays, the numbers that one thread may read or
write; ``shared`` limits the bytes of shared memory of a block; ``single`` forbids
float64. ``drawn`` marks random cases and the larger one. If a case is ``lean``, the
kernel's loops have to obey the rules in ``loops.py``, and the last such case with a name
has ``counted``: the instructions of kernels of known ``forms``.
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

SHOWN_THREADS = 16  # the most threads for which a figure can show the launch
MOST_TURNS = 50000  # loop iterations of a thread; the launches of a drill are small
ROUNDED = 1e-4  # the error of float32 for any order of additions


# ---- playing: where the kernel is


_loaded = []


def simulator() -> object:
    """Return the simulator, imported on first use because the judging side needs none."""
    if not _loaded:
        import blocksim
        from livepage.drills.kinds.kernel import loops

        _loaded.extend([blocksim, loops])
    return _loaded[0]


def defined(source: str, function: str) -> tuple:
    """Return a function that builds a text's kernel for a case, and a fault or None."""
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
    """Return the fault of an exception that stopped a launch."""
    fields = error.fields if hasattr(error, "fields") else None
    return simulator_fault(fields, block) if fields else raised(error)


def play(make: object, case: dict, how: str, beat: object) -> dict:
    """Launch one case.

    Parameters
    ----------
    make : callable
        ``make(names)`` returns the kernel for a case with these further names.
    case : dict
        Without the expected values.
    how : {"", "log", "full"}
        Plain for marking, with a log of all accesses, or rounded to the kernel's types.
    beat : callable
        Called whenever a thread runs, to reset the watchdog.

    Returns
    -------
    dict
        ``fault``, the first one, or None. If the launch ended, also ``outs``, the arrays
        by name, ``benign``, whether threads wrote the same number in no order, ``bytes``
        moved, ``shared`` bytes, ``barriers`` that opened, ``double``, the first line
        that computes in float64, and the ``log`` with the report on its ``loops``.
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
    faults = [f.fields for f in report.faults if f.fields["kind"] != "float64"]
    outs = [arg for arg in zip(case["args"], arguments) if arg[0][1] == "out"]
    return {
        "fault": simulator_fault(cause(faults), case["block"]) if faults else None,
        "outs": {arg[0]: pack(value) for arg, value in outs},
        "benign": "benign" in [note.severity for note in report.notes],
        "bytes": moved_bytes(report, case, kernel.program.parameters),
        "shared": report.shared_bytes,
        "barriers": report.barriers,
        "double": wide[0]["line"] if wide else None,
        "log": report.log if how == "log" else None,
        "loops": read_loops(kernel, case) if how == "log" and report else None,
        "shuffles": uses(kernel, "shfl_"),
        "atomic": uses(kernel, "atomic"),
    }


def cause(faults: list) -> dict:
    """Return the first fault, or the one that explains it.

    Threads that come to different barriers race as well, and the barrier is the cause.
    """
    parted = [fault for fault in faults if fault["kind"] in ("barrier", "barriers")]
    parted = [fault for fault in parted if not among_lanes(fault)]
    return parted[0] if faults[0]["kind"] == "race" and parted else faults[0]


def player(make: object, cases: list) -> object:
    """Return ``play(index, how)``, which launches a kernel in a case."""
    return lambda index, how: play(make, cases[index], how, lambda: None)


def read_loops(kernel: object, case: dict) -> dict | None:
    """Return the report on a kernel's loops if the drill is lean."""
    if not case.get("lean"):
        return None
    kinds = [kind for _, kind, _ in case["args"]]
    inputs = [k for k, kind in enumerate(kinds) if kind == "floats"]
    return _loaded[1].look(kernel, inputs)


def uses(kernel: object, name: str) -> bool:
    """Say whether a kernel's text contains a name."""
    return any([name in code.text for code in kernel.program.compiled.values()])


def moved_bytes(report, case: dict, names: list) -> int:
    """Return the bytes of global memory that a launch loads and stores.

    The names are those of the arguments in the reader's kernel.
    """
    arrays = [name for arg, name in zip(case["args"], names) if arg[1] != "number"]
    return sum([report.bytes[name] for name in arrays])


# ---- judging: where the expected values are


def grade(
    play: object, cases: list, slips: object, tolerance: float, settled: object
) -> dict:
    """Mark a kernel, as the grader of code drills does, with ``play(index, how)``.

    The faults are "kernel" (from the simulator), "element" (a wrong number), and those of
    a right kernel that violates a rule of the drill. The report also has ``score`` and
    ``log``, the accesses in the case that failed or in one small enough for a figure.
    """
    signs, report, benign = [], None, False
    for index, case in enumerate(cases):
        played = play(index, "")
        benign = benign or played.get("benign")
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
        return rounded(play, cases, tolerance, benign)
    report["slip"] = mistake(signs, slips())
    return report


def rounded(play: object, cases: list, tolerance: float, benign: bool) -> dict:
    """Return the report of a right kernel after the checks with a GPU's rounding."""
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
    last["benign"] = benign
    passed["score"] = score_card(last, full, cases[named[-1]], len(cases), loops)
    return passed


def fail(index: int | None, rows: list, fault: dict, case: dict | None = None) -> dict:
    """Return the report of a failure, with a description of its launch."""
    report = code_grader.fail(index, rows, fault)
    if case:
        report["launched"] = launched(case)
    return report


def broken_rule(last: dict, logs: list, cases: list) -> tuple:
    """Return the fault of a right kernel that violates a rule of the drill, and a log."""
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
    """Say whether at least two threads of a block use data of other threads.

    The data pass through shared memory, a warp shuffle or an atomic. If a single thread
    gathers everything, the threads do not share the work.
    """
    log = played["log"]
    together = played["shuffles"] or meet_in_atomics(log)
    return bool(together) or len(writers_by_reader(log)) > 1


def meet_in_atomics(log: dict) -> bool:
    """Say whether two threads of a block change one number in global memory by atomics."""
    for block in log["blocks"]:
        first = {}
        for phase in block["phases"]:
            for thread, kind, array, index, _ in phase["touches"]:
                local = log["arrays"][array]["space"] != "global"
                if kind != "a" or local:
                    continue
                if first.setdefault((array, index), thread) != thread:
                    return True
    return False


def gathered(played: dict, case: dict) -> dict | None:
    """Return the fault of a thread that uses data of too many others, or None."""
    most = case.get("together") or True
    if most is True:
        return None
    for thread, writers in sorted(writers_by_reader(played["log"]).items()):
        if len(writers) > most:
            now = thread_name(thread, case["block"])
            slots = {"now": now, "mine": len(writers), "most": most}
            return new_fault("gathered", len(writers), "kernelGathers", **slots)
    return None


def writers_by_reader(log: dict) -> dict:
    """Map each thread that reads others' data in shared memory to their writers."""
    result = {}
    for block in log["blocks"]:
        writers = {}
        for phase in block["phases"]:
            for thread, kind, array, index, _ in phase["touches"]:
                if log["arrays"][array]["space"] != "shared":
                    continue
                writer = writers.get((array, index), thread)
                if kind != "w" and writer != thread:
                    result.setdefault(thread, set()).add(writer)
                if kind != "r":
                    writers[(array, index)] = thread
    return result


def excess_share(log: dict, case: dict) -> dict | None:
    """Return the fault of a thread that does too large a share of the work, or None.

    The share is the count of distinct numbers of an array that a thread reads, or writes
    if the kernel fills the array.
    """
    share = case.get("share") or {}
    arrays = [k for k, entry in enumerate(log["arrays"]) if entry["space"] == "global"]
    given = [arg for arg in case["args"] if arg[1] != "number"]
    for (name, kind, _), array in zip(given, arrays):
        does = "w" if kind == "out" else "r"
        for thread, count in counts_by_thread(log, array, does):
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
    """Return the size of an array of this shape."""
    count = 1
    for extent in shape:
        count *= extent
    return count


def counts_by_thread(log: dict, array: int, does: str) -> list:
    """Return the threads of the first block with their counts of distinct numbers."""
    known = set([
        (thread, index)
        for phase in log["blocks"][0]["phases"]
        for thread, kind, number, index, _ in phase["touches"]
        if number == array and kind in (does, "a")
    ])  # fmt: skip
    threads = sorted(set([thread for thread, _ in known]))
    return [(who, len([1 for thread, _ in known if thread == who])) for who in threads]


def score_card(
    played: dict, full: dict, case: dict, count: int, loops: dict | None
) -> dict | None:
    """Return the score card, if the drill has one: rows of a name and a sentence."""
    if loops is not None:
        return counted_card(case["counted"], loops)
    if case.get("ideal") is None:
        return None
    times = [[played["bytes"] / case["ideal"], 3]]
    moved = {"bytes": played["bytes"], "ideal": case["ideal"], "times": times}
    double = full["double"]
    rows = [
        ["scoreCorrect", "scoreCases", {"n": count}],
        ["scoreRaces", "scoreSame" if played["benign"] else "scoreNoRace", {}],
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
    """Return a score card with the counted or estimated instructions per number."""
    count = counted["forms"].get(loops["form"])
    word, shown = "scoreEach", [[count, 3]]
    if count is None:
        word, shown = "scoreEstimate", str(int(loops["estimate"] + 0.5))
    rows = [["scoreCounted", word, {"count": shown}]]
    return {"case": counted["sizes"], "rows": rows}


def scored_case(cases: list) -> dict:
    """Return the case of the score card: the last with a name."""
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
    fault = new_fault("traffic", moved, "kernelTraffic", **slots)
    if not played["shared"]:
        fault["nudge"] = "notShared"
    return fault


def excess_shared(played: dict, case: dict) -> dict | None:
    """Return the fault of a kernel that uses too much shared memory, or None."""
    used, most = played["shared"], case.get("shared")
    if most is None or used <= most:
        return None
    return new_fault("shared", used, "kernelSharedMore", bytes=used, most=most)


def double_precision(full: dict, case: dict) -> dict | None:
    """Return the fault of a kernel that computes in float64 against the rule, or None.

    The argument types are the same in every case, so one case is enough.
    """
    line = full["double"]
    if not case.get("single") or line is None:
        return None
    return new_fault("double", line, "kernelDouble", line=line)


def argument(kind: str, value: object, mode: str = "race") -> object:
    """Return an argument in the simulator's format."""
    if kind == "number" and mode == "full" and type(unpack(value)) is float:
        return simulator().float32(unpack(value))
    if kind == "out":
        return unwritten(value)
    if kind == "floats":
        return floats(unpack(value))
    return unpack(value)


def unwritten(shape: list) -> list:
    """Return nested lists of this shape, with None for each number."""
    if len(shape) == 1:
        return [None] * shape[0]
    return [unwritten(shape[1:]) for _ in range(shape[0])]


def floats(value: object) -> object:
    """Convert numbers to floats, because JSON on the page writes 1.0 as 1."""
    return [floats(part) for part in value] if isinstance(value, list) else float(value)


def compare(name: str, value: list, expected: list, tolerance: float) -> dict | None:
    """Return the fault of the first element that differs, or None."""
    mine, right = elements(value, []), elements(unpack(expected), [])
    for (index, a), (_, b) in zip(mine, right):
        if a is None or not close(a, b, tolerance):
            what = f"{name}[{', '.join([str(i) for i in index])}]"
            cells = dict(
                zip(("mine", "right"), [[cell] for cell in distinct_cells(a, b)])
            )
            key = "elementUnwritten" if a is None else "elementDiffers"
            fault = new_fault("element", a or 0, key, what=as_code(what), **cells)
            nan = a is not None and a != a and b == b
            nudge = "nan" if nan else "kernelNudge"
            fault.update({"array": name, "index": index, "nudge": nudge})
            return fault
    return None


def elements(value: object, index: list) -> list:
    """Return every number in nested lists with its index."""
    if not isinstance(value, list):
        return [(index, value)]
    result = []
    for i, part in enumerate(value):
        result += elements(part, index + [i])
    return result


# ---- naming a mistake


AFTER = " after barriers "  # of two mistakes with one race, they tell which it is


def sign(played: dict, fault: dict | None) -> str:
    """Return the sign of a fault in one case, equal for kernels with the same mistake.

    It consists of the fault's kind, a slash, its variant, a colon, and a number that
    encodes the threads and the element.
    """
    if fault is None:
        return ""
    kind = fault["fault"]
    if kind == "element":
        outs = [unpack(value) for _, value in sorted(played["outs"].items())]
        whole = finite(elements(outs, [])) and fault["word"] == "elementDiffers"
        letter = "d" if whole else "n"
        letter = letter.upper() if played.get("benign") else letter
        return letter + "%.5f" % fingerprint(blanks(outs))
    if kind != "kernel":
        return "r%s:0" % fault.get("type", kind)
    fields = fault["fields"]
    mine = fields.get("space") != "global"  # then the reader chose its name
    where = [fields.get("threads"), fields.get("index")]
    where += ["" if mine else fields.get("array"), fields.get("error")]
    number = fingerprint([part or "" for part in where])
    kind = "lane" if among_lanes(fields) else fields["kind"]
    if not mine:
        kind += " of %s" % (fields["array"] if kind == "index" else "an argument")
    if kind.startswith("race"):
        atomic = played.get("atomic")
        kind += " of atomics" if atomic else " of %s" % (fields["threads"],)
        kind += AFTER + str(played["barriers"])
    return "k%s/%s:%.5f" % (kind, fields.get("how"), number)


def blanks(value: object) -> object:
    """Replace each unwritten number by a text."""
    if isinstance(value, list):
        return [blanks(part) for part in value]
    return "unwritten" if value is None else value


def mistake(signs: list, slips: list) -> int | None:
    """Return the index of the one mutant with the same signs as this kernel, or None."""
    slips = [slip.split(";") for slip in slips]
    matches = [
        k for k, slip in enumerate(slips) if same_mistake(signs, slip, same_sign)
    ]
    if not matches:  # with another layout, the same fault is at other elements
        matches = [
            k for k, slip in enumerate(slips) if same_mistake(signs, slip, same_kind)
        ]
    return matches[0] if len(matches) == 1 else None


def same_mistake(mine: list, theirs: list, alike: object) -> bool:
    """Say whether a kernel fails as a mutant does, in every case."""
    return all([alike(a, b) for a, b in zip(mine, theirs)])


def same_sign(a: str, b: str) -> bool:
    """Say whether two signs are equal up to rounding."""
    if a == b or ":" not in a + b:
        return a == b or code_grader.same_sign(a, b)
    (kind, where), (other, there) = parts_of(a), parts_of(b)
    return kind == other and abs(where - there) <= code_grader.ALIKE


def same_kind(a: str, b: str) -> bool:
    """Say whether two signs are equal, or the same but for the element and the barriers.

    That is enough for races, for barriers, and for an index beyond an argument.
    """
    if any([a.startswith(kind) for kind in ("krace", "kbarrier", "kindex of")]):
        return without_barriers(parts_of(a)[0]) == without_barriers(parts_of(b)[0])
    return same_sign(a, b)


def without_barriers(kind: str) -> str:
    """Return a kind of sign without the number of barriers."""
    kind, _, how = kind.partition("/")
    return kind.partition(AFTER)[0] + "/" + how


def parts_of(sign: str) -> tuple:
    """Split a sign into its kind and its number."""
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
    """Return a fault of the simulator as a fault with a sentence."""
    key, slots = word_for(fields), slots_of(fields, block)
    if fields["kind"] == "compile":
        slots["reason"], slots["instead"] = fields["reason"], fields["instead"]
    if key in ("kernelFault", "kernelEndless"):
        said = fields.get("said") or fields["text"]
        slots["said"] = said[:1].upper() + said[1:]
    fault = new_fault("kernel", fields["text"], key, **slots)
    fault.update({"line": fields.get("line"), "fields": fields})
    if key in ("kernelBarrier", "kernelBarriers"):
        fault["nudge"] = "barrierForAll"
    return fault


def word_for(fields: dict) -> str:
    """Return the key of the sentence for a fault of the simulator."""
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
    """Return the slots of a fault's sentence: threads, blocks, elements."""
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
    rows = any([at[1] for at in blocks])  # in a 2D grid each block has two numbers
    slots["block"], slots["other"] = [shown_block(at, rows) for at in blocks]
    return slots


MOST_SHOWN = 24  # numbers of an input in a sentence


def launched(case: dict) -> list:
    """Return the sentence that describes a launch, with its slots."""
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
    """Return a number, or the start of an array, as the parts of a slot."""
    if not isinstance(value, list):
        return [[value, FEW]]
    rows = value if isinstance(value[0], list) else [value]
    shown = []
    for row in rows[:3]:
        more = ", …]" if len(row) > MOST_SHOWN else "]"
        shown += [", [" if shown else "[", [row[:MOST_SHOWN], FEW], more]
    return shown + ([", …"] if len(rows) > 3 else [])


def among_lanes(fields: dict) -> bool:
    """Say whether the fault is at a barrier of a warp, not of a block."""
    return fields["kind"] == "barrier" and " lane " in fields["text"]


def thread_name(thread: int | None, block: list) -> str:
    """Return a thread's index, with two numbers in a 2D block."""
    if thread is None or block[1] == 1:
        return str(thread)
    return f"({thread % block[0]}, {thread // block[0]})"


def shown_block(at: list, rows: bool) -> str:
    """Return a block's index, with two numbers in a 2D grid."""
    return f"({at[0]}, {at[1]})" if rows else str(at[0])
