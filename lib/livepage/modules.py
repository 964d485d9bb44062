"""Joins ES modules into one script, each as a function that is called at once.

What a module imports becomes constants at the function's top, what it exports becomes
the object that the function returns. That is all a page needs, and less than the
standard: whatever would behave differently here is an error that names the file.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import MappingProxyType
from typing import Any

from . import book
from .engine import engine, lock

HERE = Path(__file__).parent
ACORN = HERE / "vendor" / "acorn" / "acorn.js"
# What V8 found in modules, in the wheels of the kit and of a book's figures: whoever
# installs them has no V8.
SHIPPED = "unlinked.json"
NOTHING: Mapping[str, str] = MappingProxyType({})


def script(
    entry: Path,
    given: Mapping[str, str] = NOTHING,
    gathered: Mapping[str, Mapping[str, Path]] = MappingProxyType({}),
) -> str:
    """Return `entry` after all that it imports, as constants: `$kit`, `$frame`, …

    Parameters
    ----------
    entry : Path
        A module; each constant is named after the path from its folder to a file.
    given : mapping of str to str
        What is there already: how an import names it, and the object it stands for.
    gathered : mapping
        Modules that are imported together, as one object: how an import names it, and
        the module behind each of its names.
    """
    return _Bundle(entry.parent, given, gathered).script(entry)


def expression(file: Path, given: Mapping[str, str] = NOTHING) -> str:
    """Return one module as an expression; it imports nothing but what is `given`."""
    bundle = _Bundle(file.parent, given, {})
    made = bundle.function(file)
    if bundle.parts:
        raise ValueError(f"{file}: imports {', '.join(bundle.parts)}, expected {given}")
    return made


def ship(folder: Path, modules: Iterable[Path]) -> None:
    """Write what V8 finds in modules to a folder that will be packed."""
    parsed = {_digest(module): _read(module) for module in sorted(modules)}
    (folder / SHIPPED).write_text(to_json(parsed), "utf-8")


def of_the_kit(folder: Path = HERE) -> set[Path]:
    """Return the kit's modules that a figure in a notebook may import."""
    return {*folder.glob("*.mjs"), *(folder / "figures").rglob("*.mjs")}


