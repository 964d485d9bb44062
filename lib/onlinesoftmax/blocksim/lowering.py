"""From the text of a kernel to one that can stop at a barrier, line for line.

Python cannot halt a function half-way, except where it says ``yield``. So every call
at which threads meet becomes one, and so does the call of a helper in which they meet:

    cuda.syncthreads()            (yield cuda.syncthreads())
    total(x)                      (yield from total(x))

Every statement also says which line it stands on. No line moves, so that a fault can
be shown in the text as the reader wrote it. There is no ``ast`` in MicroPython, and
none is needed: names, brackets and the ends of lines are enough.
"""

MEETINGS = (
    "cuda.syncthreads",
    "cuda.syncthreads_count",
    "cuda.syncthreads_and",
    "cuda.syncthreads_or",
    "cuda.syncwarp",
    "cuda.ballot_sync",
    "cuda.all_sync",
    "cuda.any_sync",
    "cuda.eq_sync",
    "cuda.match_any_sync",
    "cuda.match_all_sync",
    "cuda.activemask",
    "cuda.shfl_sync",
    "cuda.shfl_xor_sync",
    "cuda.shfl_up_sync",
    "cuda.shfl_down_sync",
)
OPEN, CLOSE = ("(", "[", "{"), (")", "]", "}")
SPACE = (" ", "\t")
HEADS = ("if", "elif", "while", "for")  # they have an expression to put the line into
BARE = ("def", "else", "try", "except", "finally", "with", "class")


def lower(text: list, functions: dict) -> str:
    """Return a text as the simulator runs it.

    Parameters
    ----------
    text : list
        Its ``statements``.
    functions : dict of str to bool
        The functions it may call: do threads meet in them?
    """
    out, inside = [], False
    for line, parts in text:
        place = _first(parts)
        word = parts[place] if place < len(parts) else "\n"
        if place == 0 and word not in ("\n", "\\\n") and word[0] != "#":
            inside = word == "def"
        if word == "@" or _imports_numba(parts, word):
            out.append("#" + "".join(parts).rstrip("\n").replace("\n", "\n#") + "\n")
        elif inside and word != "def":
            parts = _with_calls(parts, line, functions)
            out.append("".join(_with_line(parts, line, place)))
        else:
            out.append("".join(parts))
    return "".join(out)


def functions_in(text: list, known: dict) -> dict:
    """Return a text's functions, and those already known: do threads meet in them?"""
    calls, name = {}, None
    for _, parts in text:
        words = [part for part in parts if part not in SPACE]
        if words[0] == "def":
            name = words[1]
            calls[name] = set()
        elif name:
            calls[name].update([a for a, b in zip(words, words[1:]) if b == "("])
    meeting = set(MEETINGS)
    meeting.update(name for name in known if known[name])
    for _ in calls:  # a helper's helper's helper …
        meeting.update([name for name in calls if calls[name] & meeting])
    found = dict(known)
    found.update({name: name in meeting for name in calls})
    return found


def loops(text: list) -> dict:
    """Return for every line in a loop the first lines of the loops around it."""
    found, around = {}, []
    for line, parts in text:
        place = _first(parts)
        word = parts[place] if place < len(parts) else "\n"
        if word in ("\n", "\\\n") or word[0] == "#":
            continue
        around = [loop for loop in around if loop[0] < place]
        inner = [(place, line)] if word in ("for", "while") else []
        counted = around + (inner if word == "while" else [])  # its test runs each turn
        around = around + inner
        for passed in range(line, line + "".join(parts).count("\n")):
            found[passed] = tuple([loop[1] for loop in counted])
    return found


def parameters(text: list, name: str) -> list[str]:
    """Return the names of a function's parameters."""
    for _, parts in text:
        words = [part for part in parts if part.strip() and part[0] != "#"]
        if words[:2] == ["def", name]:
            pairs = zip(words[2:], words[3:])
            after = [word for before, word in pairs if before in ("(", ",")]
            return [word for word in after if word != ")"]
    return []


def statements(source: str) -> list[tuple[int, list[str]]]:
    """Return the statements of a text, cut up, each with the line it starts on."""
    found, parts, line, start, depth = [], [], 1, 1, 0
    for part in tokens(source + "\n"):
        parts.append(part)
        depth += (part in OPEN) - (part in CLOSE)
        line += part.count("\n")
        if part == "\n" and depth <= 0:
            found.append((start, parts))
            parts, start, depth = [], line, 0
    if parts:
        found.append((start, parts))
    return found


