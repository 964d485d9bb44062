"""Lists what texts of PTX declare, and whether ptxsim can run them.

python -m ptxsim kernel.ptx
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ptxsim.faults import Unsupported
from ptxsim.survey import Survey, survey

EPILOG = "The exit status is 0 if everything can run, 1 if not, 2 for what is no PTX."


def main(arguments: Sequence[str] | None = None) -> int:
    """List the kernels of files; return the exit status."""
    parser = argparse.ArgumentParser(
        "python -m ptxsim", description=__doc__, epilog=EPILOG
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("files", nargs="+", metavar="FILE", help="PTX; - is stdin")
    parser.add_argument("--opcodes", action="store_true", help="count the instructions")
    parser.add_argument("--json", action="store_true", help="for machines")
    chosen = parser.parse_args(arguments)
    status, listed = 0, []
    for file in chosen.files:
        try:
            found = survey(read(file))
        except Unsupported as problem:  # outside of all kernels
            complain(f"{file}: not supported: {problem}")
            status = max(status, 1)
            continue
        except (OSError, ValueError) as problem:
            complain(f"{file}: {getattr(problem, 'strerror', None) or problem}")
            status = 2
            continue
        status = max(status, int(any(one.unsupported for one in found)))
        listed += [{"file": file} | described(one, chosen.opcodes) for one in found]
    if chosen.json:
        print(json.dumps(listed, indent=1))
    elif listed:
        print("\n\n".join(map(text_of, listed)))
    return status


def read(file: str) -> str:
    """Return the text of a file, or of stdin."""
    raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    try:
        return raw.decode()
    except UnicodeDecodeError as problem:
        raise ValueError("expected PTX, got what is no text") from problem


def complain(problem: str) -> None:
    print(f"ptxsim: {problem}", file=sys.stderr)


def described(one: Survey, opcodes: bool) -> dict[str, Any]:
    """Return a kernel as JSON has it."""
    kernel = one.kernel
    parameters = [
        {"name": x.name, "type": x.kind, "bytes": x.size, "align": x.align}
        for x in kernel.parameters.values()
    ]
    variables = [
        {
            "name": x.name,
            "space": x.space,
            "bytes": x.size if x.size >= 0 else None,  # the launch decides
            "align": x.align,
        }
        for x in kernel.variables
    ]
    unsupported = [
        {"line": x.line, "source": x.source, "text": x.text, "why": x.why}
        for x in one.unsupported
    ]
    counts = {"opcodes": dict(one.opcodes.most_common())} if opcodes else {}
    return {
        "kernel": kernel.name,
        "parameters": parameters,
        "threads": kernel.threads,
        "threads_required": kernel.required,
        "registers": dict(sorted(one.registers.items())),
        "shared_static": one.shared,
        "shared_dynamic": one.is_dynamic,
        "variables": variables,
        "functions": kernel.functions,
        "instructions": sum(one.opcodes.values()),
        "unsupported": unsupported,
        **counts,
    }


def text_of(one: dict[str, Any]) -> str:
    """Return a kernel as people read it."""
    rows = [("kernel", f"{one['kernel']} ({one['file']})")]
    rows += [("parameter", line) for line in columns(one["parameters"], "type")]
    shape = " x ".join(map(str, one["threads"]))
    most = "exactly" if one["threads_required"] else "at most"
    rows.append(("threads", f"{most} {shape}" if shape else "the PTX does not say"))
    registers = ", ".join(f"{n} .{kind}" for kind, n in one["registers"].items())
    rows.append(("registers", f"{registers} (virtual: ptxas allocates others)"))
    dynamic = "" if one["shared_dynamic"] else "not "
    shared = f"{one['shared_static']} bytes static, dynamic {dynamic}used"
    rows.append(("shared", shared))
    rows += [("variable", line) for line in columns(one["variables"], "space")]
    rows += [("calls", name) for name in one["functions"]]
    problems = one["unsupported"]
    rows.append(("instructions", f"{one['instructions']}, all supported" if not problems
                 else f"{one['instructions']}, not supported:"))  # fmt: skip
    lines = [f"{label:<13} {line}" for label, line in rows]
    lines += [f"  {line}" for line in table([problem_row(x) for x in problems])]
    counts = [[str(count), name] for name, count in one.get("opcodes", {}).items()]
    lines += [f"  {line}" for line in table(counts, ">")]
    return "\n".join(lines)


def problem_row(problem: dict[str, Any]) -> list[str]:
    """Return the line, that of the source, and the instruction."""
    source = ""
    if problem["source"]:
        file, line = problem["source"]
        source = f"{Path(file).name}:{line}"
    why = f" ({problem['why']})" if problem["why"] else ""
    return [f"line {problem['line']}", source, problem["text"] + why]


def columns(items: Sequence[dict[str, Any]], kind: str) -> list[str]:
    """Return declarations, aligned."""
    rows = []
    for one in items:
        size = "dynamic" if one["bytes"] is None else f"{one['bytes']} bytes"
        rows.append(
            [one["name"], f".{one[kind]}", f"{size}, aligned to {one['align']}"]
        )
    return table(rows)


def table(rows: Sequence[Sequence[str]], first: str = "<") -> list[str]:
    """Return rows with their columns aligned, the first to the right for ">"."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  ".join(
            f"{cell:{'<' if i else first}{width}}"
            for i, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]


if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:  # as in `… | head`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    sys.exit(status)
