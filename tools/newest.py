"""Tries the newest version of one thing at a time, in a copy of the book.

    python -m tools.newest                  all of them
    python -m tools.newest katex dask …     some
    python -m tools.newest --take katex     puts a vendored one into the repository

The weekly workflow upgrades every package at once, and a red run does not say which one it
was. This does, for the packages whose changes readers meet first, and for what is vendored.
"""

import argparse
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

import yaml

from tools.common.paths import ROOT
from tools.testing.copies import copy_of_the_book, environment_of

VENDOR = Path("lib", "livepage", "vendor")
NPM = "https://registry.npmjs.org/"
CLUSTER = [
    "tests/tiledattention/test_cluster.py",
    "tests/tiledattention/test_cluster_run.py",
]
PAGES = ["tests/browser/test_cells.py", "tests/browser/test_drills_kernel.py"]
# What is tried by which tests.
PACKAGES = {
    "dask": CLUSTER,
    "zarr": CLUSTER,
    "wgpu": ["tests/tiledattention/test_webgpu.py", "tests/blocksim/test_wgsl.py"],
    "playwright": PAGES,
}
VENDORED = {
    "katex": ["tests/livepage/test_site_extension.py"],
    "micropython": [*PAGES, "tests/blocksim/test_blocksim.py"],
}
TRIES = PACKAGES | VENDORED
BESIDE = {"dask": ["dask[array]", "distributed"]}  # what has to be of one version
KEEP = {
    "package": "the lock holds {old}, so nothing is broken yet. Mend the code for both, or"
    " cap {name} in requirements.in with the reason, and run `make lock`",
    "vendored": "the repository holds {old}, so nothing is broken yet. Mend the code, then"
    " `python -m tools.newest --take {name}`; or stay, and say why in VENDOR.yml",
}


def fetch(npm: str) -> tuple[str, dict[str, bytes]]:
    """Return the newest version of an npm package, and its files by path."""
    with urlopen(f"{NPM}{quote(npm, safe='@')}/latest") as answer:
        latest = json.load(answer)
    with urlopen(latest["dist"]["tarball"]) as answer:
        packed = io.BytesIO(answer.read())
    with tarfile.open(fileobj=packed) as archive:
        members = [member for member in archive if member.isfile()]
        files = {each.name: archive.extractfile(each).read() for each in members}
    return latest["version"], files


def take(name: str, root: Path) -> tuple[str, str]:
    """Put the newest version of something vendored in place; return the two versions."""
    folder = root / VENDOR / name
    record = folder / "VENDOR.yml"
    text = record.read_text("utf-8")
    vendored = yaml.safe_load(text)
    old = str(vendored["version"])
    newest, files = fetch(vendored["npm"])
    for file, digest in vendored["files"].items():
        same = [path for path in files if path.endswith(f"/{file}")]
        if same:  # a licence may come from elsewhere
            content = files[min(same, key=len)]
            (folder / file).write_bytes(content)
            text = text.replace(digest, hashlib.sha256(content).hexdigest())
    record.write_text(text.replace(old, newest), "utf-8")
    return old, newest


def upgrade(name: str, folder: Path) -> tuple[str, str]:
    """Install the newest version of a package in a folder; return the two versions."""
    pip = [sys.executable, "-m", "pip", "install", "-q", "--target", folder]
    subprocess.run([*pip, *BESIDE.get(name, [name])], check=True)
    (found,) = folder.glob(f"{name}-*.dist-info")
    return version(name), found.stem.removeprefix(f"{name}-")


def attempt(name: str) -> bool:
    """Try the newest version of one thing; return whether its tests pass."""
    with tempfile.TemporaryDirectory() as at:
        copy, packages = Path(at, "book"), Path(at, "packages")
        copy_of_the_book(copy)
        kind = "vendored" if name in VENDORED else "package"
        versions = take(name, copy) if name in VENDORED else upgrade(name, packages)
        env = environment_of(copy)
        env["PYTHONPATH"] = os.pathsep.join([str(packages), env["PYTHONPATH"]])
        command = [sys.executable, "-m", "pytest", "-q", "-n0", *TRIES[name]]
        pipe = {"stdout": subprocess.PIPE, "encoding": "utf-8"}
        done = subprocess.run(command, cwd=copy, env=env, **pipe)
    old, newest = versions
    if done.returncode == 0 and " passed" in done.stdout:  # not all of them skipped
        print(f"  {name} {newest} (here {old}): its tests pass", flush=True)
        return True
    print(done.stdout)
    advice = KEEP[kind].format(name=name, old=old)
    print(f"  {name} {newest}: its tests FAIL; {advice}", flush=True)
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(TRIES))
    parser.add_argument("--take", choices=list(VENDORED), metavar="NAME")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in TRIES]:
        parser.error(f"NAME: expected one of {', '.join(TRIES)}; got {unknown[0]}")
    if options.take:
        old, newest = take(options.take, ROOT)
        print(f"  {options.take}: {newest} in the place of {old}")
        return 0
    passed = [attempt(name) for name in options.names or TRIES]
    return not all(passed)


if __name__ == "__main__":
    sys.exit(main())
