"""Reads and writes JSON files."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def load(file: Path) -> dict[str, Any]:
    """Return the content of a file; an empty one where it is missing or cut short."""
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def store(file: Path, value: dict[str, Any]) -> None:
    """Write a file completely, or not at all."""
    new = file.with_name(f"{file.name}.new")
    new.write_text(json.dumps(value, indent=1), "utf-8")
    os.replace(new, file)


def cached(file: Path, compute: Callable[[], Any]) -> Any:
    """Return the content of a file, which `compute` provides if the file is missing."""
    if not file.exists():
        value = compute()
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_name(f"{file.name}.{os.getpid()}")  # others may compute it too
        new.write_text(json.dumps(value), "utf-8")
        os.replace(new, file)
    return json.loads(file.read_text("utf-8"))


def with_rows(head: dict[str, Any], name: str, rows: list | dict) -> str:
    """Return JSON whose last entry is a list or a mapping, with a line for each item."""
    text = json.dumps(head, indent=2, ensure_ascii=False).removesuffix("\n}")
    if isinstance(rows, dict):
        begin, end = "{}"
        lines = [f"{json.dumps(key)}: {json.dumps(row)}" for key, row in rows.items()]
    else:
        begin, end = "[]"
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    body = ",\n".join(f"    {line}" for line in lines)
    return f'{text},\n  "{name}": {begin}\n{body}\n  {end}\n}}\n'
