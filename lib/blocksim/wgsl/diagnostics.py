"""Maps the messages of a WGSL compiler to the lines of the reader's kernel."""

SIGNS = "_0123456789"


def explained(made: dict, messages: list) -> list:
    """Return a compiler's errors in a translated kernel, at the kernel's own lines.

    Parameters
    ----------
    made : dict
        As `translate` returns it.
    messages : list
        Triples (type, text, line of the WGSL counted from 1). The types are WebGPU's:
        "error", "warning", "info". An "info" belongs to the error before it.

    Returns
    -------
    list of dict
        For each error: ``kind``, "barrier" if not all threads come to a barrier, else
        "compile"; ``line``; ``cause``, the line of the ``if``, loop or ``return`` where
        the threads diverge, or None; ``shared``, a line where a number in shared memory
        decides it, or None; ``text``; ``notes``, pairs of a line and a text.
    """
    errors = []
    for type, text, number in messages:
        line = reader_line(made, number)
        if type == "error":
            errors.append({"line": line, "text": named(text, made), "notes": []})
        elif type == "info" and errors:
            errors[-1]["notes"].append([line, named(text, made)])
    for fault in errors:
        explain(fault)
    return errors


def reader_line(made: dict, number: int) -> int | None:
    """Return the kernel's line for a line of the WGSL, or None."""
    lines = made["lines"]
    return lines[number - 1] if 0 < number <= len(lines) else None


def explain(fault: dict) -> None:
    """Add the kind and the causes of an error, from its notes."""
    barrier = "uniform control flow" in fault["text"]
    fault["kind"] = "barrier" if barrier else "compile"
    fault["cause"] = fault["shared"] = None
    for line, text in fault["notes"]:
        if fault["line"] is None:  # an error in a helper: take the caller's line
            fault["line"] = line
        if "control flow depends" in text:
            fault["cause"] = line
        if "workgroup storage variable" in text:
            fault["shared"] = line


def named(text: str, made: dict) -> str:
    """Return a text with the kernel's names in place of WGSL's."""
    renamed, word = "", ""
    for sign in text + "\n":
        if sign.isalpha() or sign in SIGNS:
            word += sign
            continue
        renamed += reader_name(word, made) + sign
        word = ""
    return renamed[:-1]


def reader_name(word: str, made: dict) -> str:
    """Return the kernel's name for a name in WGSL."""
    if word in made["names"]:
        return made["names"][word]
    return word[:-1] if len(word) > 1 and word[-1] == "_" else word
