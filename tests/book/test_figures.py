"""Every figure: its numbers against the lib's, its words, its still, its scripts.

The checks go over all folders of `livepage.figures`: a new figure is held to them
without a line here. Only check values that a design states by number name a figure.
"""

import gzip
import html
import json
import math
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import jupytext
import pytest

from figure_words import said
from golden import cases, differences
from kernellab import counts
from livepage import book, figures
from livepage.engine import lock
from livepage.figures import pack, registry, v8
from livepage.figures.spec import Spec
from livepage.quantities import quantities
from livepage.words import LANGUAGES
from planting import at_each_place, planted

kernel_race = registry.module("kernel-race")
four_barriers = registry.module("four-barriers")
three_texts = registry.module("six-steps")

ids = pytest.mark.parametrize("figure", registry.ids())

STATES = 200  # at least, for each figure
KILOBYTES = 6  # at most, for each figure's script, compressed
# Kilobytes more: for the text of all kernels, for the log of three runs, for three texts.
TEXTS = {"cost-by-line": 3, "cluster-run": 2, "six-steps": 1}


# ---- the mathematics, once in Python and once in JavaScript ----


def numbers(figure: str, state: dict) -> dict:
    return v8.from_json(v8.run(figure, "compute", state))


@ids
def test_the_figure_computes_what_the_lib_computes(figure: str) -> None:
    states, spec = cases(figure), registry.spec(figure)
    assert len(states) >= STATES
    for state in states:
        got = numbers(figure, state)
        wrong = list(differences(spec.expected(state), got, room=spec.room))
        assert not wrong, (state, wrong[:5])


def arithmetic(figure: str) -> Path:
    """The module that computes: what a figure loads, or its own."""
    names = ("loaded.mjs", "figure.mjs")
    files = [registry.folder(figure) / name for name in names]
    return next(filter(Path.exists, files))


def mutants(figure: str) -> Iterator[str]:
    """The module that computes with one sign, or one division, wrong in its numbers."""
    source = arithmetic(figure).read_text("utf-8")
    end = source.find("// ---- the picture")
    right, wrong = (
        ("Math.exp(", "Math.exp(-") if "Math.exp(" in source else (" / ", " * ")
    )
    for changed in at_each_place(source[:end], right, wrong):
        yield changed + source[end:]


@ids
def test_a_wrong_sign_is_found(figure: str, tmp_path: Path) -> None:
    spec, states = registry.spec(figure), cases(figure)
    planted = list(mutants(figure))
    assert planted, "nothing to plant a fault in"
    for module in registry.folder(figure).glob("*.mjs"):
        shutil.copy(module, tmp_path)
    for source in planted:
        (tmp_path / arithmetic(figure).name).write_text(source, "utf-8")
        made = f"(($given) => {pack.functions(figure, tmp_path)})($given)"
        v8._engine().eval(f'figures["mutant"] = {made}; 0')
        assert any(differs(state, spec) for state in states), source


def differs(state: dict, spec: Spec) -> bool:
    with lock:
        text = v8._engine().call("run", "mutant", "compute", v8.to_json(state))
    wanted = spec.expected(state)
    return any(differences(wanted, v8.from_json(text), room=spec.room))


@ids
def test_the_same_state_is_the_same_picture(figure: str) -> None:
    assert figures.still(figure, {}) == figures.still(figure, {})


# ---- check values that the design states ----


def test_two_chunks() -> None:
    opening = registry.spec("two-chunks").defaults()
    merged = numbers("two-chunks", opening | {"top": 5, "step": 2})
    assert round(merged["shown"], 4) == 2.0446


def test_what_training_without_delta_is_said_to_do() -> None:
    opening = registry.spec("training").defaults()
    run = numbers("training", opening | {"delta": False})
    assert run["losses"][0] > run["other"][1] > run["losses"][1]  # faster at first
    assert run["losses"][-1] > run["losses"][0]
    ends = [
        numbers("training", opening | {"delta": False, "start": start})["losses"][-1]
        for start in range(1, 7)
    ]
    assert min(ends) < 1 and sum(20 < end < 35 for end in ends) >= 3  # well; stuck