def tokens(source: str) -> list[str]:
    """Cut a text into names (with their dots), strings, comments and single signs."""
    found, start = [], 0
    while start < len(source):
        stop = _end(source, start)
        found.append(source[start:stop])
        start = stop
    return found


def _end(source: str, i: int) -> int:
    """Return where the token that starts at i ends."""
    sign = source[i]
    if sign in "\"'":
        triple = source[i : i + 3] == 3 * sign
        return _end_of_string(source, i, 3 * sign if triple else sign)
    if sign == "#":
        stop = source.find("\n", i)
        return stop if stop >= 0 else len(source)
    if source[i : i + 2] == "\\\n":
        return i + 2
    if not _in_name(sign) or sign.isdigit():
        return i + 1
    while i < len(source) and (_in_name(source[i]) or source[i] == "."):
        i += 1
    return i


def _end_of_string(source: str, i: int, quote: str) -> int:
    i += len(quote)
    while i < len(source) and source[i : i + len(quote)] != quote:
        i += 2 if source[i] == "\\" else 1
    return i + len(quote)


def _in_name(sign: str) -> bool:
    return sign.isalpha() or sign.isdigit() or sign == "_"


def _first(parts: list[str]) -> int:
    """Return the place of the first part that is no space."""
    place = 0
    while place < len(parts) and parts[place] in SPACE:
        place += 1
    return place


def _imports_numba(parts: list[str], word: str) -> bool:
    names = [part for part in parts if part.split(".")[0] == "numba"]
    return word in ("from", "import") and bool(names)


def _with_calls(parts: list[str], line: int, functions: dict) -> list[str]:
    """Turn meetings into yields, and tell every array its place in the text."""
    out, depth, closing, arrays, keyed = [], 0, [], 0, False
    for place, part in enumerate(parts):
        called = parts[place + 1 : place + 2] == ["("]
        if called and part in ("cuda.shared.array", "cuda.local.array"):
            name = _target(parts[:place], arrays)
            part = f"cuda._array('{part[5:-6]}', {line}, {arrays}, '{name}')"
            arrays += 1
        elif called and (part in MEETINGS or part in functions):
            stop = "yield " if part in MEETINGS else "yield from "
            stop = stop if functions.get(part, True) else ""
            part = f"cuda._back({line}, ({stop}{part}"  # the callee has lines too
            closing.append(depth)
            keyed = parts[place] in MEETINGS
        elif part in MEETINGS:
            part = f"cuda._uncalled({line}, '{part}')"
        elif keyed:
            part, keyed = f"({line}, ", False
            depth += 1
        depth += part in OPEN
        if part in CLOSE:
            depth -= 1
            if closing and closing[-1] == depth:
                closing.pop()
                part += "))"
        out.append(part)
    return out


def _target(parts: list[str], number: int) -> str:
    """Return the name that the statement gives to its array of this number."""
    left = parts[: parts.index("=")] if "=" in parts else []
    names = [part for part in left if _in_name(part[0])]
    return names[number] if number < len(names) else "array"


def _with_line(parts: list[str], line: int, place: int) -> list[str]:
    """Let a statement say which line it stands on before it does anything."""
    word = parts[place] if place < len(parts) else "\n"
    if word in HEADS:
        start, stop = _expression(parts, place + 1, word == "for")
        first, last = {
            "for": (f" cuda._turns({line}, cuda._at({line}) and (", "))"),
            "while": (f" cuda._turn({line}) and (", ")"),
        }.get(word, (f" cuda._at({line}) and (", ")"))
        return parts[:start] + [first] + parts[start:stop] + [last] + parts[stop:]
    if word in BARE or not (_in_name(word[0]) or word in OPEN):
        return parts
    return parts[:place] + [f"cuda._line = {line}; "] + parts[place:]


def _expression(parts: list[str], start: int, after_in: bool) -> tuple[int, int]:
    """Return where the expression of a head starts, and where its colon is."""
    depth = 0
    for place in range(start, len(parts)):
        part = parts[place]
        depth += (part in OPEN) - (part in CLOSE)
        if depth == 0 and part == "in" and after_in:
            start, after_in = place + 1, False
        if depth == 0 and part == ":":
            return start, place
    return start, len(parts)
