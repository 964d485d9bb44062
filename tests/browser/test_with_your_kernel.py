"""With your kernel: the model reads and writes with the kernel that a device keeps."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import speaker
from livepage import drills, figures
from livepage.drills.bank import find
from onlinesoftmax import dense

from .axe import wrong
from .conftest import go
from .test_drills import write_page, write_scripts
from .test_gpu_card import COUNTS_DEVICES, FAILURES, visit, with_gpu  # noqa: F401

pytestmark = pytest.mark.browser

RIGHT = find("tiled-attention").get("code")
ALPHA = "alpha = math.exp(m - m_new)"
# It rescales in the drill's width, and forgets it in the model's.
NO_RESCALE = RIGHT.replace(ALPHA, f"{ALPHA} if D == 3 else float32(1)")
ONE_TOKEN, PARAGRAPH = "One token, on the simulator", "A paragraph, on your GPU"
LATER = ("gpu.js", "gpu.css", "model-loaded.js", "speaker.js", "micropython.js")
SHORT = ("const LENGTH = 60", "const LENGTH = 8")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("use")
    write_scripts(folder)
    (folder / "figures").mkdir()
    loaded = figures.loaded_script("model")
    (folder / "figures" / "model-loaded.js").write_text(loaded)
    (folder / "drills" / "uses").mkdir()
    lay(folder)
    for lang in ("en", "es"):
        write_page(folder / f"{lang}.html", drills.use_html("speaker", lang), lang)
    return folder


def lay(folder: Path, *changes: tuple[str, str]) -> None:
    """Lay the use's script, with a short paragraph unless a test wants the whole."""
    script = drills.use_script("speaker")
    for old, new in changes or (SHORT,):
        assert old in script
        script = script.replace(old, new)
    (folder / "drills" / "uses" / "speaker.js").write_text(script)


def keep(page: Page, text: str) -> None:
    """Let the device keep this text of the capstone."""
    script = "text => livepageDrills.store.keep('tiled-attention', 'code', text)"
    page.evaluate(script, text)


def keeping(page: Page, text: str) -> Page:
    """The page of a device that keeps this text."""
    keep(page, text)
    page.reload()
    return page


def press(page: Page, name: str) -> Locator:
    """Press a button; return what is said."""
    page.get_by_role("button", name=name).press("Enter")
    return page.locator(".os-gpu-status")


def ended(page: Page, name: str) -> str:
    """What is said when it is over: until then the buttons are disabled."""
    said = press(page, name)
    expect(page.locator('[data-way][aria-disabled="true"]')).to_have_count(0)
    return said.inner_text()


NUMBER = (
    r"off by (?:at most |up to )?(\d+(?:\.\d+)?)(?:\u00a0×\u00a010([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?"
)


def offs(said: str) -> float:
    """How far off the logits are, in what is said."""
    digits, power = re.search(NUMBER, said).groups()
    exponent = (power or "⁰").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(f"{digits}e{exponent}")


def likeliest(prompt: str) -> list[tuple[str, float]]:
    """The five tokens that are likeliest to follow, as they are shown."""
    model = speaker.load()
    logits = model.forward(model.encode(prompt), model.attention)[-1]
    chances = 100 * dense.softmax(logits)
    best = np.argsort(-chances)[:5]
    return [(model.vocabulary[i].replace(" ", "␣"), chances[i]) for i in best]


# ---- what goes well


def test_one_token_on_the_simulator_is_the_definitions(site, visit) -> None:  # noqa: F811
    page = keeping(visit(site / "en.html", width=390), RIGHT)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rsplit("/")[-1]))
    own = page.locator(".os-use-own")
    expect(own).to_contain_text(
        "keeps a kernel of yours, from the capstone of chapter 9"
    )
    expect(page.locator(".os-use-none")).to_be_hidden()
    assert not asked
    said = ended(page, ONE_TOKEN)
    prompt, model = "The largest score", speaker.load()
    right = model.write(prompt, 1).removeprefix(prompt)
    assert f"Your kernel chooses “{right}”, as the definition does." in said
    assert f"all {len(model.vocabulary)} tokens" in said and offs(said) < 1e-5
    expect(page.locator(".os-gpu-status")).to_be_focused()
    rows = page.locator(".os-gpu-body tbody tr").all()
    cells = [row.locator("td").all_text_contents() for row in rows]
    expected = [f"{token} {chance:.3g}%" for token, chance in likeliest(prompt)]
    assert cells == [[text, text] for text in expected]
    assert set(asked) >= set(LATER) and len(asked) == len(set(asked))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert not wrong(page)


