"""Machine code, read: its instructions, and the basic blocks that they form.

NVIDIA's `nvdisasm` writes machine code out as text, called SASS. `disassemble` reads
that text; `blocks_of` cuts it where control may leave or enter. Which instructions
there are differs from one architecture to the next, and no manual lists their forms. So
only those that control follows are interpreted here; the rest is counted by its name.
"""

import re
import subprocess
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

KINDS = (
    "fma",
    "float",
    "special",
    "shared",
    "global",
    "shuffle",
    "integer",
    "control",
    "tensor",
)
# Which kind an instruction is of, by the first part of its opcode.
BEGINS = {
    "fma": "FFMA HFMA2",
    "float": "FADD FMUL FSWZADD HADD2 HMUL2 DADD DMUL DFMA",
    "special": "MUFU I2F F2I FRND I2FP F2F F2FP",
    "shared": "LDS LDSM STS ATOMS LDGSTS",
    "global": "LDG STG ATOMG ATOM RED LD ST LDL STL CCTL",
    "shuffle": "SHFL VOTE VOTEU MATCH REDUX",
    # Comparisons of numbers of any kind are done where integers are.
    "integer": "FMNMX FMNMX3 FSET FSETP FSEL FCHK HMNMX2 HSET2 HSETP2 DSETP DMNMX"
    " IMAD IADD3 IADD LEA LOP3 LOP SHF SHL SHR ISETP ISET IMNMX VIMNMX VIADD"
    " SEL MOV PRMT IABS IMUL POPC FLO BREV BMSK SGXT PLOP3 P2R R2P S2R S2UR CS2R"
    " CS2UR LDC LDCU R2UR VIADDMNMX VIMNMX3 VABSDIFF IDP UMOV UIADD3 UIMAD ULDC ULEA"
    " ULOP3 USHF USEL UISETP UPRMT UPLOP3 USGXT UBMSK UFLO UPOPC UP2UR UR2UP UIABS"
    " UIMNMX UVIADD UVIMNMX UI2FP ULEA R2B B2R",
    "control": "BRA BRX JMP EXIT RET CALL BAR BSSY BSYNC BREAK BMOV WARPSYNC YIELD NOP"
    " DEPBAR LDGDEPBAR MEMBAR ERRBAR NANOSLEEP KILL BPT ACQBULK UCGABAR_ARV"
    " UCGABAR_WAIT PREEXIT ENDCOLLECTIVE",
    "tensor": "HMMA",
}
KIND = {name: kind for kind, names in BEGINS.items() for name in names.split()}
NEVER = "!PT"  # the guard of an instruction that no thread executes
NOTHING = re.compile(r"\bRZ, -?RZ\b")  # the product of two registers that are 0
LEAVE = ("EXIT", "RET", "KILL", "BPT")  # nothing after them runs
LINE = re.compile(r'//## File "(?P<file>[^"]*)", line (?P<line>\d+)')
LABEL = re.compile(r"^(?P<name>[.$\w]+):")
CODE = re.compile(r"^\s+/\*(?P<address>[\da-f]{4,})\*/\s+(?P<text>[^;]*?)\s*;")
TARGET = re.compile(r"`\((?P<name>[^)]*)\)")


class Unknown(Exception):
    """An instruction that cannot be put into a kind, or followed."""


class Instruction(NamedTuple):
    """An instruction of machine code.

    Attributes
    ----------
    address : int
    guard : str
        The predicate without which a thread leaves it out, such as "!P0"; or empty.
    opcode : str
        Such as "LDS.128".
    operands : str
    ptx : int
        The line of PTX that it is for; 0 if none is known.
    labels : tuple of str
        Names by which branches go to it.
    """

    address: int
    guard: str
    opcode: str
    operands: str
    ptx: int
    labels: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The first part of its opcode."""
        return self.opcode.partition(".")[0]

    @property
    def kind(self) -> str:
        """One of `KINDS`."""
        if self.name not in KIND:
            raise Unknown(f"{self.address:#x}: no kind is known for {self.opcode}")
        if self.name == "HFMA2" and NOTHING.search(self.operands):
            return "integer"  # a constant is put into a register so
        return KIND[self.name]

    @property
    def target(self) -> str:
        """The label that it may go to; empty if none."""
        found = TARGET.search(self.operands)
        return found["name"] if found else ""

    @property
    def is_conditional(self) -> bool:
        """Whether some threads may not do it."""
        also = self.name == "BRA" and re.match(r"!?U?P\d", self.operands)
        return bool(self.guard or also)


@dataclass
class Block:
    """Instructions that run one after the other, or not at all.

    Attributes
    ----------
    number : int
    body : list of Instruction
    after : list of int
        The blocks that may come next.
    calls : int or None
        The block at which the function begins that its last instruction calls.
    leaves : bool
        Whether a thread may end here.
    """

    number: int
    body: list[Instruction]
    after: list[int] = field(default_factory=list)
    calls: int | None = None
    leaves: bool = False


def disassemble(machine: bytes) -> list[Instruction]:
    """Return the instructions of machine code, a cubin with one kernel."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(machine)
        done = subprocess.run(
            [_program(), "-c", "-gp", file], capture_output=True, text=True
        )
    if done.returncode:
        raise ValueError(f"machine: nvdisasm refuses it: {done.stderr.strip()}")
    return read(done.stdout)


