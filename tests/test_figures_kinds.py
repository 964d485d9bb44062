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
