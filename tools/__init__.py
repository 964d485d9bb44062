"""The commands of the `Makefile`."""

import sys
from pathlib import Path

# With this package jsonschema, which nbformat imports, would build 38 grammars: two
# seconds in every process, for a check of addresses that no command needs.
sys.modules.setdefault("rfc3987_syntax", None)

# A character that the terminal cannot encode is printed as a question mark.
if hasattr(sys.stdout, "reconfigure"):
    sys.stdout.reconfigure(errors="replace")

# A copy of the repository is built with its own packages, not with the installed ones.
sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("lib", "book")]
