"""The old names of `tiledattention` and `kernellab`, which keep working until 1.0."""

import re
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

LAB = "compile|counting|counts|devices|lab|reports|sass|timing_cuda|timing_webgpu|trial"


def new_name(old: str) -> str:
    """Return what a module is called now."""
    new = re.sub(rf"^onlinesoftmax\.(gpu\.)?({LAB})$", r"kernellab.\2", old)
    return re.sub(r"^onlinesoftmax\.(cluster|cpu|gpu)\b", r"tiledattention.\1", new)


class Moved(ModuleType):
    __path__: list[str] = []  # so that `find_spec` is asked for its submodules

    def __getattr__(self, name: str) -> object:
        home = self.__name__ + (".compile" if name == "compile_report" else "")
        return getattr(import_module(new_name(home)), name)

    @classmethod
    def find_spec(cls, name: str, *_: object) -> ModuleSpec | None:
        return ModuleSpec(name, cls) if new_name(name) != name else None  # type: ignore

    create_module = classmethod(lambda cls, spec: cls(spec.name))
    exec_module = staticmethod(lambda module: import_module(new_name(module.__name__)))
