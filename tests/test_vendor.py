"""What is vendored is what it was, and says where it comes from and who may use it."""

import hashlib
import re
from pathlib import Path

import pytest
import yaml

VENDOR = Path(__file__).parents[1] / "lib" / "livepage" / "vendor"
RECORDS = sorted(VENDOR.glob("**/VENDOR.yml"))


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.parent.name)
def test_vendored_files_are_what_they_were(record: Path) -> None:
    vendor = yaml.safe_load(record.read_text(encoding="utf-8"))
    assert not {"name", "version", "licence", "source"} - {
        k for k in vendor if vendor[k]
    }
    sums = {
        path.relative_to(record.parent).as_posix(): hashlib.sha256(
            path.read_bytes()
        ).hexdigest()
        for path in record.parent.rglob("*")
        if path.is_file() and path != record
    }
    assert sums == vendor["files"]
    assert [name for name in sums if re.search("LICEN|OFL", name, re.I)], sums


def test_everything_vendored_has_a_record() -> None:
    folders = {record.parent for record in RECORDS}
    for path in VENDOR.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert folders & set(path.parents), f"{path} has no VENDOR.yml above it"
