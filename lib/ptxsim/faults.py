"""What is wrong with a kernel, and what the machine does not know."""


class Unsupported(NotImplementedError):
    """PTX that the machine does not know; it never guesses.

    Attributes
    ----------
    line : int
        The line of the PTX.
    text : str
        What stands there.
    """

    def __init__(self, line: int, text: str, why: str = "") -> None:
        super().__init__(f"line {line}: {text}" + (f" ({why})" if why else ""))
        self.line, self.text = line, text


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
        The file and the line of Python, if the PTX has line information.
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
        source: tuple[str, int] | None = None,
        block: tuple[int, ...] | None = None,
        thread: int | None = None,
    ) -> None:
        self.kind, self.detail, self.line, self.text = kind, detail, line, text
        self.source, self.block, self.thread = source, block, thread
        super().__init__(f"{kind}: {self._where()}{detail}")

    def _where(self) -> str:
        """Return the place, as it stands in the message."""
        if not self.line:
            return ""
        python = ""
        if self.source:
            file, line = self.source
            python = f" ({file.replace(chr(92), '/').rpartition('/')[2]}:{line})"
        who = f", block {self.block}, thread {self.thread}" if self.block else ""
        return f"line {self.line}{python}{who}: {self.text}: "
