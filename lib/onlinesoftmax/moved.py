"""The old names of `tiledattention` and `kernellab`: they warn, and go with 1.0."""

import re
import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType

LAB = "compile|counting|counts|devices|lab|reports|sass|timing_cuda|timing_webgpu|trial"
OURS = ("importlib", "onlinesoftmax")


def new_name(old: str) -> str:
    """Return what a module is called now."""
    new = re.sub(rf"^onlinesoftmax\.(gpu\.)?({LAB})$", r"kernellab.\2", old)
    return re.sub(r"^onlinesoftmax\.(cluster|cpu|gpu)\b", r"tiledattention.\1", new)


def warn(old: str, new: str) -> None:
    """Warn of an old name, at the line that imports it."""
    frame = sys._getframe()
    while frame.f_back and module_of(frame).partition(".")[0] in OURS:
        frame = frame.f_back
    message = f"{old} is called {new} now; the old name goes with onlinesoftmax 1.0"
    where = frame.f_code.co_filename, frame.f_lineno, module_of(frame)
    warnings.warn_explicit(message, DeprecationWarning, *where)


def module_of(frame: FrameType) -> str:
    """Return the module of a frame; what ``exec`` runs may have none."""
    return frame.f_globals.get("__name__") or "<string>"


class Moved(ModuleType):
    __path__: list[str] = []  # so that `find_spec` is asked for its submodules

    def __getattr__(self, name: str) -> object:
        home = self.__name__ + (".compile" if name == "compile_report" else "")
        return getattr(import_module(new_name(home)), name)

    @classmethod
    def find_spec(cls, name: str, *_: object) -> ModuleSpec | None:
        return ModuleSpec(name, cls) if new_name(name) != name else None  # type: ignore

    create_module = classmethod(lambda cls, spec: cls(spec.name))

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        new = new_name(module.__name__)
        import_module(new)
        warn(module.__name__, new)