def test_how_far_a_slope_is_said_to_reach() -> None:
    start = numbers("nudge", registry.spec("nudge").defaults())
    assert round(start["slopes"][4], 1) == 1.4 and round(start["weights"][4], 1) == 0.6
    raised = numbers("nudge", {"scores": [0, 1, 1, 0, 6, 2]})
    assert 11.5 < raised["line"] < 12 and 9.5 < raised["y"] < 10
    assert raised["weights"][4] > 0.95


def test_block_stepper_with_every_block() -> None:
    opening = registry.spec("block-stepper").defaults()
    at_four = [
        numbers("block-stepper", opening | {"step": k})["now"] for k in (1, 2, 3, 4)
    ]
    assert [now["m"] for now in at_four] == [1, 2, 2, 4]
    assert [round(now["alpha"], 4) for now in at_four] == [0, 0.3679, 1, 0.1353]
    assert [round(now["l"], 5) for now in at_four] == [
        2.19119,
        2.63005,
        4.22227,
        2.16917,
    ]


def test_block_stepper_without_the_rescale() -> None:
    sums = []
    for block in (1, 2, 4, 8, 16):
        state = {"block": block, "forget": True, "step": 16 // block}
        state = registry.spec("block-stepper").defaults() | state
        sums.append(round(numbers("block-stepper", state)["now"]["l"], 3))
    assert sums == [7.686, 7.686, 7.205, 4.443, 2.169]


@pytest.mark.parametrize("forget", [False, True])
def test_the_bars_of_the_block_stepper_add_up_to_its_column(forget: bool) -> None:
    for state in cases("block-stepper"):
        got = numbers("block-stepper", state | {"forget": forget})
        assert math.isclose(sum(got["weights"]), got["now"]["l"], rel_tol=1e-12)


@pytest.mark.parametrize("top", [-2, 3, 8])
def test_no_score_of_two_chunks_leaves_its_panel(top: int) -> None:
    drawn = figures.still("two-chunks", {"top": top, "step": 2})
    for picture in re.findall(r"<svg .*?</svg>", drawn):
        panel = re.search(r'class="band[^"]*" [^>]*y="(\d+)" height="(\d+)"', picture)
        above, below = int(panel[1]), int(panel[1]) + int(panel[2])
        bar = r'class="score[^"]*" [^>]* y="([\d.]+)" height="([\d.]+)"'
        scores = re.findall(bar, picture)
        assert len(scores) == 7
        for y, h in scores:
            assert above <= float(y) and float(y) + float(h) <= below


def test_the_stairs_of_max_records_stand_one_above_the_other() -> None:
    """One score at a time, the count rises where the maximum does."""
    drawn = figures.still("max-records", {"n": 16, "block": 1, "sample": 3})
    for picture in re.findall(r"<svg .*?</svg>", drawn):
        upper, lower = re.findall(r'class="stairs" d="([^"]*)"', picture)
        assert re.findall(r"[MH]([\d.]+)", upper) == re.findall(r"[MH]([\d.]+)", lower)


@pytest.mark.parametrize(("n", "harmonic"), [(16, 3.38), (1024, 7.51)])
def test_max_records_expects_harmonic_numbers(n: int, harmonic: float) -> None:
    state = registry.spec("max-records").defaults() | {"n": n}
    assert round(numbers("max-records", state)["expected"], 2) == harmonic


@pytest.mark.parametrize(
    ("changes", "counts"),
    [({}, [6, 4, 6]), ({"n": 1024, "rows": 2, "columns": 1}, [56, 16, 56])],
)
def test_tile_walk_counts_tiles(changes: dict, counts: list[int]) -> None:
    state = registry.spec("tile-walk").defaults() | {"step": 999} | changes
    assert numbers("tile-walk", state)["counts"] == counts


def test_the_kernel_race_shows_the_kernel_of_its_chapter() -> None:
    (file,) = Path(__file__).parents[2].glob("book/08-*.md")
    cell = next(
        c.source
        for c in jupytext.read(file).cells
        if c.metadata.get("name") == "block-max-kernel"
    )
    assert kernel_race.KERNEL in cell
    for name, barriers in (("right", 2), ("load", 1), ("round", 1)):
        source = kernel_race.EXAMPLES[name]["source"]
        assert source.count("syncthreads") == barriers
        assert bool(kernel_race.EXAMPLES[name]["faults"]) == (barriers < 2)


def test_the_first_of_three_texts_is_the_fold_of_its_chapter() -> None:
    (file,) = Path(__file__).parents[2].glob("book/06-*.md")
    cell = next(
        c.source for c in jupytext.read(file).cells if c.metadata.get("name") == "loop"
    )
    chapter = three_texts.function(cell, "attend")
    assert [line[1:] for line in chapter] == [
        line[1:] for line in three_texts.numpy_code()
    ]


@pytest.mark.parametrize("text", three_texts.RULES)
def test_each_line_of_three_texts_belongs_to_a_step(text: str) -> None:
    """Each rule is of use, and each step has lines."""
    lines = three_texts.lines_of(text)
    used = {three_texts.rule_of(text, "".join(p for p, _ in x.parts)) for x in lines}
    assert used - {None} == set(three_texts.RULES[text].items())
    owners = {owner for line in lines for _, owner in line.parts}
    assert set(three_texts.STEPS) <= owners
    assert owners <= {*three_texts.STEPS, *three_texts.AROUND}


@pytest.mark.parametrize("step", three_texts.STEPS)
def test_three_texts_lights_up_each_line_of_a_step(step: str) -> None:
    """On a page and on a phone, however long the step."""
    drawn = figures.still("six-steps", {"step": three_texts.index(step)})
    parts = [
        re.sub(r"\s", "", part)
        for text in three_texts.RULES
        for line in three_texts.lines_of(text)
        for part, owner in line.parts
        if line.shown and owner == step
    ]
    for picture in re.findall(r"<svg .*?</svg>", drawn):
        lit = re.findall(r'<tspan [^>]*class="lit"[^>]*>([^<]*)<', picture)
        shown = re.sub(r"\s", "", html.unescape("".join(lit)))
        assert [part for part in parts if part not in shown] == []


def test_the_triton_text_says_itself_which_step_a_line_belongs_to() -> None:
    """The comments of its loop, "# 1. load" and so on."""
    source = (Path(__file__).parents[2] / "book" / "triton_attention.py").read_text()
    heads = re.findall(r"^ +# (\d)\. (\w+)$", source, re.M)
    assert heads == [(str(k), step) for k, step in enumerate(three_texts.STEPS, 1)]
    code = source.splitlines()
    for line in three_texts.lines_of("triton"):
        owners = {owner for _, owner in line.parts}
        if owners & set(three_texts.STEPS):
            above = "\n".join(code[: line.number])
            assert re.findall(r"^ +# \d\. (\w+)$", above, re.M)[-1] in owners


def test_a_line_of_no_step_raises(monkeypatch) -> None:
    more = [*three_texts.triton_code(), (99, 1, "s = tl.flip(s)"), (100, 1, "x = 1")]
    monkeypatch.setattr(three_texts, "triton_code", lambda: more)
    with pytest.raises(ValueError, match="triton, line 100: no step has 'x = 1'"):
        three_texts.lines_of("triton")


@pytest.mark.parametrize("text", three_texts.COMPILED)
def test_the_two_products_of_three_texts_are_of_one_size(text: str) -> None:
    costs = dict(zip(three_texts.STEPS, three_texts.a_product(text)))
    assert costs["scores"][0] == costs["values"][0] == 0.5


def test_what_triton_s_own_functions_cost_counts_where_they_are_called() -> None:
    """The compiler writes lines of Triton's library, such as those of `tl.max`."""
    assert set(three_texts.lines_counted("triton")) <= {
        0,
        *three_texts.owners("triton"),
    }


def test_what_the_steps_of_the_rung_cost_counts_where_they_are_written() -> None:
    """A statement of several lines too: no line of a step's function is left over."""
    source, owners = counts.source("tensor"), three_texts.owners("numba")
    names = (*three_texts.HELPERS, "make_scores", "weigh", "add_values")
    for name in names:
        node = three_texts.definition(source, name)
        lines = range(node.lineno, node.end_lineno + 1)
        counted = [at for at in three_texts.lines_counted("numba") if at in lines]
        assert counted and set(counted) <= set(owners), name


def test_triton_s_load_holds_the_reads_of_v() -> None:
    """As the figure says of the first step: copies, and these reads."""
    stored, product = three_texts.triton(), three_texts.products("triton")
    kinds = {
        code: three_texts.lines_counted("triton")[line.number]
        for line in three_texts.lines_of("triton")
        for code, owner in line.parts
        if owner == "load"
    }
    (of_v,) = [each for code, each in kinds.items() if code.startswith("v_tile =")]
    copies = (
        stored["static"]["cp_async"] / 2 / stored["static"]["mma"]
    )  # K has the others
    reads = three_texts.facts()["reads"]
    assert of_v["shared"] / product == copies + reads
    integers = sum(each.get("integer", 0) for each in kinds.values()) / product
    assert integers == three_texts.facts()["integers"] > reads


@pytest.mark.parametrize(("gone", "hurt"), [("2", 3), ("3", 3), ("none", 0)])
def test_four_barriers_marks_who_reads_the_wrong_thing(gone: str, hurt: int) -> None:
    """In the first run one thread reads in time, and three do not; in step, all do."""
    for run, wanted in ((1, hurt), (four_barriers.IN_STEP, 0)):
        drawn = figures.still("four-barriers", {"gone": gone, "run": run, "step": 5})
        for picture in re.findall(r"<svg .*?</svg>", drawn):
            assert len(re.findall(r'class="share [^"]*wrong"', picture)) == wanted
            assert len(re.findall(r'class="danger"', picture)) == (wanted > 0)


def test_each_of_the_four_barriers_is_needed() -> None:
    d, _, keys = four_barriers.SIZE
    assert four_barriers.record("none")["faults"] == []
    for gone in four_barriers.GONE[1:]:
        assert four_barriers.risky(gone) == d * keys  # "each number in the tile"


def test_no_bank_hands_out_two_numbers_in_one_wavefront() -> None:
    for state in cases("banks"):
        got = numbers("banks", state)
        handed_out = [
            (at, (k + e) % 32)
            for k, at, _ in got["served"]
            for e in range(state["at_once"])
        ]
        assert len(handed_out) == len(set(handed_out))
        assert {at for at, _ in handed_out} == set(range(got["wavefronts"]))


def test_traffic_is_level_where_a_block_is_half_the_width() -> None:
    state = {"n": 65536, "d": 128, "rows": 64}
    state = registry.spec("traffic").defaults() | state
    assert round(numbers("traffic", state)["ratio"], 1) == 1.0
    halved = numbers("traffic", state | {"rows": 128})["ratio"]
    assert round(halved, 1) == 0.5


@pytest.mark.parametrize(("keep", "kept"), [("least", 6), ("weights", 36)])
def test_made_again_keeps_a_number_a_row_or_the_table(keep: str, kept: int) -> None:
    opening = registry.spec("made-again").defaults() | {"keep": keep}
    back = [numbers("made-again", opening | {"step": 7 + k}) for k in range(6)]
    assert {found["kept"] for found in back} == {kept}
    first_rows = [sum(map(sum, found["tile"])) for found in back[::2]]
    assert math.isclose(sum(first_rows), 3)  # the shares of three rows


@pytest.mark.parametrize(("rows", "tiled"), [(64, 63.5), (128, 126)])
def test_roofline_counts_operations_per_byte(rows: int, tiled: float) -> None:
    state = registry.spec("roofline").defaults() | {"rows": rows}
    dense, other = numbers("roofline", state)["intensity"]
    assert round(dense, 1) == 31.8
    assert other == pytest.approx(tiled, abs=0.06)


# ---- words ----


def shape(words: object) -> object:
    """The keys of a table of words, and which places in it are empty."""
    if isinstance(words, dict):
        return {key: shape(each) for key, each in sorted(words.items())}
    if isinstance(words, list):
        return [shape(each) for each in words]
    return words is None or sorted(re.findall(r"\{\w+\}|\[\w+: ", words))


@ids
def test_english_is_complete_and_spanish_stands_beside_it(figure: str) -> None:
    words = registry.strings(figure)
    assert set(words) == set(LANGUAGES)
    assert shape(words["en"]) == shape(words["es"])
    inputs = {c.name for c in registry.spec(figure).controls if c.offered}
    assert set(words["en"]["controls"]) == inputs


@ids
def test_words_live_in_the_table_and_not_in_the_drawing(figure: str) -> None:
    """No text node is written in the module: what is drawn comes from `words`."""
    source = (registry.folder(figure) / "figure.mjs").read_text("utf-8")
    drawn = re.findall(r'\blabel\(\s*"([^"]*)"', source)
    assert not [text for text in drawn if re.search(r"[A-Za-z]{3,}", text)]


# One of something in the plural; "1 has passed" is a verb.
ONE = re.compile(
    r"(?<![\d.,−^])\b1 (?!(?:is|has|makes|takes|writes|es)\b)[a-záéíóúñ]+s\b"
)


@ids
def test_one_thing_is_not_several(figure: str) -> None:
    for state in cases(figure)[::3]:
        for language in ("en", "es"):
            assert not ONE.search(said(figure, state, language)), state


@ids
def test_a_prediction_says_why_wrong_answers_tempt(figure: str) -> None:
    spec, words = registry.spec(figure), registry.strings(figure)["en"]
    says = registry.module(figure).__doc__
    if spec.prediction is None:
        assert "no prediction" in says
        return
    answer, shown_by = spec.prediction.answer, spec.prediction.shown_by
    assert len(words["options"]) == len(words["hints"]) == len(shown_by) >= 2
    assert [i for i, hint in enumerate(words["hints"]) if hint is None] == [answer]
    for state in shown_by:
        spec.check(figure, state)
        assert spec.defaults() | state != spec.defaults()
    for part in ("Prediction.", "tempt", "settles it"):
        assert part in says


# ---- stills ----


@ids
@pytest.mark.parametrize("language", ["en", "es"])
def test_a_still_shows_everything_without_a_script(figure: str, language: str) -> None:
    still = figures.still(figure, {}, language)
    for wanted in (
        "<figcaption",
        '<svg viewBox="0 0 720',
        '<svg viewBox="0 0 320',
        "<table>",
    ):
        assert wanted in still
    assert not re.search(r"<script|\son\w+=", still)
    assert not re.search(r"undefined|NaN|\[object|\{\w+\}", still)
    assert registry.strings(figure)[language]["title"] in still


def test_a_figure_that_need_not_ask_does_not() -> None:
    asking, silent = (
        figures.still("two-chunks", {}, "en", asks) for asks in (True, False)
    )
    question = re.search(r'<fieldset class="os-question">.*?</fieldset>', asking)[0]
    assert silent == asking.replace(question, "")


@ids
def test_a_still_has_no_colour_of_its_own(figure: str) -> None:
    still = figures.still(figure, {})
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b|rgba?\(", still)
    css = re.sub(r"/\*.*?\*/", "", figures.stylesheet(), flags=re.S)
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b|rgba?\(", css)


@ids
def test_a_picture_says_what_it_shows(figure: str) -> None:
    """The drawing's label is the sentence, and quantities can be addressed."""
    still = figures.still(figure, {})
    sentence = re.search(r'<p class="os-say">(.*?)</p>', still)[1]
    raised = re.sub(r"<sup>(.*?)</sup>", r"^(\1)", sentence)
    spoken = re.sub(r"<[^>]+>", "", raised)
    picture = still.split('<div class="os-stage os-stills">')[0]
    for svg in re.findall(r"<svg [^>]*>", picture):
        assert 'role="img"' in svg
        assert re.search(r'aria-label="([^"]*)"', svg)[1] == spoken
    none = "no quantity" in registry.module(figure).__doc__
    assert bool(re.search(r'<(g|text|path|rect)[^>]* data-q="', still)) != none
    words = json.dumps(registry.strings(figure))
    marked = re.findall(r'data-q="([^"]*)"', still) + re.findall(r"\[([a-z]+): ", words)
    assert set(marked) <= set(quantities())


def test_a_chapter_may_change_the_state() -> None:
    assert figures.still("two-chunks", {"top": 2}) != figures.still("two-chunks", {})


# ---- what is wrong stops the build ----


def test_an_unknown_figure_raises() -> None:
    for ask in (figures.still, figures.page_script, figures.figure):
        with pytest.raises(
            ValueError, match="no figure 'none': there are .*two-chunks"
        ):
            ask("none")


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ({"blocks": 2}, "has no 'blocks': it has block"),
        ({"block": 99}, "block is 99, expected a number from 1 to 16"),
        ({"block": float("nan")}, "block is nan"),
        ({"forget": 1}, "forget is 1, expected True or False"),
        ({"step": -1}, "step is -1, expected an integer of at least 0"),
        ({"scores": []}, r"scores is \[\], expected a list of at least one number"),
    ],
)
def test_an_impossible_state_raises(state: dict, says: str) -> None:
    for ask in (figures.still, lambda id, state: figures.figure(id, **state)):
        with pytest.raises(ValueError, match=says):
            ask("block-stepper", state)


@pytest.fixture
def spoilt(monkeypatch, tmp_path):
    """`spoilt(old, new)`: a block stepper with a fault planted in its module."""
    home = book.current().figures
    v8._load.cache_clear()

    def plant(old: str, new: str) -> None:
        source = (home / "block-stepper" / "figure.mjs").read_text("utf-8")
        copy = tmp_path / "figures" / "block-stepper"
        copy.mkdir(parents=True)
        (copy / "figure.mjs").write_text(planted(source, old, new, nth=0))
        words = (home / "block-stepper" / "strings.json").read_text("utf-8")
        (copy / "strings.json").write_text(words)
        shutil.copy(home / "block-stepper" / "figure.py", copy)
        monkeypatch.setattr(book, "_opened", [book.Book(tmp_path, version="0")])

    yield plant
    v8._load.cache_clear()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("export function compute(", "export function compute(("),
        ("const trace = [", "throw new Error('planted'); const trace = ["),
        ("return picture({ ...page", "return pictur({ ...page"),
        ("export function say(", "function say("),
        ("words.tableHead", "words.tableHead.none.at"),
    ],
)
def test_a_module_that_throws_stops_the_build(spoilt, old: str, new: str) -> None:
    figures.still("block-stepper", {})
    v8._load.cache_clear()
    spoilt(old, new)
    with pytest.raises(Exception, match="Error"):
        figures.still("block-stepper", {})


