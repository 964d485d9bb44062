"""Trains the model of the last chapter on the book as it stands, and stores it.

    python -m tools.model            train, some twenty minutes; book/data/speaker.json
    python -m tools.model --check    compare the stored texts with those of torch

It runs in an environment of its own, .venv-model, with the packages that
requirements-model.txt locks; no other command needs torch. A change of the prose does not
change the stored model: its file names the date and the digest of its training text.
"""

import json
import sys

from tools.common.environments import TORCH, hand_over
from tools.common.options import parse, report
from tools.common.paths import ROOT

STORED = ROOT / "book" / "data" / "speaker.json"


def train() -> int:
    """Train the model and store it; runs in .venv-model."""
    from tools.model import training as model_training

    record = model_training.train_and_describe()
    STORED.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    print(f"written: {STORED.relative_to(ROOT)}")
    for sample in record["says"]:
        print(f"\n{sample['text']}")
    return 0


def check() -> int:
    """Compare the stored texts with those that torch generates from the stored weights."""
    from tools.model import training as model_training

    wrong = model_training.differing_texts(json.loads(STORED.read_text("utf-8")))
    lines = [f"stored: {stored!r}\nnow:    {now!r}" for stored, now in wrong]
    return report(lines, f"{len(wrong)} texts differ")


def main() -> int:
    """Train or check, in the environment with torch."""
    options = parse(["--check", "--here"])
    if "--here" not in options:
        return hand_over("tools.model", *TORCH)
    return check() if "--check" in options else train()


if __name__ == "__main__":
    sys.exit(main())
