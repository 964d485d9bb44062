"""What the commands of the `Makefile` call."""

import sys

# jsonschema, which notebooks need, would build 38 grammars of addresses on import: two
# seconds, in every process, for a check that nothing here asks for. It does without.
sys.modules.setdefault("rfc3987_syntax", None)
