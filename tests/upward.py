"""Finds where a package's Python reaches for files that are not its own.

A path made from `__file__` has a level: how many folders lie between the package's own
folder, level 0, and what it names. Every `parent` takes one away, and a path below
level 0 has left the package. The other ways out are texts: a `..` on the way, a path
that depends on where Python was started, and the name of a package above. Whatever
makes a path in a way that is not followed here counts as a way out, too.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SAME = ("absolute", "resolve", "with_name", "with_stem", "with_suffix")
OPENING = ("Path", "PurePath", "open", "chdir")
STARTED = ("cwd", "getcwd")
LISTING = ("glob", "iglob", "listdir", "scandir", "walk")
ABOVE = re.compile(r"(rescaling|tests|tools)(\.\w+)*")
LOCATING = (
    "find_spec",
    "resources",
)  # paths of packages, by other ways than `__file__`


class Reader:
    """Follows the paths of one package, name by name."""

    def __init__(self, package: Path):
        self.package = package
        self.trees = {
            file: ast.parse(file.read_text("utf-8"))
            for file in sorted(package.rglob("*.py"))
        }
        self.levels: dict[tuple[str, str], int] = {}  # (module, name) -> level

    def faults(self) -> list[str]:
        """Every place that leaves the package: file, line and expression."""
        for _ in range(2):  # a name may come from a module that is read later
            for file, tree in self.trees.items():
                self.learn(file, tree)
        return [
            f"{file.relative_to(self.package)}:{node.lineno}: {ast.unparse(node)}"
            for file, tree in self.trees.items()
            for node in self.leaving(file, tree)
        ]

    def learn(self, file: Path, tree: ast.Module) -> None:
        """Note which names of a module are paths within the package."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.note(file, node.targets[0].id, self.level(file, node.value))
            elif isinstance(node, ast.ImportFrom) and node.module:
                source = node.module.rpartition(".")[2]
                for name in node.names:
                    level = self.levels.get((source, name.name))
                    self.note(file, name.asname or name.name, level)

    def note(self, file: Path, name: str, level: int | None) -> None:
        if level is not None:
            self.levels[file.stem, name] = level

    def level(self, file: Path, node: ast.AST) -> int | None:
        """The level of a path; None for what is no path made from `__file__`."""
        match node:
            case ast.Name(id="__file__"):
                return len(file.relative_to(self.package).parts)
            case ast.Name(id=name):
                return self.levels.get((file.stem, name))
            case ast.Attribute(value=inner, attr="parent"):
                return self.above(file, inner, 1)
            case ast.Subscript(
                value=ast.Attribute(value=inner, attr="parents"),
                slice=ast.Constant(value=int(count)),
            ):
                return self.above(file, inner, count + 1)
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                return self.levels.get((module, name))
            case ast.Call(func=ast.Name(id="Path"), args=[inner, *_]):
                return self.level(file, inner)
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in SAME:
                return self.level(file, inner)
            case ast.BinOp(left=inner, op=ast.Div(), right=ast.Constant(value=str(to))):
                return self.above(file, inner, -len(Path(to).parts))
        return None

    def above(self, file: Path, inner: ast.AST, count: int) -> int | None:
        level = self.level(file, inner)
        return None if level is None else level - count

    def leaving(self, file: Path, tree: ast.Module) -> Iterator[ast.expr]:
        """The expressions of a module that leave the package."""
        followed = set(map(id, map(known_form, ast.walk(tree))))
        for node in ast.walk(tree):
            unfollowed = is_beginning(node) and id(node) not in followed
            if unfollowed or locates(node):
                yield node
            if isinstance(node, ast.expr):
                level = self.level(file, node)
                if (level is not None and level < 0) or relative(node):
                    yield node


def known_form(node: ast.AST) -> ast.AST | None:
    """The part of a node that begins a path in a form that `level` follows."""
    match node:
        case ast.Call(func=ast.Name(id="Path"), args=[inner]):
            return inner
        case ast.Subscript(value=inner, slice=ast.Constant(value=int())):
            return inner
    return None


def is_beginning(node: ast.AST) -> bool:
    """Whether a path may begin here: at `__file__`, or at all the parents of one."""
    match node:
        case ast.Name(id="__file__") | ast.Attribute(attr="__file__" | "parents"):
            return True
    return False


def locates(node: ast.AST) -> bool:
    """Whether an import brings what finds packages by their names."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return False
    module = getattr(node, "module", None) or ""
    words = ".".join([module, *(name.name for name in node.names)]).split(".")
    return any(word in LOCATING for word in words)


def relative(node: ast.expr) -> bool:
    """Whether this goes up by `..`, or begins where Python was started."""
    match node:
        case ast.BinOp(op=ast.Div(), right=ast.Constant(value=str(to))):
            return ".." in Path(to).parts
        case ast.Call(func=ast.Attribute(attr=name)) if name in STARTED:
            return True
        case ast.Call(func=ast.Name(id="Path"), args=[]):
            return True
        case ast.Call(args=[ast.Constant(value=str(to)), *_]) if ABOVE.fullmatch(to):
            return True
        case ast.Subscript(slice=ast.Constant(value=str(to))) if ABOVE.fullmatch(to):
            return True
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="glob" | "os"), attr=name),
            args=[ast.Constant(value=str(to)), *_],
        ) if name in LISTING:
            return not Path(to).is_absolute()
        case ast.Call(
            func=ast.Name(id=name) | ast.Attribute(attr=name),
            args=[ast.Constant(value=str(to)), *_],
        ):
            whole = name in OPENING and not Path(to).is_absolute()
            return whole or (name in ("joinpath", "glob") and ".." in Path(to).parts)
    return False
