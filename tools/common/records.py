"""Small JSON files that a command leaves for its next run."""

import json
import os
from pathlib import Path
from typing import Any


def load(file: Path) -> dict[str, Any]:
    """Return what a file holds; nothing where it is missing or cut short."""
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def store(file: Path, value: dict[str, Any]) -> None:
    """Write a file as a whole, or not at all."""
    new = file.with_name(f"{file.name}.new")
    new.write_text(json.dumps(value, indent=1), "utf-8")
    os.replace(new, file)