def test_a_paragraph_on_the_gpu_is_the_definitions_to_the_letter(
    site,
    visit,  # noqa: F811
) -> None:
    lay(site, ("const LENGTH = 60", "const LENGTH = 12"))
    page = keeping(visit(site / "en.html", dark=True), RIGHT)
    said = ended(page, PARAGRAPH)
    lay(site)
    assert re.search(
        r"Your kernel wrote 12 tokens on .*swiftshader, [\d.]+ a second", said, re.I
    )
    assert "the definition's text, to the letter" in said and 0 < offs(said) < 1e-3
    text = speaker.load().write("The maximum", 12, 0.6, seed=1)
    assert page.locator(".os-use-text").all_text_contents() == [text]
    expect(page.locator(".os-gpu-body")).to_contain_text(
        "a program that stands in for one"
    )
    assert not wrong(page)
    ended(page, PARAGRAPH)
    assert page.locator(".os-use-text").first.text_content() != text  # another one


def test_without_a_text_the_books_own_goes_in_and_is_called_so(site, visit) -> None:  # noqa: F811
    page = visit(site / "en.html")
    expect(page.locator(".os-use-own")).to_be_hidden()
    link = page.locator(".os-use-none a")
    expect(link).to_have_attribute("href", re.compile("^09-.*#drill-tiled-attention$"))
    assert ended(page, ONE_TOKEN).startswith("The book's kernel chooses")
    assert ended(page, PARAGRAPH).startswith("The book's kernel wrote 8 tokens")


def test_spanish_readers_are_told_in_spanish(site, visit) -> None:  # noqa: F811
    page = keeping(visit(site / "es.html"), RIGHT)
    page.get_by_role("button", name="Un token").press("Enter")
    said = page.locator(".os-gpu-status")
    expect(said).to_contain_text("Tu kernel elige")
    expect(said).to_contain_text("igual que la definición")


# ---- a kernel that is wrong here


def test_a_kernel_that_forgets_a_rescale_here_is_said_to_be_wrong(site, visit) -> None:  # noqa: F811
    page = keeping(visit(site / "en.html"), NO_RESCALE)
    said = ended(page, ONE_TOKEN)
    assert said.startswith("Your kernel is wrong here") and offs(said) > 0.1
    assert "as the definition does" not in said
    lay(site, ("const LENGTH = 60", "const LENGTH = 30"))
    page.reload()
    said = ended(page, PARAGRAPH)
    lay(site)
    assert "It is wrong: at token" in said and offs(said) > 0.1
    own, right = page.locator(".os-use-text").all_text_contents()
    assert right == speaker.load().write("The maximum", 30, 0.6, seed=1)
    place = int(re.search(r"at token (\d+)", said)[1])
    same = speaker.load().write("The maximum", place - 1, 0.6, seed=1)
    assert own.startswith(same) and own != right
    assert (
        page.locator(".os-use-text mark").first.text_content() != right[len(same) :][:1]
    )


def test_numbers_that_are_none_are_counted_and_nothing_is_chosen(site, visit) -> None:  # noqa: F811
    page = keeping(visit(site / "en.html"), RIGHT.replace("range(D)", "range(3)"))
    none = (
        f"{len(speaker.load().vocabulary)} of {len(speaker.load().vocabulary)} logits"
    )
    said = ended(page, ONE_TOKEN)
    assert said.startswith("Your kernel is wrong here") and none in said
    assert "NaN" in page.locator(".os-gpu-body table").inner_text()
    said = ended(page, PARAGRAPH)
    assert "It is wrong" in said and none in said and "wrote 0 tokens" in said


def test_a_race_that_only_these_sizes_have_is_told(site, visit) -> None:  # noqa: F811
    meets = "        cuda.syncthreads()\n    if"
    racing = RIGHT.replace(meets, f"        if D == 3:\n    {meets}")
    assert racing != RIGHT
    page = keeping(visit(site / "en.html"), racing)
    assert "In the sizes that are needed here the simulator finds a fault: " in ended(
        page, ONE_TOKEN
    )


# ---- a text that does not go in


