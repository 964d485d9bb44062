"""What is wrong with a kernel, and what the machine does not know."""

Frame = tuple[str, int]  # a file of the source, and a line


def place(line: int, source: Frame | None, inlined: Frame | None) -> str:
    """Return a line of the PTX, and that of the source, in words."""
    frames = [
        f"{file.replace(chr(92), '/').rpartition('/')[2]}:{number}"
        for file, number in filter(None, (source, inlined))
    ]
    return f"line {line}" + (f" ({', in '.join(frames)})" if frames else "")


class Unsupported(NotImplementedError):
    """PTX that the machine does not know; it never guesses.

    Attributes
    ----------
    line : int
        The line of the PTX.
    text : str
        What stands there.
    why : str
        Which part of it; empty if the instruction is unknown.
    source : (str, int) or None
        The file and the line of the source, if the PTX has line information.
    """

    def __init__(
        self, line: int, text: str, why: str = "", source: Frame | None = None
    ) -> None:
        why_ = f" ({why})" if why else ""
        super().__init__(f"{place(line, source, None)}: {text}{why_}")
        self.line, self.text, self.why, self.source = line, text, why, source


class Malformed(ValueError):
    """What is no PTX: a symbol is missing, say, or a name is not declared.

    Attributes
    ----------
    line : int
        The line of the text.
    text : str
        What stands there.
    """

    def __init__(self, line: int, text: str, why: str) -> None:
        super().__init__(f"text: line {line}: {text} ({why})")
        self.line, self.text = line, text


class Fault(ValueError):
    """What a GPU would not forgive, or would not notice.

    Attributes
    ----------
    kind : str
        As `help(ptxsim)` lists them.
    detail : str
        What happened, in words.
    line : int
        The line of the PTX; 0 if no single line is at fault.
    text : str
        The instruction that stands there.
    source : (str, int) or None
        The file and the line of the source, if the PTX has line information: in the file
        of the kernel, even if a function of another file was inlined there.
    inlined : (str, int) or None
        The file and the line of that function.
    block : tuple of int or None
        The index of the block of threads.
    thread : int or None
        The thread within its block.
    severity : str
        "fault"; "benign" for what makes no difference to any number; "unmodelled" where a
        GPU may do something else. Only faults are raised; a `Result` lists the others.
    """

    severity = "fault"

    def __init__(
        self,
        kind: str,
        detail: str,
        *,
        line: int = 0,
        text: str = "",
        source: Frame | None = None,
        inlined: Frame | None = None,
        block: tuple[int, ...] | None = None,
        thread: int | None = None,
    ) -> None:
        self.kind, self.detail, self.line, self.text = kind, detail, line, text
        self.source, self.inlined = source, inlined
        self.block, self.thread = block, thread
        super().__init__(f"{kind}: {self._where()}{detail}")

    def _where(self) -> str:
        """Return the place, as it stands in the message."""
        if not self.line:
            return ""
        where = place(self.line, self.source, self.inlined)
        who = f", block {self.block}, thread {self.thread}" if self.block else ""
        return f"{where}{who}: {self.text}: "
