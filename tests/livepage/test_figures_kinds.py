"""A new kind of control is one new folder: nothing else has to know of it.

The folder is laid into a copy of the package, and a figure with such a control into a
book of its own; then the figure is checked, drawn, packed, addressed, and made a widget.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from livepage.engine import new_engine
from livepage.figures import kinds, pack
from livepage.modules import script

KIND = {
    "control.py": """
        from dataclasses import dataclass
        import traitlets
        from ...control import Control

        @dataclass(frozen=True)
        class Paint(Control):
            def fault(self, value):
                return None if value in ("red", "blue") else "red or blue"

            def trait(self):
                return traitlets.Unicode(self.default)
    """,
    "control.mjs": """
        import { box, input } from "../../host/html.mjs";
        export const html = (control) => box("label", control, "os-paint", input("color"));
        export const wake = () => () => {};
        export const fit = (_control, value) => (value === "green" ? undefined : value);
        export const read = (control, text) => fit(control, text);
    """,
    "style.css": ".os-paint { padding: 0; }",
}
FIGURE = {
    "figure.py": """
        from livepage.figures.spec import Paint, Spec
        SPEC = Spec(controls=(Paint("wall", "red"),), expected=None, states=None)
    """,
    "figure.mjs": """
        import { picture } from "livepage/picture.mjs";
        import { label } from "livepage/shapes.mjs";
        export const compute = ({ wall }) => ({ wall });
        export const draw = ({ wall }) => picture({ width: 9, height: 9 }, [label(wall, 1, 8)]);
        export const say = ({ wall }) => wall;
        export const table = () => ({ caption: "", head: [], rows: [] });
    """,
    "strings.json": '{"en": {"title": "A wall", "controls": {"wall": "wall"}}, "es": {}}',
}
USE = """
import json
from pathlib import Path
from livepage import book
book.open(Path(BOOK), version="0")
from livepage.figures import figure, page_script, still, stylesheet
from livepage.figures import pack, v8, kinds
from livepage.modules import script
try:
    still("wall", {"wall": "grey"})
except ValueError as error:
    fault = str(error)
