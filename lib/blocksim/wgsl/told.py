"""What a compiler of WGSL says about a kernel, at the reader's lines."""

SIGNS = "_0123456789"


def explained(made: dict, messages: list) -> list:
    """Return what is wrong with a kernel that was translated, in its own lines.

    Parameters
    ----------
    made : dict
        As `translate` returns it.
    messages : list
        (type, text, line of the WGSL counted from 1) each; the types are those of
        WebGPU: "error", "warning", "info". An "info" belongs to the error before it.

    Returns
    -------
    list of dict
        Of each error ``kind``, "barrier" if not all threads come to a barrier and else
        "compile"; ``line``; ``cause``, the line of the ``if``, loop or ``return`` that
        parts the threads, or None; ``shared``, a line where a number in shared memory
        decides that, or None; ``text``; ``notes``, pairs of a line and a text.
    """
    found = []
    for type, text, number in messages:
        line = reader_line(made, number)
        if type == "error":
            found.append({"line": line, "text": named(text, made), "notes": []})
        elif type == "info" and found:
            found[-1]["notes"].append([line, named(text, made)])
    for fault in found:
        explain(fault)
    return found


def reader_line(made: dict, number: int) -> int | None:
    """Return the reader's line for one of the WGSL, if it has one."""
    lines = made["lines"]
    return lines[number - 1] if 0 < number <= len(lines) else None


def explain(fault: dict) -> None:
    """Add to an error what its notes say."""
    barrier = "uniform control flow" in fault["text"]
    fault["kind"] = "barrier" if barrier else "compile"
    fault["cause"] = fault["shared"] = None
    for line, text in fault["notes"]:
        if fault["line"] is None:  # an error in a line of ours: its caller's
            fault["line"] = line
        if "control flow depends" in text:
            fault["cause"] = line
        if "workgroup storage variable" in text:
            fault["shared"] = line


def named(text: str, made: dict) -> str:
    """Return a text with the reader's names in place of those in WGSL."""
    found, word = "", ""
    for sign in text + "\n":
        if sign.isalpha() or sign in SIGNS:
            word += sign
            continue
        found += reader_name(word, made) + sign
        word = ""
    return found[:-1]


def reader_name(word: str, made: dict) -> str:
    """Return the reader's name for one in WGSL."""
    if word in made["names"]:
        return made["names"][word]
    return word[:-1] if len(word) > 1 and word[-1] == "_" else word
