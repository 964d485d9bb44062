"""What the commands of the `Makefile` call."""

import os
import sys

# jsonschema, which notebooks need, would build 38 grammars of addresses on import: two
# seconds, in every process, for a check that nothing here asks for. It does without.
sys.modules.setdefault("rfc3987_syntax", None)

# Windows has an encoding of its own for files and pipes. The book's is UTF-8 everywhere,
# in the processes that a command starts, and in what it prints itself.
os.environ.setdefault("PYTHONUTF8", "1")
if os.name == "nt":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8")
