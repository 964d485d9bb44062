"""The card "On your GPU": a kernel on Chromium's GPU in software, and all that goes wrong."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Playwright, expect

from livepage.drills.bank import bank, read
from livepage.drills.entry import Drill
from livepage.drills.forms import Card
from livepage.markup import plain_maths
from tools.faults import unseen
from tools.site.chromium import WEBGPU

from .axe import wrong
from .conftest import ALONE, AS_FOR_READERS, go, new_window, open_chromium
from .test_drills import write_page, write_scripts

pytestmark = pytest.mark.browser

SMALL = read(Path(__file__).parents[1] / "kernels")["neighbour"]
RIGHT = SMALL.get("code")
CAPSTONE = bank()["tiled-attention"]
# So little shared memory that of the rungs only two fit.
LITTLE = """Object.defineProperty(
  GPUSupportedLimits.prototype, "maxComputeWorkgroupStorageSize", { get: () => 9000 },
);"""


# What has had the focus, one after the other: a run may end before anybody looks.
FOCUSED = """() => {
  globalThis.focused = [];
  document.addEventListener("focusin", ({ target }) => focused.push(target.textContent));
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages with a small kernel and with the capstone."""
    folder = tmp_path_factory.mktemp("gpu")
    write_scripts(folder)
    for lang in ("en", "es"):
        write_page(folder / f"{lang}.html", card_of(SMALL, lang), lang)
    write_page(folder / "capstone.html", card_of(CAPSTONE, "en"))
    small = card_of(SMALL, "en")
    other = small.replace("neighbour", "another")
    write_page(folder / "two.html", small + other)
    return folder


def card_of(drill: Drill, lang: str) -> str:
    return Card(drill, lang, plain_maths).section()


@pytest.fixture(scope="module")
def with_gpu(playwright: Playwright, chromium: str) -> Iterator[Browser]:
    """A Chromium that opens a GPU in software."""
    started = open_chromium(playwright.chromium, chromium, [*WEBGPU, ALONE])
    yield started
    started.close()


@pytest.fixture
def visit(with_gpu: Browser) -> Iterator[Callable[..., Page]]:
    """Open a page, after a script; whatever it logs as an error fails the test."""
    opened = []

    def open_one(where: Path, before: str = "", **window) -> Page:
        page = new_window(with_gpu, **window)
        opened.append(page)
        page.add_init_script(before)
        return go(page, where)

    yield open_one
    faults = [fault for page in opened for fault in page.tattler.faults]
    for page in opened:
        page.context.close()
    assert not faults


def passed(page: Page, source: str = RIGHT) -> Locator:
    """Let the simulator pass a text; return its drill."""
    return solved(page.locator(".os-drill"), source)


def solved(section: Locator, source: str = RIGHT) -> Locator:
    section.locator("textarea").fill(source)
    section.locator(".os-drill-main").click()
    expect(section).to_have_attribute("data-state", "right")
    return section


def start(section: Locator) -> Locator:
    """Press the card's button; return what it says."""
    section.locator(".os-gpu > .os-drill-actions button").click()
    return section.locator(".os-gpu-status")


def begun(page: Page, source: str = RIGHT) -> Locator:
    return start(passed(page, source))


# ---- what goes well


def test_a_kernel_that_passed_runs_and_an_edit_takes_it_back(site, visit) -> None:
    page = visit(site / "en.html")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rsplit("/")[-1]))
    card = page.locator(".os-gpu")
    expect(card).to_be_hidden()
    section = passed(page)
    expect(card).to_contain_text("The simulator has passed this text.")
    assert "gpu.js" not in asked and "gpu.css" not in asked
    said = start(section)
    expect(said).to_contain_text("in all 5 launches. The largest error is")
    expect(said).to_be_focused()
    expect(card).to_contain_text("a program that stands in for one on your processor")
    expect(card).not_to_contain_text("Its times")  # none were taken
    assert not wrong(page)
    card.get_by_text("What your GPU is given").click()
    expect(card.locator("pre")).to_contain_text("@compute @workgroup_size(4, 1, 1)")
    assert asked.count("gpu.js") == asked.count("gpu.css") == 1
    section.locator("textarea").fill(f"{RIGHT}\n")
    expect(card).to_be_hidden()
    assert not card.locator("pre").count()
    passed(page)
    expect(card).to_be_visible()


