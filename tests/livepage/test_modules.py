"""Joining ES modules into one script: what comes of each statement, and what is refused.

Each case is run: V8 evaluates the script, and the test asks it for a value.
"""

import asyncio
import os
from pathlib import Path

import pytest

from livepage import book, modules
from livepage.engine import new_engine as engine
from livepage.figures import pack, registry
from patience import PATIENCE


@pytest.fixture
def value(tmp_path: Path):
    """`value(asked, main=…, other=…)`: what an expression is beside those modules."""

    def run(asked: str, given: dict | None = None, **files: str) -> object:
        write(tmp_path, files)
        script = modules.script(tmp_path / "main.mjs", given or {})
        return engine().eval(f"{script}{asked}")

    return run


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        file = name if "." in name else f"{name}.mjs"
        (folder / file).write_text(text, "utf-8")


IMPORTS = {
    'import { a } from "./other.mjs";': "a",
    "import { a } from './other.mjs'": "a",
    'import { a as b } from "./other.mjs";': "b",
    'import {\n  d, // from "./no.mjs"\n  a as b,\n} from "./other.mjs";': "b",
    'import * as all from "./other.mjs";': "all.a",
    'import main from "./other.mjs";': "main.a",
    'import main, { a } from "./other.mjs";': "a && main.a",
    'import main, * as all from "./other.mjs";': "all.a && main.a",
    'import { default as main } from "./other.mjs";': "main.a",
    'import { "a b" as a } from "./other.mjs";': "a",
    'import "./other.mjs"; import { a } from "./other.mjs";': "a",
}
OTHER = 'export const a = 7, d = 8; export default { a }; export { a as "a b" };'


@pytest.mark.parametrize("statement", IMPORTS)
def test_imports(value, statement: str) -> None:
    main = f"{statement}\nexport const found = {IMPORTS[statement]};"
    assert value("$main.found", main=main, other=OTHER) == 7


@pytest.mark.parametrize(
    "exports",
    [
        "export const found = 7;",
        "export const { a: { found } } = { a: { found: 7 } };",
        "export const [, found = 7, ...rest] = [];",
        "const other = 7; export { other as found };",
        "export { found }\nconst found = 7",
        "export function found() {}; found.valueOf = () => 7",
        "export async function found() {}; found.valueOf = () => 7",
        "export function* found() {}; found.valueOf = () => 7",
        "export class found { static valueOf() { return 7; } }",
        'import { a } from "./other.mjs"; export { a as found };',
    ],
)
def test_exports(value, exports: str) -> None:
    assert value("Number($main.found)", main=exports, other=OTHER) == 7


@pytest.mark.parametrize(
    "exports",
    [
        "export default 7;",
        "export default (1, 7)",
        "export default /* its value */ 7",
        "const seven = 7; export default seven;",
        "const seven = 7; export { seven as default };",
        "export default function seven() {} seven.valueOf = () => 7;",
        "export default class Seven { static valueOf() { return 7; } }",
    ],
)
def test_default_exports(value, exports: str) -> None:
    assert value("Number($main.default)", main=exports) == 7


def test_data_and_what_is_given(value) -> None:
    main = """
      import data from "./data.json" with { type: "json" };
      import { scale } from "kit";
      export const found = scale * data.of[0];
    """
    data = {"data.json": '{"of": [3], "end": "</script>"}'}
    found = value("$main.found", {"kit": "({scale: 2})"}, main=main, **data)
    assert found == 6


def test_each_module_runs_once_and_in_strict_mode(value) -> None:
    files = {
        "main": 'import "./one.mjs"; import "./two.mjs"; import { log } from "./log.mjs";'
        "log.push((function () { return this === undefined; })());",
        "one": 'import { log } from "./log.mjs"; log.push(1);',
        "two": 'import "./one.mjs"; import { log } from "./log.mjs"; log.push(2);',
        "log": "export const log = [];",
    }
    assert value("$log.log.join()", **files) == "1,2,true"


def test_folders_keep_two_files_of_one_name_apart(value, tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "other.mjs").write_text(
        'import { a } from "../other.mjs"; export const b = a + 1;'
    )
    main = (
        'import { b } from "./part/other.mjs"; import { a } from "./other.mjs";'
        "export const both = [a, b];"
    )
    assert value("$main.both.join()", main=main, other=OTHER) == "7,8"


