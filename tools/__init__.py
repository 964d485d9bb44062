"""What the commands of the `Makefile` call."""

import sys
from pathlib import Path

# jsonschema, which notebooks need, would build 38 grammars of addresses on import: two
# seconds, in every process, for a check that nothing here asks for. It does without.
sys.modules.setdefault("rfc3987_syntax", None)

# A letter that the terminal lacks is shown as a question mark; it stops no command.
if hasattr(sys.stdout, "reconfigure"):
    sys.stdout.reconfigure(errors="replace")

# A copy of the repository is built with its own packages, not with the installed ones.
sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("lib", "book")]