def test_the_capstone_is_guessed_checked_timed_and_copied(site, visit) -> None:
    page = visit(site / "capstone.html", LITTLE, width=390)
    card = page.locator(".os-gpu")
    expect(card).to_contain_text("Once the simulator has passed your kernel")
    button = card.get_by_role("button", name="Run on your GPU")
    expect(button).to_have_attribute("aria-disabled", "true")
    button.press("Enter")
    expect(card.locator("fieldset")).to_have_count(0)
    passed(page, CAPSTONE.get("code"))
    button.press("Enter")
    card.get_by_role("button", name="Measure it").press("Enter")
    expect(card.locator(".os-gpu-status")).to_have_text(re.compile("Guess first"))
    card.get_by_label("up to twice as fast").check()
    page.evaluate(FOCUSED)
    card.get_by_role("button", name="Measure it").press("Enter")
    table = card.locator("table")
    expect(table).to_be_visible()
    assert page.evaluate("focused")[-2] == "Stop"  # it has given way to the status
    names = table.locator("tbody th").all_text_contents()
    assert names == ["naive", "yours", "tiled"]
    assert (
        table.locator("tbody tr").nth(2).locator("td").first.text_content() == "64 × 16"
    )
    rates = [float(x) for x in table.locator("td:nth-child(4)").all_text_contents()]
    times = [float(x) for x in table.locator("td:nth-child(3)").all_text_contents()]
    n = int(re.search(r"N = (\d+)", card.inner_text())[1])
    for rate, ms in zip(rates, times):
        assert rate == pytest.approx(4 * n * n * 64 / ms / 1e6, rel=0.02)
    expect(card).to_contain_text(
        re.compile(r"registers does not fit. .* \d+ bytes .* has 9000")
    )
    expect(card).to_contain_text("patches does not fit.")
    expect(card).to_contain_text("Your guess was “It is up to twice as fast”")
    expect(card).to_contain_text("flat part of your roofline: a plain loop")
    all_rows = f"all rows at N = 200, and {n if n <= 512 else 64} rows at N = {n}"
    expect(card).to_contain_text(
        f"the shortest of 3. Compared with float64: {all_rows}"
    )
    expect(card).to_contain_text("Its times say nothing about GPUs.")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    card.get_by_role("button", name="Copy as text").press("Enter")
    expect(card).to_contain_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "yours\t64 × 16\t" in copied and "stands in for one" in copied
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
    assert not wrong(page)


def test_spanish_readers_are_told_in_spanish(site, visit) -> None:
    said = begun(visit(site / "es.html", dark=True))
    expect(said).to_contain_text("en los 5 lanzamientos")


# ---- who has passed what, who is where


COUNTS_DEVICES = """globalThis.devices = 0;
const ask = GPUAdapter.prototype.requestDevice;
GPUAdapter.prototype.requestDevice = function (...given) {
  devices += 1;
  return ask.apply(this, given);
};"""
NEVER = "GPUQueue.prototype.onSubmittedWorkDone = () => new Promise(() => {})"


def test_who_presses_twice_is_answered_once(site, visit) -> None:
    page = visit(site / "en.html", COUNTS_DEVICES)
    section = passed(page)
    section.get_by_role("button", name="Run on your GPU").evaluate(
        "(it) => { it.click(); it.click(); it.click(); }"
    )
    expect(section.locator(".os-gpu-status")).to_contain_text("in all 5 launches")
    assert page.evaluate("devices") == 1


