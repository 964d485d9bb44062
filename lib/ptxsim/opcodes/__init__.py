"""Which opcodes there are: a table from each, with all its modifiers, to its
translator.

A form stands for many opcodes. It is written like those of NVIDIA's manual: ``[.ftz]``
may be left out, of ``[.v2 .v4]`` one may stand there, of ``<.lo .hi>`` one has to.
What no form stands for is not supported.
"""

import re
from collections.abc import Callable, Sequence
from itertools import product

from ptxsim.syntax import Instruction
from ptxsim.writer import Writer

Emitter = Callable[[Writer, Instruction], None]
OPCODES: dict[str, Emitter] = {}
COUNTS: dict[str, Sequence[int]] = {}  # how many operands an opcode may have
INTEGERS = "<.u16 .s16 .u32 .s32 .u64 .s64>"
SIGNED = "<.s16 .s32 .s64>"
BITS = "<.b16 .b32 .b64>"


def expand(form: str) -> list[str]:
    """Return the opcodes that a form stands for.

    >>> expand("mul<.lo .hi>[.x].u32")
    ['mul.lo.u32', 'mul.lo.x.u32', 'mul.hi.u32', 'mul.hi.x.u32']
    """
    parts = re.findall(r"<([^>]*)>|\[([^]]*)\]|([^<\[]+)", form)
    choices = []
    for needed, optional, word in parts:
        choices.append([word] if word else needed.split() or ["", *optional.split()])
    return ["".join(words) for words in product(*choices)]


def opcode(count: int | Sequence[int], *forms: str) -> Callable[[Emitter], Emitter]:
    """Return a decorator for the function that translates the opcodes of some forms.

    `count` is how many operands they have, the result included.
    """

    def enter(emitter: Emitter) -> Emitter:
        for form in forms:
            for name in expand(form):
                if name in OPCODES:
                    raise ValueError(f"forms: {name} has a translator already")
                OPCODES[name] = emitter
                COUNTS[name] = (count,) if isinstance(count, int) else count
        return emitter

    return enter
