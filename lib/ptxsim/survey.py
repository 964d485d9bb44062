"""What a text of PTX declares, and what in it the machine does not know."""

from collections import Counter
from dataclasses import dataclass

from ptxsim.faults import Unsupported
from ptxsim.parser import parse_all
from ptxsim.syntax import Kernel
from ptxsim.translate import problems


@dataclass(frozen=True)
class Survey:
    """A kernel of a text, and what of it cannot run.

    Attributes
    ----------
    kernel : Kernel
        Without the statements that the parser does not know.
    unsupported : tuple of Unsupported
        One for each line of the PTX, in their order.
    """

    kernel: Kernel
    unsupported: tuple[Unsupported, ...]

    @property
    def registers(self) -> Counter[str]:
        """How many registers the PTX declares, by type; ptxas allocates fewer."""
        found: Counter[str] = Counter()
        for name, kind in self.kernel.registers.items():
            found[kind] += self.kernel.numbered.get(name, 1)
        return found

    @property
    def shared(self) -> int:
        """The bytes of shared memory that the PTX declares."""
        sizes = [x.size for x in self.kernel.variables if x.space == "shared"]
        return sum(size for size in sizes if size > 0)

    @property
    def is_dynamic(self) -> bool:
        """Whether it uses shared memory that the launch adds."""
        sizes = [one.size for one in self.kernel.variables]
        reads = [
            x for x in self.kernel.instructions() if "%dynamic_smem_size" in x.text
        ]
        return min(sizes, default=0) < 0 or bool(reads)

    @property
    def opcodes(self) -> Counter[str]:
        """How often each instruction stands in the text, that of functions at each call."""
        return Counter(one.opcode for one in self.kernel.instructions())


def survey(text: str) -> list[Survey]:
    """Return what a text declares, kernel by kernel.

    Raises
    ------
    ValueError
        If the text is no PTX.
    """
    found = []
    for kernel, unknown in parse_all(text):
        wrong = problems(kernel)
        unknown += [problem for problem in wrong if isinstance(problem, Unsupported)]
        if wrong and not unknown:  # otherwise an unknown declaration may be the cause
            raise wrong[0]
        lines = {problem.line: problem for problem in reversed(unknown)}
        found.append(Survey(kernel, tuple(lines[line] for line in sorted(lines))))
    return found