def test_one_kernel_at_a_time_has_the_gpu(site, visit) -> None:
    page = visit(site / "two.html", NEVER)
    first, second = page.locator(".os-drill").all()
    solved(first)
    solved(second, RIGHT.replace("neighbour", "another"))
    expect(start(first)).to_contain_text("Launch 1 of 5")
    expect(start(second)).to_contain_text("Another kernel has the GPU just now")
    first.get_by_role("button", name="Stop").press("Enter")
    expect(start(second)).to_contain_text("Launch 1 of 5")


def test_a_run_that_ends_takes_nobody_from_elsewhere(site, visit) -> None:
    page = visit(site / "two.html")
    first, second = page.locator(".os-drill").all()
    said = start(solved(first))
    second.locator("textarea").focus()
    expect(said).to_contain_text("in all 5 launches")
    expect(second.locator("textarea")).to_be_focused()


def test_a_run_that_begins_takes_nobody_from_elsewhere(site, visit) -> None:
    """What runs is fetched first; meanwhile the reader has gone on to the next drill."""
    page = visit(site / "two.html", NEVER)
    first, second = page.locator(".os-drill").all()
    solved(first)
    page.evaluate(
        """() => {
          const [first, second] = document.querySelectorAll(".os-drill");
          first.querySelector(".os-gpu > .os-drill-actions button").click();
          second.querySelector("textarea").focus();
        }"""
    )
    expect(first.get_by_role("button", name="Stop")).to_be_visible()
    expect(second.locator("textarea")).to_be_focused()


