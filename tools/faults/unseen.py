"""Which wrong kernels would a GPU alone call right?

    python -m tools.faults.unseen             try them all, write book/data/unseen.json
    python -m tools.faults.unseen --check     try them all, compare with what is written
    python -m tools.faults.unseen DRILL …     try those of some drills, print

The drills know the wrong kernels that readers write. The simulator refuses each of them.
Here each skips the simulator and goes straight to the card "On your GPU", in a Chromium
with a GPU in software: its compiler may refuse it, or its numbers may be wrong. What then
is left passes unseen.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import rescaling  # noqa: F401  (hands the book in)
from livepage import book
from livepage import drills as page_drills
from livepage.drills.bank import bank
from livepage.drills.entry import Drill
from livepage.drills.forms import Card
from livepage.drills.kinds.code import cases as code
from livepage.markup import plain_maths
from tests.marking import run as marked
from tools.bench import measure as bench
from tools.site.chromium import MISSING, WEBGPU, find_chromium

FILE = book.current().data / "unseen.json"
COMMAND = "python -m tools.faults.unseen"
WHAT = (
    "Wrong kernels that the drills know, what the simulator finds in them, and what a GPU"
    " in software (SwiftShader, in Chromium) would have made of them without it."
)
COLUMNS = ["drill", "wrong kernel", "simulator", "GPU"]
UNSEEN = "unseen"
SAID = {  # what the card says, in a word
    "casesRight": UNSEEN,
    "ladderRight": UNSEEN,
    "offCase": "wrong numbers",
    "offLarger": "wrong numbers",
    "offYours": "wrong numbers",
    "barrier": "refused: a barrier",
    "barrierCause": "refused: a barrier",
    "wrong": "refused",
    "wrongAt": "refused",
    "untranslatable": "refused",
    "untranslatableInstead": "refused",
    "endless": "a loop without end",
    "hung": "no answer",
}
PAGE = """<!doctype html><meta charset="utf-8"><title>{id}</title>
<body>{section}<script src="drills.js"></script><script src="gpu.js"></script>"""
# The card's own panel, for a text that no simulator has passed.
TRY = """async (text) => {
  const section = document.querySelector(".os-drill");
  const json = section.querySelector(".os-drill-data").textContent;
  const drill = { id: "unseen", section, data: JSON.parse(json) };
  const element = document.createElement("div");
  const panel = livepageGpu.open({ drill, element, busy: () => {} });
  let said = [];
  panel.say = (...words) => (said = words);
  panel.fail = ({ word, slots, message }) => (said = [word ?? message, slots]);
  panel.text = text;
  await panel.run("guessLess");
  return said;
}"""


def wrong_kernels(drill: Drill) -> Iterator[tuple[str, str]]:
    """Yield name and text of each wrong kernel that a drill knows."""
    names = [mutant["name"] for mutant in drill.get("mutants")]
    yield from zip(names, code.mutants(drill), strict=True)


def simulators_word(drill: Drill, source: str) -> str:
    """Return what the simulator finds first: a kind of fault, or a rule that is broken."""
    report = marked(drill, source)
    if report["passed"]:
        raise ValueError(f"{drill.id}: the simulator passes a wrong kernel")
    fields = report.get("fields") or {}
    return str(fields["kind"] if report["fault"] == "kernel" else report["fault"])


def lay_out(folder: Path, drill: Drill) -> Path:
    """Write a page with one drill and what its card loads."""
    (folder / "drills.js").write_text(page_drills.page_script(), "utf-8")
    for name, content in page_drills.page_assets().items():
        (folder / name).write_text(content, "utf-8")
    section = Card(drill, "en", plain_maths).section()
    file = folder / f"{drill.id}.html"
    file.write_text(PAGE.format(id=drill.id, section=section), "utf-8")
    return file


def chromium() -> str:
    """Return where Chromium is."""
    found = find_chromium()
    if found is None:
        raise SystemExit(MISSING)
    return found


def look(wanted: list[Drill]) -> tuple[list[list[str]], str]:
    """Try every wrong kernel of some drills; return the rows, and Chromium's version."""
    from playwright.sync_api import sync_playwright

    rows: list[list[str]] = []
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=WEBGPU)
        for drill in wanted:
            page = browser.new_page()
            page.goto(lay_out(Path(folder), drill).as_uri())
            for name, source in wrong_kernels(drill):
                found = simulators_word(drill, source)
                key, slots = (*page.evaluate(TRY, source), {})[:2]
                if key not in SAID:
                    raise ValueError(f"{drill.id}, {name}: the card says {key} {slots}")
                line = f", line {slots['line']}" if slots.get("line") else ""
                rows.append([drill.id, name, found, SAID[key] + line])
                print(*rows[-1], sep=" | ", flush=True)
            page.close()
        version = browser.version
        browser.close()
    return rows, version


def told(rows: list[list[str]]) -> str:
    """Say how many there are of each kind."""
    unseen = [row for row in rows if row[3] == UNSEEN]
    by_fault = Counter(row[2] for row in unseen).most_common()
    kinds = ", ".join(f"{count} {kind}" for kind, count in by_fault)
    return f"{len(unseen)} of {len(rows)} wrong kernels pass unseen: {kinds}"


def stored(rows: list[list[str]], version: str) -> dict[str, Any]:
    """Return the rows with their source, as a chapter shows a measurement."""
    source = bench.provenance("")
    return {
        "what": WHAT,
        "columns": COLUMNS,
        "rows": rows,
        **source,
        "versions": {"Chromium": version, "Python": source["versions"]["Python"]},
        "command": COMMAND,
    }


def compare(rows: list[list[str]]) -> int:
    """Print what is no longer as it is written."""
    written = json.loads(FILE.read_text("utf-8"))["rows"]
    other = [row for row in rows if row not in written]
    gone = [row for row in written if row not in rows]
    for sign, some in (("+", other), ("-", gone)):
        for row in some:
            print(sign, *row, sep=" | ")
    return bool(other or gone)


def main() -> int:
    """Try, print, and write or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("drills", nargs="*", metavar="DRILL")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    all_drills = {d.id: d for d in bank().values() if d.kind == "kernel"}
    if unknown := sorted(set(asked.drills) - set(all_drills)):
        parser.error(f"no kernel drill {', '.join(unknown)}: {sorted(all_drills)}")
    wanted = [
        d for d in all_drills.values() if d.id in asked.drills or not asked.drills
    ]
    rows, version = look(wanted)
    print(told(rows))
    if asked.check:
        return compare(rows)
    if not asked.drills:
        text = json.dumps(stored(rows, version), indent=1, ensure_ascii=False)
        FILE.write_text(text + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
