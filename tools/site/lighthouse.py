"""Lighthouse on the content pages: mobile emulation, gzip server, median of three.

    python -m tools.site.lighthouse [PAGE …]

Needs Node.js (npx fetches Lighthouse itself) and an installed Chromium. It needs a common
font too, such as Debian's fonts-liberation: without one the book's stand-ins are missing,
and the page moves when its own fonts arrive.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import threading

from tools.build import ROOT, Book
from tools.common import options
from tools.serve import server
from tools.site.chromium import FLAGS, find_chromium

VERSION = "lighthouse@13"
CATEGORIES = {
    "performance": 95,
    "accessibility": 100,
    "best-practices": 100,
    "seo": 100,
}
RUNS = 3
# Lighthouse asks for robots.txt in the page's name; our pages forbid every request
# (connect-src 'none'), so this one audit fails whatever the file says.
SKIPPED = "robots-txt"


def scores(address: str) -> dict[str, int]:
    """One Lighthouse run: the score of each category, and what cost it points."""
    command = ["npx", "--yes", VERSION, address, "--quiet", "--output=json"]
    command += [f"--chrome-flags={' '.join(FLAGS)}"]
    command += [f"--only-categories={','.join(CATEGORIES)}"]
    command += [f"--skip-audits={SKIPPED}"]
    env = {**os.environ, "CHROME_PATH": find_chromium() or ""}
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=env)
    if done.returncode:
        raise SystemExit(f"Lighthouse failed on {address}:\n{done.stderr[-2000:]}")
    report = json.loads(done.stdout)
    for name in CATEGORIES:
        for audit in report["categories"][name]["auditRefs"]:
            result = report["audits"][audit["id"]]
            if audit["weight"] and (result["score"] or 0) < 0.9:
                shown = result.get("displayValue", "")
                print(f"      {result['title']} {shown}: {result['score']}")
    return {n: round(100 * report["categories"][n]["score"]) for n in CATEGORIES}


def main() -> int:
    if not shutil.which("npx") or not find_chromium():
        print("Lighthouse needs Node.js (npx) and a Chromium: install both")
        return 1
    pages = [page.name for page in Book(ROOT, ROOT / "_build").pages]
    names = options.parse(pages) or pages
    short = 0
    with server() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        for name in names:
            address = f"http://127.0.0.1:{running.server_port}/{name}.html"
            runs = [scores(address) for _ in range(RUNS)]
            median = {n: statistics.median(run[n] for run in runs) for n in CATEGORIES}
            short += any(median[n] < CATEGORIES[n] for n in CATEGORIES)
            print(
                f"  {name:32}", *(f"{n} {median[n]:g}" for n in CATEGORIES), flush=True
            )
        running.shutdown()
    return bool(short)


if __name__ == "__main__":
    sys.exit(main())