address = script(pack.HOST / "address.mjs", gathered={"livepage/kinds": kinds.scripts()})
spec = "{controls: [{kind: 'paint', name: 'wall'}]}"
read = f"(() => {{ {address} return JSON.stringify(['blue', 'green'].map((wall) =>"
read += f" $address.read('#wall:wall=' + wall, 'wall', {spec}))); }})()"
print(json.dumps({
    "fault": fault,
    "still": still("wall", {"wall": "blue"}),
    "script": page_script("wall"),
    "style": stylesheet(),
    "read": json.loads(v8.engine().eval(read)),
    "trait": figure("wall", wall="blue").wall,
}))
"""


def lay(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        lines = text.strip("\n").splitlines()
        cut = len(lines[0]) - len(lines[0].lstrip())
        text = "\n".join(line[cut:] for line in lines)
        (folder / name).write_text(text + "\n", "utf-8")


@pytest.fixture(scope="module")
def used(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """What came of using a control of the new kind."""
    home = tmp_path_factory.mktemp("kind")
    heavy = shutil.ignore_patterns("fonts", "katex", "micropython", "site", "page")
    shutil.copytree(root / "lib" / "livepage", home / "livepage", ignore=heavy)
    lay(home / "livepage" / "figures" / "kinds" / "paint", KIND)
    lay(home / "book" / "figures" / "wall", FIGURE)
    code = f"import sys; sys.path[:0] = [{str(home)!r}, {str(root / 'lib')!r}]\n"
    code += USE.replace("BOOK", repr(str(home / "book")))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_its_values_are_checked(used: dict) -> None:
    assert used["fault"] == "figure 'wall': wall is 'grey', expected red or blue"


def test_its_input_and_state_are_in_the_still(used: dict) -> None:
    assert '<label class="os-control os-paint" data-control="wall">' in used["still"]
    assert ">blue</text>" in used["still"]


def test_the_page_a_notebook_and_the_address_have_it(used: dict) -> None:
    assert '"kind":"paint"' in used["script"]
    assert ".os-paint" in used["style"]
    assert used["trait"] == "blue"
    assert used["read"] == [{"wall": "blue"}, {}]


# ---- what is typed, and what an address says


def asked(entry: Path, question: str, *given: object) -> object:
    """What a module of the host answers, in V8."""
    gathered = {"livepage/kinds": kinds.scripts()}
    engine = new_engine()
    try:
        engine.eval(f"{script(entry, gathered=gathered)}; const ask = {question}; 0")
        return json.loads(engine.call("ask", json.dumps(given)))
    finally:
        engine.close()


TYPED = {"kind": "typed", "name": "prompt", "letters": "The max", "most": 9}


@pytest.mark.parametrize(
    ("text", "told"),
    {
        "The max": "",
        " ": "",
        "": "nothing",
        "Then": "“n” is none",
        "the": "“t” is none",
        "😀": "“😀” is none",
        "ש": "“ש” is none",
        "The\u00a0max": "“U+00A0” is none",
        "The\tmax": "“U+0009” is none",
        "\0": "“U+0000” is none",
        "e\u0301": "“U+0301” is none",
        "a\u200bx": "“U+200B” is none",
        "max" * 4: "12 letters",
        "max" * 4000: "12000 letters",
    }.items(),
)
def test_what_cannot_be_typed_is_said_so_that_it_can_be_seen(text, told) -> None:
    ui = {
        "unknown": "“{letter}” is none",
        "nothing": "nothing",
        "tooLong": "{n} letters",
    }
    question = "(given) => JSON.stringify($control.faultOf(...JSON.parse(given)))"
    typed = kinds.scripts()["typed"]
    assert asked(typed, question, TYPED, text, ui) == told


@pytest.mark.parametrize("text", ["The max", "The ", " ", "  The  "])
def test_an_address_keeps_every_blank(text: str) -> None:
    """A browser takes blanks off the end of an address."""
    question = """(given) => {
      const [spec, state] = JSON.parse(given);
      const hash = $address.write("wall", spec, state, { prompt: "max" });
      return JSON.stringify($address.read(hash.trim(), "wall", spec));
    }"""
    state = {"prompt": text}
    spec = {"controls": [TYPED]}
    assert asked(pack.HOST / "address.mjs", question, spec, state) == state


@pytest.mark.parametrize("kind", ["range", "step", "again", "film", "row"])
def test_a_box_that_was_emptied_changes_nothing(kind: str) -> None:
    """Its text is empty, and so is what an address says of it."""
    question = """(given) => {
      const [control, texts] = JSON.parse(given);
      const read = texts.map((text) => $control.read(control, text) ?? null);
      return JSON.stringify(read);
    }"""
    control = {"kind": kind, "low": 2, "high": 9, "step": 1, "most": 1, "seconds": 9}
    texts = ["", " ", "abc", "1e999", "5", "-5", "1e9"]
    low = 0 if kind in ("step", "film") else 2
    high = 1e9 if kind == "step" else 9
    if kind == "step":  # which has no ends of its own
        control = {"kind": kind}
    found = asked(kinds.scripts()[kind], question, control, texts)
    wanted = [None, None, None, None, 5, low, high]
    assert found == ([x and [x] for x in wanted] if kind == "row" else wanted)


DRAG = """(given) => {
  globalThis.DOMPoint = class {
    constructor(x, y) { Object.assign(this, { x, y }); }
    matrixTransform() { return this; }
  };
  const [dataset, controls] = JSON.parse(given);
  const handle = { dataset, isConnected: true };
  const svg = { getScreenCTM: () => ({ inverse() {} }) };
  const stage = { addEventListener() {}, setPointerCapture() {}, querySelector: () => svg };
  stage.classList = { add() {}, remove() {} };
  const taken = [];
  const live = { spec: { controls }, state: {}, stop() {}, set: ({ m }) => taken.push(m) };
  $drag.draggable(stage, live);
  const at = (clientY) => ({ clientY, button: 0, target: { closest: () => handle },
    preventDefault() {} });
  stage.onpointerdown(at(0));
  stage.onpointermove(at(4));
  handle.isConnected = false;
  stage.onpointermove(at(8));
  return JSON.stringify(taken);
}"""


def test_a_handle_that_was_drawn_anew_is_let_go() -> None:
    """The old one's ends lie where they were in a picture of another width."""
    handle = {"drag": "m", "axis": "y", "low": "0", "high": "10", "place": "0"}
    controls = [{"kind": "range", "name": "m", "low": 0, "high": 10, "step": 1}]
    assert asked(pack.HOST / "drag.mjs", DRAG, handle, controls) == [4]
