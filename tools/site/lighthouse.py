"""Runs Lighthouse on the pages: mobile emulation, gzip server, median of three runs.

    python -m tools.site.lighthouse [PAGE …]

It needs Node.js (npx downloads Lighthouse), Chromium and a common font, such as Debian's
fonts-liberation. Without the font, the fallbacks of the book's fonts are missing, and the
layout shifts once its own fonts have loaded.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys

from tools.build import HERE
from tools.common import options
from tools.serve import serving
from tools.site.chromium import FLAGS, find_chromium

VERSION = "lighthouse@13"
CATEGORIES = {
    "performance": 95,
    "accessibility": 100,
    "best-practices": 100,
    "seo": 100,
}
RUNS = 3
# Lighthouse requests robots.txt from within the page. Our pages forbid every request
# (connect-src 'none'), so this audit always fails.
SKIPPED = "robots-txt"


def scores(address: str) -> dict[str, int]:
    """Run Lighthouse once; print what costs points, and return each category's score."""
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
    pages = [page.name for page in HERE.pages]
    names = options.parse(pages) or pages
    short = 0
    with serving() as site:
        for name in names:
            runs = [scores(f"{site}{name}.html") for _ in range(RUNS)]
            median = {n: statistics.median(run[n] for run in runs) for n in CATEGORIES}
            short += any(median[n] < CATEGORIES[n] for n in CATEGORIES)
            columns = (f"{n} {median[n]:g}" for n in CATEGORIES)
            print(f"  {name:32}", *columns, flush=True)
    return bool(short)


if __name__ == "__main__":
    sys.exit(main())
