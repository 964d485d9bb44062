"""The page of livepage's README, built from its four files and used as by a reader."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tools.common.readmes import build_project, files

from .axe import wrong

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LIB = Path(__file__).parents[2] / "lib"
RIGHT = """from numba import cuda, float32

@cuda.jit
def reverse(x, y):
    tile = cuda.shared.array(4, float32)
    tile[cuda.threadIdx.x] = x[cuda.grid(1)]
    cuda.syncthreads()
    y[cuda.grid(1)] = tile[3 - cuda.threadIdx.x]
"""


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, built here; or the one that the rehearsal of a release has built."""
    if built := os.environ.get("PAGE_OF_YOUR_OWN"):
        return Path(built)
    folder = tmp_path_factory.mktemp("own")
    for name, text in files(
        (LIB / "livepage" / "README.md").read_text("utf-8")
    ).items():
        (folder / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "project" / name).write_text(text, "utf-8")
    build_project(folder / "project", folder / "html", LIB)
    return folder / "html" / "index.html"


def drill(page: Page, name: str, answer: str, button: str):
    section = page.locator(f"#drill-{name}")
    section.get_by_role("textbox").fill(answer)
    section.get_by_role("button", name=button, exact=True).click()
    return section.locator(".os-drill-feedback")


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_the_page_of_an_author_s_own(page_file: Path, open_page, width, dark) -> None:
    page = open_page(page_file, width=width, dark=dark)
    expect(page).to_have_title("Kernels of my own")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    slider = page.get_by_role("slider", name="threads in a block")
    box = slider.bounding_box()
    assert box["x"] + box["width"] < width - 16  # within the frame of the figure
    slider.press("End")
    expect(page.get_by_role("img", name="block of 16 threads")).to_be_visible()
    expect(page.locator(".os-sweep-bar output")).to_have_text("16")
    assert not wrong(page)


def test_its_drill_and_its_puzzle_say_what_is_wrong(page_file: Path, open_page) -> None:
    page = open_page(page_file)
    feedback = drill(page, "partner", "6", "Check")
    expect(feedback).to_contain_text("That reverses the whole array.")
    expect(drill(page, "partner", "10", "Check")).to_contain_text("Right")
    hasty = RIGHT.replace("    cuda.syncthreads()\n", "")
    feedback = drill(page, "reverse", hasty, "Run")
    expect(feedback).to_contain_text("no barrier makes the reader wait")
    feedback = drill(page, "reverse", RIGHT, "Run")
    expect(feedback).to_contain_text("Right")
    expect(feedback).not_to_contain_text("All 1 cases")