def test_comments_and_indentation_go_where_they_mean_nothing(value) -> None:
    main = r"""
      // import { a } from "./no.mjs";
      export const text = `  two
      // lines, ${/* one */ 1 /* two */} and ${`in // it`}
    `;
      export const half = 8 /* of */ / 2; // 8 / 2
      export const pattern = /[/*]"\/*/.source;
      export const ended = (() => {
        return /*
        */ 5;
      })();
    """
    assert value("$main.half", main=main) == 4
    assert value("$main.pattern", main=main) == r'[/*]"\/*'
    assert value("$main.ended === undefined", main=main) is True
    lines = "  two\n      // lines, 1 and in // it\n    "
    assert value("$main.text", main=main) == lines


REFUSED = {
    'const late = import("./other.mjs");': r"line 1: import\(\) or import.meta",
    "\n\nexport const at = import.meta.url;": r"line 3: import\(\) or import.meta",
    'export * from "./other.mjs";': r"export \* from",
    'export { a } from "./other.mjs";': "export … from",
    "export let count = 0;": "a changing export",
    "export default () => {}; export default 1": "Duplicate export",
    "export default function () {}": "a default export with no name",
    'import { none } from "./other.mjs";': "other.mjs exports no none",
    'import { a } from "./none.mjs";': "none.mjs', which is no file",
    'import { a } from "none";': "imports 'none'; besides files: nothing",
    'import { main as me } from "./main.mjs"; export const main = 1;': "main.mjs → main",
    "const = 1;": "SyntaxError",
    "await 1;": "SyntaxError",
}


@pytest.mark.parametrize("main", REFUSED)
def test_what_cannot_be_packed_names_the_file(tmp_path: Path, main: str) -> None:
    write(tmp_path, {"main": main, "other": OTHER})
    with pytest.raises(ValueError, match=f"main.mjs: .*(?:{REFUSED[main]})"):
        modules.script(tmp_path / "main.mjs")


def test_what_is_remembered_is_forgotten_with_a_change(value, tmp_path: Path) -> None:
    assert value("$main.a", main="export const a = 1;") == 1
    assert value("$main.a", main="export const a = 2;") == 2
    memory = tmp_path / "__pycache__" / "main.mjs.json"
    memory.write_text(memory.read_text()[:20])  # cut off
    assert value("$main.a", main="export const a = 2;") == 2


def test_a_wheel_brings_what_v8_found(tmp_path: Path, monkeypatch) -> None:
    tmp_path = tmp_path / "figures"
    tmp_path.mkdir()
    write(tmp_path, {"main": "export const a = 1;"})
    file = tmp_path / "main.mjs"
    modules.ship(tmp_path, [file])
    (tmp_path / "__pycache__" / "main.mjs.json").unlink()
    opened = book.Book(tmp_path.parent, "1.0")
    monkeypatch.setattr(book, "_opened", [opened])
    monkeypatch.setattr(modules, "_engine", None)  # nothing to call
    assert "const a = 1;" in modules.script(file)


def test_a_wheel_brings_every_module_of_every_widget(monkeypatch) -> None:
    """A reader has no V8 that could take another one apart."""
    read, needed = modules._read, set()
    shipped = modules.of_the_kit() | set(book.current().figures.rglob("*.mjs"))

    def noted(file: Path) -> dict:
        needed.add(Path(os.path.normpath(file)))
        return read(file)

    monkeypatch.setattr(modules, "_read", noted)
    for figure in registry.ids():
        pack.widget_module.__wrapped__(figure)
    assert len(needed) > len(registry.ids()) and needed <= shipped


def test_v8_works_where_a_loop_is_marked_as_running() -> None:
    """As Playwright leaves its own, for all tests that come after one of a browser."""

    before = asyncio._get_running_loop()
    asyncio._set_running_loop(loop := asyncio.new_event_loop())
    try:
        own = engine()
        assert own.eval("6 * 7", timeout_sec=PATIENCE) == 42
        own.close()
    finally:
        asyncio._set_running_loop(before)
        loop.close()