def test_a_text_that_fails_the_drill_does_not_go_in(site, visit) -> None:  # noqa: F811
    page = keeping(visit(site / "en.html"), RIGHT.replace(ALPHA, "alpha = float32(1)"))
    page.evaluate("livepageDrills.store.pass('tiled-attention', 0)")  # it was done once
    for name in (ONE_TOKEN, PARAGRAPH):
        said = ended(page, name)
        assert "does not pass your text as it stands" in said
        assert "expected 6.7998" in said
    page.get_by_role("button", name="Take the book's own").press("Enter")
    said = page.locator(".os-gpu-status")
    expect(said).to_contain_text("The book's kernel wrote 8 tokens")


def test_a_text_that_passed_and_was_changed_is_tried_anew(site, visit) -> None:  # noqa: F811
    page = keeping(visit(site / "en.html"), RIGHT)
    assert ended(page, ONE_TOKEN).startswith("Your kernel chooses")
    keep(page, RIGHT.replace(ALPHA, "alpha = float32(1)"))
    assert "does not pass your text" in ended(page, ONE_TOKEN)


def test_a_text_without_the_names_is_refused_in_a_sentence(site, visit) -> None:  # noqa: F811
    text = RIGHT.replace("BR, BC, D = 8, 4, 3", "BR, BC = 8, 4").replace("D", "3")
    page = keeping(visit(site / "en.html"), text)
    for name in (ONE_TOKEN, PARAGRAPH):
        assert "gives D no whole number by that name" in ended(page, name)


# ---- stopped, missing, refused


def test_stop_ends_it_and_it_can_begin_again(site, visit) -> None:  # noqa: F811
    lay(site, ("const LENGTH = 60", "const LENGTH = 6000"))
    page = visit(site / "en.html")
    said = press(page, PARAGRAPH)
    expect(page.locator(".os-use-text")).to_contain_text(re.compile(".{40}"))
    expect(page.get_by_role("button", name="Stop")).to_be_focused()
    expect(page.get_by_role("button", name=ONE_TOKEN)).to_have_attribute(
        "aria-disabled", "true"
    )
    page.keyboard.press("Enter")
    lay(site)
    expect(said).to_have_text("Stopped.")
    expect(said).to_be_focused()
    expect(page.locator(".os-use-text")).to_have_count(1)  # what was written stays
    assert ended(page, ONE_TOKEN).startswith("The book's kernel chooses")


def test_who_presses_twice_is_answered_once(site, visit) -> None:  # noqa: F811
    page = visit(site / "en.html", COUNTS_DEVICES)
    button = page.get_by_role("button", name=PARAGRAPH)
    page.evaluate(HEARS)
    button.evaluate("(it) => { it.click(); it.click(); }")
    said = page.locator(".os-gpu-status")
    expect(said).to_contain_text("wrote 8 tokens")
    assert page.evaluate("devices") == 1
    assert page.evaluate("heard").count("Another kernel") == 0


HEARS = """() => {
  globalThis.heard = "";
  const hear = (changes) => changes.forEach(({ addedNodes }) =>
    addedNodes.forEach((node) => { heard += node.textContent; }));
  const what = { childList: true, subtree: true };
  new MutationObserver(hear).observe(document.querySelector(".os-use"), what);
}"""


@pytest.mark.parametrize("what", ["no WebGPU", "no adapter", "lost"])
def test_a_gpu_that_fails_is_one_sentence(site, visit, what: str) -> None:  # noqa: F811
    before, sentence = FAILURES[what][:2]
    page = visit(site / "en.html", before)
    said = press(page, PARAGRAPH)
    expect(said).to_contain_text(sentence)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)


@pytest.mark.parametrize("gone", ["drills/uses/speaker.js", "figures/model-loaded.js"])
def test_what_cannot_be_loaded_is_said_and_tried_again(site, visit, gone: str) -> None:  # noqa: F811
    page = visit(site / "en.html")
    text = (site / gone).read_text()
    (site / gone).unlink()
    page.get_by_role("button", name=ONE_TOKEN).press("Enter")
    note = page.locator(".os-use-note")
    expect(note).to_contain_text("could not be loaded")
    (site / gone).write_text(text)
    assert ended(page, ONE_TOKEN).startswith("The book's kernel chooses")
    expect(note).to_have_text("")
    assert not [f for f in page.tattler.faults if "ERR_FILE_NOT_FOUND" not in f]
    page.tattler.faults.clear()


def test_another_tab_that_writes_a_kernel_is_heard_of(site, visit) -> None:  # noqa: F811
    page = visit(site / "en.html")
    other = go(page.context.new_page(), site / "en.html")
    keep(other, RIGHT)
    expect(page.locator(".os-use-own")).to_be_visible()