def to_json(data: object) -> str:
    """Return JSON that may stand in a script: no infinities, and nothing that ends it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("</", "<\\/")


class _Bundle:
    """A script that modules are put into, one after the other."""

    def __init__(
        self,
        root: Path,
        given: Mapping[str, str],
        gathered: Mapping[str, Mapping[str, Path]],
    ) -> None:
        self.root, self.given, self.gathered = root, given, gathered
        self.parts: dict[str, str] = {}  # name of a constant → its text, in order
        self.exports: dict[str, set[str]] = {}  # name of a constant → what it has
        self.reading: list[Path] = []  # each imports the next one

    def script(self, entry: Path) -> str:
        self.add(entry)
        return "".join(f"const {name} = {text};\n" for name, text in self.parts.items())

    def add(self, file: Path) -> str:
        """Put a file, after what it imports, among the parts; return its constant."""
        path = os.path.relpath(file.with_suffix(""), self.root)
        name = "$" + re.sub(r"\W", "_", path)
        if name in self.parts:
            return name
        if file in self.reading:
            around = " → ".join(each.name for each in [*self.reading, file])
            raise ValueError(f"{file}: modules that import each other: {around}")
        if file.suffix == ".json":
            data = to_json(json.loads(file.read_text("utf-8")))
            self.parts[name], self.exports[name] = f"{{default: {data}}}", {"default"}
        else:
            self.parts[name] = self.function(file)
            self.exports[name] = set(_read(file)["exports"])
        return name

    def function(self, file: Path) -> str:
        """One module as a function called at once; its imports are added before it."""
        module = _read(file)
        self.reading.append(file)
        constants = [self.constants(file, **each) for each in module["imports"]]
        self.reading.pop()
        top = "".join(['"use strict";\n', *constants])
        made = ", ".join(_pair(*each) for each in module["exports"].items())
        return f"(() => {{\n{top}{module['body']}return {{ {made} }};\n}})()"

    def constants(self, file: Path, source: str, names: list[list[str]]) -> str:
        """What stands in a module for one of its imports."""
        found = self.found(file, source)
        made = [f"{local} = {found}" for name, local in names if name == "*"]
        parts = {name: local for name, local in names if name != "*"}
        missing = set(parts) - self.exports.get(found, set(parts))
        if missing:
            raise ValueError(
                f"{file}: {source} exports no {', '.join(sorted(missing))}"
            )
        if parts:
            pattern = ", ".join(_pair(*each) for each in parts.items())
            made.append(f"{{ {pattern} }} = {found}")
        return "".join(f"const {each};\n" for each in made)

    def found(self, file: Path, source: str) -> str:
        """The constant for what an import of `file` names."""
        if source in self.given:
            return self.given[source]
        if source in self.gathered:
            return self.gather(source)
        if not source.startswith("."):
            known = ", ".join([*self.given, *self.gathered]) or "nothing"
            raise ValueError(f"{file}: imports {source!r}; besides files: {known}")
        wanted = Path(os.path.normpath(file.parent / source))
        if not wanted.is_file():
            raise ValueError(f"{file}: imports {source!r}, which is no file")
        return self.add(wanted)

    def gather(self, source: str) -> str:
        """Put modules that are imported together among the parts, and their constant."""
        name = "$" + re.sub(r"\W", "_", source)
        if name not in self.parts:
            members = {
                key: self.add(each) for key, each in self.gathered[source].items()
            }
            made = ", ".join(_pair(*each) for each in members.items())
            self.parts[name], self.exports[name] = f"{{ {made} }}", set(members)
        return name


def _pair(name: str, local: str) -> str:
    """Part of an object or a pattern: `name`, or `name: local`."""
    if name == local:
        return name
    return f"{name if name.isidentifier() else json.dumps(name)}: {local}"


def _read(file: Path) -> dict[str, Any]:
    """What a module imports and exports, and the rest of it; remembered, as V8 is slow
    to start and a build asks in many processes."""
    digest = _digest(file)
    for folder in (HERE, *(opened.figures for opened in book.opened())):
        if digest in (shipped := _shipped(folder)):
            return shipped[digest]
    memory = file.parent / "__pycache__" / f"{file.name}.json"
    with suppress(OSError, ValueError):  # not there, or cut off: it is written again
        found = json.loads(memory.read_text("utf-8"))
        if found["digest"] == digest:
            return found
    found = {"digest": digest, **_unlinked(file)}
    with suppress(OSError):  # the folder may not be ours
        memory.parent.mkdir(exist_ok=True)
        with NamedTemporaryFile("w", dir=memory.parent, delete=False) as new:
            json.dump(found, new)
        os.replace(new.name, memory)  # at once: another process may be reading
    return found


def _unlinked(file: Path) -> dict[str, Any]:
    with lock:
        try:
            return json.loads(_engine().call("unlink", file.read_text("utf-8")))
        except Exception as error:  # the engine's own kinds, which are loaded late
            reason = re.search(r"\w*Error: .*", str(error))
            raise ValueError(f"{file}: {reason[0] if reason else error}") from None


@cache
def _engine() -> Any:
    started = engine()
    for file in (ACORN, HERE / "unlink.js"):
        started.eval(file.read_text("utf-8") + ";0")
    return started


@cache
def _shipped(folder: Path) -> dict[str, Any]:
    file = folder / SHIPPED
    return json.loads(file.read_text("utf-8")) if file.exists() else {}


def _digest(file: Path) -> str:
    """Of a module's text, and of what takes it apart."""
    own = (HERE / "unlink.js").read_bytes()
    return sha256(own + file.read_bytes()).hexdigest()