# ---- scripts ----


@ids
def test_a_script_is_small(figure: str) -> None:
    size = len(gzip.compress(figures.page_script(figure).encode()))
    most = KILOBYTES + TEXTS.get(figure, 0)
    assert size <= most * 1000, f"{figure}: {size} bytes"


@ids
def test_a_page_script_is_classic_and_registers_the_figure(figure: str) -> None:
    script = figures.page_script(figure)
    assert not re.search(r"^\s*(import|export)\b", script, re.M)
    names = v8._engine().eval(f"""(() => {{
        const window = {{}};
        const document = {{ currentScript: {{ src: "" }} }};
        {script}
        const [id, make] = window.osFigures[0];
        return id + ":" + Object.keys(make($given)).sort().join();
    }})()""")
    id, parts = names.split(":")
    assert id == figure
    assert {"compute", "draw", "say", "table", "spec", "strings"} <= set(
        parts.split(",")
    )


@ids
def test_a_widget_module_is_one_valid_module(figure: str) -> None:
    """`_esm` may import nothing; what it exports is what anywidget calls."""
    module = pack.widget_module(figure)
    assert not re.search(r"^\s*import\b", module, re.M)
    assert len(re.findall(r"^export ", module, re.M)) == 1
    script = (
        module.replace("export default ", "return typeof ").rstrip(";\n") + ".render"
    )
    assert v8._engine().eval(f"(() => {{ {script} }})()") == "function"


def test_the_host_script_is_classic() -> None:
    assert not re.search(r"^\s*(import|export)\b", figures.host_script(), re.M)


@ids
def test_a_folder_is_all_there_is_to_a_figure(figure: str) -> None:
    names = {path.name for path in registry.folder(figure).iterdir()}
    assert {"figure.py", "figure.mjs", "strings.json"} <= names
    rest = list(registry.HERE.glob("*.py")) + list(pack.HOST.glob("*.*"))
    assert not [
        p for p in rest if f'"{figure}"' in p.read_text("utf-8") and p.stem not in DOCS
    ]


DOCS = ("__init__", "widget")  # their docstrings show an example