def read(text: str) -> list[Instruction]:
    """Return the instructions of a text by nvdisasm."""
    found: list[Instruction] = []
    line, labels = 0, []
    for row in text.splitlines():
        if place := LINE.search(row):
            line = int(place["line"])
        elif label := LABEL.match(row):
            labels.append(label["name"])
            if not label["name"].startswith("."):
                line = 0  # a function of the compiler's own begins
        elif code := CODE.match(row):
            guard, _, rest = code["text"].rpartition("@")[2].partition(" ")
            if not code["text"].startswith("@"):
                guard, rest = "", code["text"]
            opcode, _, operands = rest.strip().partition(" ")
            address = int(code["address"], 16)
            found.append(
                Instruction(address, guard, opcode, operands, line, tuple(labels))
            )
            labels = []
    return found


def blocks_of(instructions: list[Instruction]) -> list[Block]:
    """Return the basic blocks of instructions, in their order.

    Unreachable instructions are left out. Machine code is padded to a multiple of 128
    bytes with such instructions: with a branch to itself and with NOP.
    """
    blocks: list[Block] = []
    begins = True
    for one in instructions:
        if begins or one.labels:
            blocks.append(Block(len(blocks), []))
        blocks[-1].body.append(one)
        begins = one.name in (*LEAVE, "BRA", "CALL")
    at = {name: block.number for block in blocks for name in block.body[0].labels}
    for block in blocks:
        _lead_on(block, at, len(blocks))
    return _reached(blocks)


def _reached(blocks: list[Block]) -> list[Block]:
    """Return the blocks that can be come to from the first, numbered anew."""
    seen: set[int] = set()
    waiting = [0]
    while waiting:
        block = blocks[waiting.pop()]
        if block.number not in seen:
            seen.add(block.number)
            waiting += [*block.after, *([] if block.calls is None else [block.calls])]
    number = {old: new for new, old in enumerate(sorted(seen))}
    for block in (kept := [blocks[old] for old in sorted(seen)]):
        block.number = number[block.number]
        block.after = [number[old] for old in block.after]
        block.calls = None if block.calls is None else number[block.calls]
    return kept


def _lead_on(block: Block, at: dict[str, int], count: int) -> None:
    """Note where control goes from a block."""
    last = block.body[-1]
    if last.name in ("BRX", "JMP", "JMX", "BREAK"):
        raise Unknown(f"{last.address:#x}: {last.opcode} is not followed")
    # A call of a place inside the function never comes back: it is a branch.
    jumps = last.name == "BRA" or last.name == "CALL" and last.target.startswith(".L")
    if jumps:
        block.after.append(at[last.target])
    elif last.name == "CALL":
        block.calls = at[last.target]
    block.leaves = last.name in LEAVE
    goes_on = not (jumps or block.leaves) or last.is_conditional
    if goes_on and block.number + 1 < count:
        block.after.append(block.number + 1)


def _program() -> Path:
    """Return where nvdisasm is."""
    try:
        listed = files("nvidia-cuda-nvdisasm") or []
    except PackageNotFoundError:
        listed = []
    for file in listed:
        if file.stem == "nvdisasm":
            return Path(str(file.locate()))
    raise RuntimeError(
        "machine code is read by the package nvidia-cuda-nvdisasm: requirements-gpu.txt"
        " lists it; it takes no GPU"
    )
