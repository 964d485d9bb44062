"""PTX that compilers made, stored in one archive with an index.

The archive holds ``index.json``, which says what made the texts, and a file of PTX for
each kernel. The same content gives the same bytes: entries are in order and have no date.
"""

import json
import re
import zipfile
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

INDEX = "index.json"
MOMENT = (1980, 1, 1, 0, 0, 0)  # the earliest that an archive can name


def plain(ptx: str) -> str:
    """Return PTX without comments and debug sections; files are named without folders.

    The lines of the source, ``.loc`` and ``.file``, stay, and so does ``.debug_str``: the
    names of functions to which ``.loc`` refers.
    """
    ptx = re.sub(r"//[^\n]*", "", ptx)
    ptx = re.sub(r"\.section\s+\.debug_(?!str)\w*\s*\{[^}]*\}", "", ptx)
    ptx = re.sub(r'(\.file\s+\d+\s+")[^"]*/', r"\1", ptx)
    lines = (line.strip() for line in ptx.split("\n"))
    return "\n".join(line for line in lines if line) + "\n"


def write(path: Path, index: Mapping[str, Any], texts: Mapping[str, str]) -> None:
    """Store texts by name, with their index."""
    files = {INDEX: json.dumps(index, indent=1, ensure_ascii=False) + "\n"}
    files |= {f"{name}.ptx": texts[name] for name in sorted(texts)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, text in files.items():
            info = zipfile.ZipInfo(name, MOMENT)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # the same on each system
            archive.writestr(info, text.encode(), compresslevel=9)


def read(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the index of an archive, and the texts by name."""
    with zipfile.ZipFile(path) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    index = json.loads(texts.pop(INDEX))
    return index, {name.removesuffix(".ptx"): text for name, text in texts.items()}


def settle(
    path: Path, index: Mapping[str, Any], texts: Mapping[str, str], check: bool
) -> list[str]:
    """Store texts with today's date; or, to check, return how they differ."""
    if check:
        return differences(path, index, texts)
    write(path, {**index, "made": date.today().isoformat()}, texts)
    return []


def differences(
    path: Path, index: Mapping[str, Any], texts: Mapping[str, str]
) -> list[str]:
    """Return how what is stored differs from an index and texts; the date may."""
    if not path.exists():
        return [f"{path.name} is missing"]
    old_index, old = read(path)
    now = json.loads(json.dumps(index)) | {"made": old_index.get("made")}
    keys = sorted(now.keys() | old_index.keys())
    wrong = [f"{key} differs" for key in keys if now.get(key) != old_index.get(key)]
    wrong += [f"{name} is not stored" for name in sorted(texts.keys() - old.keys())]
    wrong += [f"{name} is no more" for name in sorted(old.keys() - texts.keys())]
    both = sorted(texts.keys() & old.keys())
    return wrong + [f"{name}: other PTX" for name in both if texts[name] != old[name]]
