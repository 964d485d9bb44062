"""Trains the model of the last chapter on the book as it stands, and stores it.

    python -m tools.model            train, some twenty minutes; book/data/speaker.json
    python -m tools.model --check    let torch write again what is stored that it writes

It works in an environment of its own, .venv-model, with the packages that
requirements-model.txt locks; nothing else needs torch. The stored model stays what it is
when the prose changes: its file says when it was trained, and on which letters.
"""

import json
import sys

from tools.common import options
from tools.common.environments import ROOT, TORCH, hand_over

STORED = ROOT / "book" / "data" / "speaker.json"


def work() -> int:
    """Train or check; runs in .venv-model."""
    from tools.model import training as model_training

    if "--check" in sys.argv:
        return check()
    made = model_training.made()
    STORED.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    print(f"written: {STORED.relative_to(ROOT)}")
    for one in made["says"]:
        print(f"\n{one['text']}")
    return 0


def check() -> int:
    """Compare what the stored weights write by torch with what is stored."""
    from tools.model import training as model_training

    wrong = model_training.says_otherwise(json.loads(STORED.read_text("utf-8")))
    for stored, now in wrong:
        print(f"stored: {stored!r}\nnow:    {now!r}")
    print("torch writes something else" if wrong else "torch writes what is stored")
    return bool(wrong)


def main() -> int:
    """Train or check, in the environment with torch."""
    here = "--here" in options.parse(["--check", "--here"])
    return work() if here else hand_over("tools.model", *TORCH)