def test_a_text_that_was_changed_while_it_was_judged_has_not_passed(
    site, visit
) -> None:
    page = visit(site / "en.html")
    section = page.locator(".os-drill")
    section.locator("textarea").fill(RIGHT)
    section.evaluate(
        """(it) => {
          it.querySelector(".os-drill-main").click();
          const area = it.querySelector("textarea");
          area.value += "#";
          area.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
    )
    expect(section).to_have_attribute("data-state", "right")
    expect(section.locator(".os-gpu")).to_be_hidden()


def test_an_edit_in_another_tab_takes_it_back_too(site, visit) -> None:
    page = visit(site / "en.html")
    said = begun(page)
    expect(said).to_contain_text("in all 5 launches")
    other = go(page.context.new_page(), site / "en.html")
    other.locator("textarea").fill(f"{RIGHT}#")
    other.locator("textarea").blur()
    page.bring_to_front()
    expect(page.locator("textarea")).to_have_value(f"{RIGHT}#")
    expect(page.locator(".os-gpu")).to_be_hidden()


ONLY_SMALL = RIGHT.replace("    if i < n", "    if i < n and cuda.blockIdx.x < 4")


def test_a_kernel_that_fails_on_more_blocks_may_be_at_fault(site, visit) -> None:
    section = passed(visit(site / "en.html"), ONLY_SMALL)
    said = start(section)
    expect(said).to_contain_text("in a launch of 16 blocks")
    section.get_by_role("button", name="Run larger").click()
    expect(section).to_have_attribute("data-state", "wrong")
    expect(section.locator(".os-gpu")).to_be_hidden()


# ---- what goes wrong: one sentence, and the page goes on


FAILURES = {
    "not secure": (
        "Object.defineProperty(globalThis, 'isSecureContext', { value: false })",
        "only to pages that come over https",
    ),
    "no WebGPU": ("delete Navigator.prototype.gpu", "it has no WebGPU"),
    "no adapter": (
        "GPU.prototype.requestAdapter = async () => null",
        "finds no GPU that it may use",
    ),
    "no device": (
        "GPUAdapter.prototype.requestDevice = async () => { throw new Error() }",
        "finds no GPU that it may use",
    ),
    "lost": (
        """const submit = GPUQueue.prototype.submit;
        const ask = GPUAdapter.prototype.requestDevice;
        GPUAdapter.prototype.requestDevice = async function (...given) {
          globalThis.device = await ask.apply(this, given);
          return device;
        };
        GPUQueue.prototype.submit = function (work) {
          submit.call(this, work);
          device.destroy();
        };""",
        "took the GPU away",
    ),
    "lost while numbers are read": (
        """const ask = GPUAdapter.prototype.requestDevice;
        GPUAdapter.prototype.requestDevice = async function (...given) {
          globalThis.device = await ask.apply(this, given);
          return device;
        };
        const map = GPUBuffer.prototype.mapAsync;
        GPUBuffer.prototype.mapAsync = function (...given) {
          const mapped = map.apply(this, given);
          device.destroy();
          return mapped;
        };""",
        "took the GPU away",
    ),
    "no reason given": (
        "GPUBuffer.prototype.mapAsync = () => Promise.reject()",
        "That did not work: ?. The page and the simulator go on.",
    ),
    "hung": (
        f"""{AS_FOR_READERS}
        GPUQueue.prototype.onSubmittedWorkDone = () => new Promise(() => {{}})""",
        "has not answered for 5 seconds",
    ),
    "hung before a launch": (
        AS_FOR_READERS
        + """const kinds = [];
        const push = GPUDevice.prototype.pushErrorScope;
        const pop = GPUDevice.prototype.popErrorScope;
        GPUDevice.prototype.pushErrorScope = function (kind) {
          kinds.push(kind);
          push.call(this, kind);
        };
        GPUDevice.prototype.popErrorScope = async function () {
          const found = await pop.call(this);
          return kinds.pop() === "validation" ? found : new Promise(() => {});
        };""",
        "has not answered for 5 seconds",
    ),
    "no memory": (
        """const pop = GPUDevice.prototype.popErrorScope;
        GPUDevice.prototype.popErrorScope = async function () {
          await pop.call(this);
          return new GPUOutOfMemoryError("none left");
        };""",
        "has no room for these arrays",
    ),
    "hidden": (
        """GPUQueue.prototype.onSubmittedWorkDone = () => {
          Object.defineProperty(document, "hidden", { get: () => true });
          document.dispatchEvent(new Event("visibilitychange"));
          return new Promise(() => {});
        };""",
        "You left this tab",
    ),
    "wrong numbers": (
        """const map = GPUBuffer.prototype.getMappedRange;
        GPUBuffer.prototype.getMappedRange = function (...given) {
          const bytes = map.apply(this, given);
          if (this.size === 16) new Float32Array(bytes)[1] = 77;
          return bytes;
        };""",
        "the numbers are wrong, in the launch: one block",
    ),
}


@pytest.mark.parametrize("what", FAILURES)
def test_a_failure_is_one_sentence_and_the_page_goes_on(site, visit, what) -> None:
    before, sentence = FAILURES[what]
    page = visit(site / "en.html", before)
    section = passed(page)
    said = start(section)
    expect(said).to_contain_text(sentence)
    expect(said).to_be_focused()
    button = section.get_by_role("button", name="Run on your GPU")
    expect(button).to_have_attribute("aria-disabled", "false")
    expect(section.get_by_role("button", name="Stop")).to_have_count(0)
    if what == "lost":
        passed(page)  # the simulator goes on


def test_a_barrier_that_the_browser_cannot_prove_is_shown_at_its_line(site, visit):
    parted = RIGHT.replace(
        "    cuda.syncthreads()", "    if t >= 0:\n        cuda.syncthreads()"
    )
    page = visit(site / "en.html")
    line = parted.splitlines().index("        cuda.syncthreads()") + 1
    said = begun(page, parted)
    expect(said).to_contain_text(f"Line {line}: the browser cannot prove")
    expect(said).to_contain_text(f"because line {line - 1} may send")
    marked = page.locator(".os-drill-gutter .os-drill-fault")
    assert marked.all_text_contents() == [str(line)]


ENDLESS = """
        k = 0
        while n > 50 and k >= 0:
            k = (k + 1) % 7
        y[i] = tile[(t + 1) % last]"""


def test_a_loop_that_never_ends_is_ended(site, visit) -> None:
    endless = RIGHT.replace("\n        y[i] = tile[(t + 1) % last]", ENDLESS)
    said = begun(visit(site / "en.html"), endless)
    expect(said).to_contain_text("more than a million turns")


def test_a_reader_can_stop_and_begin_again(site, visit) -> None:
    section = passed(visit(site / "en.html", NEVER))
    said = start(section)
    expect(said).to_contain_text("Launch 1 of 5")
    section.get_by_role("button", name="Stop").press("Enter")
    expect(said).to_have_text("Stopped.")
    expect(said).to_be_focused()
    expect(start(section)).to_contain_text("Launch 1 of 5")
    section.locator("textarea").press("End")
    section.locator("textarea").press("Space")
    expect(section.locator(".os-gpu")).to_be_hidden()


def test_a_size_that_is_typed_gives_wrong_numbers_where_it_is_timed(
    site, visit
) -> None:
    typed = CAPSTONE.get("code").replace("* BR + t", "* 8 + t")
    page = visit(site / "capstone.html", LITTLE)
    begun(page, typed)
    page.get_by_label("up to twice as fast").check()
    page.get_by_role("button", name="Measure it").click()
    said = page.locator(".os-gpu-status")
    expect(said).to_contain_text(
        "Your kernel gives wrong numbers at N = 200, for example in row"
    )
    expect(said).to_contain_text("with BC = 16, BR = 64, D = 64.")
    expect(said).to_contain_text("(BC, BR, D) written as a number")


FULL = 512  # rows and keys


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capstone, whose kernel is checked at full size at once."""
    page = unseen.lay_out(tmp_path_factory.mktemp("full"), CAPSTONE)
    script = page.with_name("gpu.js")
    text = script.read_text()
    assert text.count("CHECKED = 200;") == 1
    script.write_text(text.replace("CHECKED = 200;", f"CHECKED = {FULL};"))
    return page


@pytest.mark.parametrize("barrier", ["copy", "folding"])
def test_a_race_at_full_size_is_a_wrong_number_in_a_row(full, visit, barrier) -> None:
    """The simulator lets no such kernel pass, so the card is given it without asking."""
    text = dict(unseen.wrong_kernels(CAPSTONE))[f"no barrier after the {barrier}"]
    word, slots = visit(full).evaluate(unseen.TRY, text)
    assert (word, slots["n"]) == ("offYours", FULL)
    assert 0 <= slots["row"] < FULL


def test_a_kernel_that_needs_too_much_in_the_size_that_is_timed_does_not_fit(
    site, visit
) -> None:
    large = CAPSTONE.get("code").replace(
        "    v_tile =", "    more = cuda.shared.array((D, D, 2), float32)\n    v_tile ="
    )
    page = visit(site / "capstone.html")
    begun(page, large)
    page.get_by_label("up to twice as fast").check()
    page.get_by_role("button", name="Measure it").click()
    expect(page.locator(".os-gpu-status")).to_contain_text(
        re.compile(r"With BC = 16, .* does not fit. A block takes 40960 bytes"),
    )


SLOW = """globalThis.slices = [];
const dispatch = GPUComputePassEncoder.prototype.dispatchWorkgroups;
GPUComputePassEncoder.prototype.dispatchWorkgroups = function (count) {
  slices.push(count);
  dispatch.call(this, count);
};
const wait = GPUQueue.prototype.onSubmittedWorkDone;
GPUQueue.prototype.onSubmittedWorkDone = async function () {
  await wait.call(this);
  // clock: a launch takes so long at least; longer, and the slices are smaller still
  await new Promise((resolve) => setTimeout(resolve, 30 * slices.at(-1)));
};"""


def test_a_long_launch_is_cut_into_slices(site, visit) -> None:
    page = visit(site / "en.html", SLOW)
    said = begun(page)
    expect(said).to_contain_text("in all 5 launches")
    slices = page.evaluate("slices")
    assert sum(slices) == 1 + 1 + 2 + 3 + 16  # blocks of the cases
    assert max(slices) <= 2  # at 30 ms each, two are enough for 40


# A clock that sees only kernels without shared memory: the naive one, and the roofline's.
COARSE = """let now = 0, taken = 0;
performance.now = () => now;
const ask = GPUAdapter.prototype.requestDevice;
GPUAdapter.prototype.requestDevice = function (asked) {
  return ask.call(this, { ...asked, requiredFeatures: [] });
};
const takes = new WeakMap();
const module = GPUDevice.prototype.createShaderModule;
GPUDevice.prototype.createShaderModule = function (asked) {
  const made = module.call(this, asked);
  // The roofline's launch is large: slices that take long would be many.
  const seen = asked.code.includes("turns: u32") ? 20 : 100;
  takes.set(made, asked.code.includes("var<workgroup>") ? 0 : seen);
  return made;
};
const pipeline = GPUDevice.prototype.createComputePipelineAsync;
GPUDevice.prototype.createComputePipelineAsync = async function (asked) {
  const made = await pipeline.call(this, asked);
  takes.set(made, takes.get(asked.compute.module));
  return made;
};
const set = GPUComputePassEncoder.prototype.setPipeline;
GPUComputePassEncoder.prototype.setPipeline = function (pipeline) {
  taken = takes.get(pipeline);
  return set.call(this, pipeline);
};
const done = GPUQueue.prototype.onSubmittedWorkDone;
GPUQueue.prototype.onSubmittedWorkDone = async function () {
  await done.call(this);
  now += taken;
};"""


def test_a_clock_that_is_too_coarse_times_nothing(site, visit, tmp_path) -> None:
    """A kernel that took 0 ms was infinitely fast."""
    copy = shutil.copytree(site, tmp_path / "site")
    script = copy / "drills" / "gpu.js"
    text = script.read_text("utf-8")
    script.write_text(re.sub(r" rungs: (\[.*\])\}", first_rung, text), "utf-8")
    page = visit(copy / "capstone.html", COARSE)
    begun(page, CAPSTONE.get("code"))
    page.get_by_label("up to twice as fast").check()
    page.get_by_role("button", name="Measure it").click()
    said = page.locator(".os-gpu-status")
    expect(said).to_contain_text("By this browser's clock the kernel “yours” took no")


def first_rung(listed: re.Match[str]) -> str:
    """Of the rungs only the naive one: to translate the others takes seconds."""
    return f" rungs: {json.dumps(json.loads(listed[1])[:1])}}}"


def test_a_gpu_without_a_name_is_yours(site, visit) -> None:
    nameless = """for (const part of ["vendor", "architecture", "description"])
      Object.defineProperty(GPUAdapterInfo.prototype, part, { get: () => "" });"""
    said = begun(visit(site / "en.html", nameless))
    expect(said).to_contain_text("Right numbers on your GPU, in all 5 launches")


def test_a_runner_that_came_cut_short_is_fetched_again(site, visit) -> None:
    section = passed(visit(site / "en.html"))
    script = site / "drills" / "gpu.js"
    whole = script.read_text()
    script.write_text("")
    try:
        section.locator(".os-gpu > .os-drill-actions button").click()
        expect(section.locator(".os-gpu")).to_contain_text("could not be loaded")
    finally:
        script.write_text(whole)
    expect(start(section)).to_contain_text("in all 5 launches")


def test_without_a_gpu_the_card_says_so_and_logs_nothing(site, open_page) -> None:
    said = begun(open_page(site / "en.html"))
    expect(said).to_contain_text(re.compile("no WebGPU|finds no GPU"))
