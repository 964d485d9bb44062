"""What is vendored is what it was, and says where it comes from and who may use it."""

import hashlib
import re
from pathlib import Path

import pytest
import yaml
from fontTools.ttLib import TTFont

from livepage.site.builder import licences_of_vendored

VENDOR = Path(__file__).parents[2] / "lib" / "livepage" / "vendor"
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


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.parent.name)
def test_the_copyright_of_fonts_is_the_one_that_they_state(record: Path) -> None:
    vendor = yaml.safe_load(record.read_text(encoding="utf-8"))
    stated = set()
    for file in record.parent.rglob("*.woff2"):
        names = TTFont(file)["name"]
        stated.add(" ".join(names.getDebugName(0).split()))
        assert "OFL" in vendor["licence"]
        assert re.search("OFL|openfontlicense", names.getDebugName(14))
    assert stated == ({vendor["copyright"]} if stated else set())


def test_the_licences_of_what_a_site_holds_travel_with_it() -> None:
    text = licences_of_vendored()
    for record in RECORDS:
        vendor = yaml.safe_load(record.read_text(encoding="utf-8"))
        if vendor["name"] == "acorn":  # which only builds use
            continue
        licence = (record.parent / "LICENSE").read_text(encoding="utf-8")
        assert licence in text and vendor.get("copyright", "") in text


def test_everything_vendored_has_a_record() -> None:
    folders = {record.parent for record in RECORDS}
    for path in VENDOR.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert folders & set(path.parents), f"{path} has no VENDOR.yml above it"
