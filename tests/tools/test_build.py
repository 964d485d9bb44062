"""The build: what runs again, what does not, and that no stale number survives."""

import os
import re
import select
import shutil
import socket
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import pytest
from hatchling.builders.wheel import WheelBuilder
from nbformat.v4 import new_output

from patience import PATIENCE
from tools import build
from tools.build import (
    Book,
    BuildFailed,
    check_bibliography,
    pack_wheels,
    packed_from,
    run_chapters,
    settings,
)
from tools.building import execute as execution
from tools.building.chapters import code_cells, in_source, notebook, pages
from tools.building.execute import (
    ChapterFailed,
    _join_streams,
    _raise_failures,
    forking,
    with_outputs,
)
from tools.building.freshness import Sources, data_files, imported, lib_files

HEADER = "---\njupytext: {text_representation: {format_name: myst}}\n---\n\n"
CELL = "```{{code-cell}} ipython3\n{options}{code}\n```\n"


def chapter(prose: str, code: str, name: str | None = None) -> str:
    options = f":name: {name}\n" if name else ""
    return f"{HEADER}# A title\n\n{prose}\n\n" + CELL.format(options=options, code=code)


@pytest.fixture
def small(tmp_path: Path) -> Book:
    """A book of two chapters over a lib of two modules."""
    lib = tmp_path / "lib" / "onlinesoftmax"
    lib.mkdir(parents=True)
    (lib / "__init__.py").write_text("")
    (lib / "inner.py").write_text("FACTOR = 2\n")
    (lib / "outer.py").write_text(
        "from onlinesoftmax.inner import FACTOR\n\n\ndef scaled(x):\n"
        "    return FACTOR * x\n"
    )
    (tmp_path / "requirements.txt").write_text("")
    (tmp_path / "_toc.yml").write_text(
        "format: jb-book\nroot: index\nchapters: [{file: 01-one}, {file: 02-two}]\n"
    )
    book = tmp_path / "book"
    book.mkdir()
    (book / "index.md").write_text("# The cover\n")
    uses_lib = "from onlinesoftmax.outer import scaled\nprint('answer', scaled(21))"
    (book / "01-one.md").write_text(chapter("Prose.", uses_lib, "the-answer"))
    (book / "02-two.md").write_text(chapter("Prose.", "print('two', 1 + 1)"))
    return Book(tmp_path, tmp_path / "_build")


def run(book: Book) -> list[str]:
    """Run what is stale, as a build does that knows nothing of the last one."""
    return run_chapters(book, Sources(book.root))


def printed(book: Book, number: int) -> str:
    page = book.chapters[number]
    cell = code_cells(with_outputs(page, book.store))[0]
    return "".join(output.text for output in cell.outputs)


def test_what_runs_again_and_what_does_not(small: Book) -> None:
    assert run(small) == ["01-one", "02-two"]
    assert printed(small, 0) == "answer 42\n"

    # A prose-only edit runs nothing; the new text goes with the stored outputs.
    one = small.book / "01-one.md"
    one.write_text(one.read_text().replace("Prose.", "Better prose."))
    assert run(small) == []
    staged = nbformat.read(small.chapter(small.chapters[0]), as_version=4)
    assert "Better prose." in staged.cells[0].source
    assert "answer 42" in str(staged.cells)

    # A change deep in the lib runs what imports it, through another module too.
    inner = small.root / "lib" / "onlinesoftmax" / "inner.py"
    inner.write_text("FACTOR = 3\n")
    assert run(small) == ["01-one"]
    assert printed(small, 0) == "answer 63\n"

    # Changed code cannot be shown with the outputs of the code before.
    two = small.book / "02-two.md"
    two.write_text(two.read_text().replace("1 + 1", "1 + 2"))
    with pytest.raises(ChapterFailed, match="outputs belong to other code"):
        with_outputs(small.chapters[1], small.store)
    assert run(small) == ["02-two"]
    assert printed(small, 1) == "two 3\n"


def test_a_failing_assert_names_chapter_cell_and_message(small: Book) -> None:
    (small.root / "_toc.yml").write_text(
        "format: jb-book\nroot: index\nchapters: [{file: 02-two}]\n"
    )
    two = small.book / "02-two.md"
    two.write_text(chapter("Prose.", "x = 2\nassert x == 3, 'two is not three'", "sum"))
    with pytest.raises(ChapterFailed) as failed:
        run(small)
    said = str(failed.value)
    assert "02-two.md:11, cell 'sum'" in said
    assert "AssertionError: two is not three" in said
    # The chapter stays stale: the next build runs it again and fails again.
    with pytest.raises(ChapterFailed):
        run(small)


def test_a_chapter_that_forgets_an_import_fails(small: Book) -> None:
    """Where kernels are forked, NumPy has been imported before a chapter begins."""
    two = small.book / "02-two.md"
    two.write_text(chapter("Prose.", "numpy.ones(2)", "ones"))
    with pytest.raises(ChapterFailed, match="NameError: name 'numpy' is not defined"):
        run(small)


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only")
def test_a_process_with_two_threads_is_not_forked() -> None:
    code = """
    import socket, sys, threading
    from tools.building import forked_kernels
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    forked_kernels.serve(sys.argv[1])
    """
    with TemporaryDirectory() as folder:  # a socket's address has to be short
        address = f"{folder}/forks"
        server = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), address],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert server.stdout.readline() == "ready\n"
        with socket.socket(socket.AF_UNIX) as asked:
            asked.connect(address)
            asked.sendall(b"{}\n")
            said = server.stderr.read()  # NumPy's own threads count as well
            assert re.search(r"a process with [2-9]\d* threads is not forked", said)


def test_no_kernel_is_forked_where_a_socket_cannot_have_an_address(tmp_path) -> None:
    deep = tmp_path.joinpath(*["a folder with a long name"] * 5)
    deep.mkdir(parents=True)
    with forking(deep, {}) as asked:
        assert asked == ([], {})


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only")
def test_the_process_that_forks_ends_with_a_build_that_is_killed() -> None:
    code = """
    import os, sys
    from pathlib import Path
    from tools.building import forked_kernels
    server = forked_kernels.start(Path(sys.argv[1]), dict(os.environ))
    print(server.pid, flush=True)
    server.wait()
    """
    with TemporaryDirectory() as folder:
        address = f"{folder}/forks"
        command = [sys.executable, "-c", textwrap.dedent(code), address]
        build = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        end = os.pidfd_open(int(build.stdout.readline()))
        build.kill(), build.communicate()
        assert select.select([end], [], [], PATIENCE)[0], "the process goes on"
        os.close(end)


def test_a_cell_that_python_cannot_read_is_named_before_anything_runs(small) -> None:
    two = small.book / "02-two.md"
    text = chapter("y = (2 is not Python.", "%time\nx = 1\ny = (2", "open")
    two.write_text(text)
    line = text.splitlines().index("y = (2") + 1
    said = rf"02-two\.md:{line}, cell 'open'\n    y = \(2\n  SyntaxError"
    with pytest.raises(ValueError, match=said):
        run(small)
    assert not small.store.folder.exists()


def test_a_broken_module_is_named_by_file_and_line(small: Book) -> None:
    inner = small.root / "lib" / "onlinesoftmax" / "inner.py"
    inner.write_text("FACTOR = 2\ndef\n")
    with pytest.raises(ValueError, match=r"onlinesoftmax.inner\.py:2\n"):
        run(small)


def test_what_breaks_every_chapter_is_said_once(small: Book) -> None:
    small.store.folder.mkdir(parents=True)
    for page in small.chapters:
        nb = notebook(page)
        fault = {"ename": "ValueError", "evalue": "no data", "traceback": ["----> 1 x"]}
        code_cells(nb)[0].outputs = [new_output("error", **fault)]
        nbformat.write(nb, small.store.notebook(page))
    with pytest.raises(ChapterFailed) as failed:
        _raise_failures(small.chapters, small.store, "")
    said = str(failed.value)
    assert said.count("no data") == 1
    assert "01-one.md:" in said and "02-two.md:" in said


@pytest.mark.parametrize("name", ["_config.yml", "_toc.yml", "book/02-two.md"])
def test_broken_yaml_is_named_by_file_and_line(small: Book, name: str) -> None:
    file = small.root / name
    before = file.read_text() if file.exists() else "a: 1\n"
    lines = before.splitlines()
    file.write_text("\n".join([*lines[:1], "broken: [", *lines[1:]]))
    read = settings if name == "_config.yml" else run
    with pytest.raises(ValueError, match=rf"(?s){file.name}.*line [23],") as failed:
        read(small)
    assert "unicode string" not in str(failed.value)


def test_a_broken_list_of_sources_is_named(small: Book) -> None:
    (small.book / "sources.bib").write_text("@article{key, title={Open\n")
    with pytest.raises(BuildFailed, match=r"sources\.bib: .*line 1"):
        check_bibliography(small)


def test_what_the_renderer_says_is_told_of_the_sources(small: Book) -> None:
    one, pages = small.book / "01-one.md", small.pages
    code = CELL.format(options=":name: two\n", code="one")
    one.write_text(f"{HEADER}# A title\n\none\n\n{code}\nLast.\n\n[dead](#dead)\n")
    last = one.read_text().splitlines().index("[dead](#dead)") + 1
    said = (
        f"{small.staged}/01-one.ipynb:30003: WARNING: no 'dead'\n"
        f"{small.staged}/index.md:4: WARNING: x\n{small.staged}/02-two.ipynb: WARNING: y"
    )
    told = in_source(said, small.staged, pages)
    assert told.splitlines() == [
        f"book/01-one.md:{last}: WARNING: no 'dead'",
        "book/index.md:4: WARNING: x",
        "book/02-two.md: WARNING: y",
    ]


def test_a_chapter_left_out_of_the_run_stops_the_build(
    small: Book, monkeypatch
) -> None:
    """As nbmake leaves out a path with a `_build` in it, without an error."""
    monkeypatch.setattr(execution, "_run_nbmake", lambda files, path: "")
    with pytest.raises(ChapterFailed, match="(?s)01-one.*02-two.*did not finish"):
        run(small)


def test_a_chapter_without_a_header_is_no_quiet_page(small: Book) -> None:
    text = "---\nline: On the map.\n---\n# A title\n\nNo header, no code run.\n"
    (small.book / "02-two.md").write_text(text)
    with pytest.raises(ValueError, match="02-two.md.*jupytext"):
        run(small)


def test_a_page_that_is_missing_is_named(small: Book) -> None:
    (small.book / "02-two.md").unlink()
    with pytest.raises(ValueError, match="02-two"):
        pages(small.root / "_toc.yml", small.book)


def test_a_cell_name_used_twice_is_refused(small: Book) -> None:
    two = small.book / "02-two.md"
    cell = CELL.format(options=":name: same\n", code="1")
    two.write_text(f"{HEADER}# A title\n\n{cell}\n{cell}")
    with pytest.raises(ValueError, match="used twice: same"):
        notebook(small.chapters[1])


def test_a_line_that_arrives_in_pieces_is_one_line() -> None:
    pieces = [("stdout", "one "), ("stdout", "line\n"), ("stderr", "no\n")]
    outputs = [new_output("stream", name=name, text=text) for name, text in pieces]
    outputs.insert(2, new_output("display_data", {"text/plain": "a"}))
    joined = _join_streams(outputs)
    assert [one.get("text") for one in joined] == ["one line\n", None, "no\n"]


def test_what_a_chapter_depends_on(root: Path) -> None:
    sources = Sources(root)

    def reached(code: str) -> set[str]:
        return {file.name for file in lib_files(code, sources)}

    names = reached("from onlinesoftmax.state import State")
    assert {"__init__.py", "state.py"} <= names and "streaming.py" not in names
    assert {"state.py", "streaming.py"} <= reached(
        "import onlinesoftmax.streaming as s"
    )
    assert {"devices.py", "devices.json"} <= reached("from kernellab import devices")
    assert {"devices.json", "limits.py"} <= reached("from kernellab import limits")
    assert "costs.py" in reached("from onlinesoftmax import merge")
    assert "kernels.json" in reached("from kernellab import reports")
    assert {"memory.py", "launch.py"} <= reached("from blocksim import run")
    names = reached("from rescaling import drill, figure")
    assert {"rescaling.py", "widget.py"} <= names and "figure.py" not in names
    names = reached("figure('gpu-ladder')\ndrill('third-weight')")
    assert {"figure.py", "strings.json", "ladder.py"} <= names
    figures = {file.parent.name for file in lib_files("figure('gpu-ladder')", sources)}
    assert {"gpu-ladder", "smem-budget"} <= figures and "cover" not in figures
    assert "01-stable-softmax.yml" in names and "05-merge.yml" not in names
    assert "figure.mjs" not in names  # drawn when the page is rendered
    assert "builder.py" not in names
    assert reached("import numpy as np\nfrom math import exp") == set()
    assert imported("from math import exp") == {"math", "math.exp"}
    named = data_files("measured('threads.json')", root / "book")
    assert {file.name for file in named} == {"threads.json"}


def test_a_measurement_that_is_added_is_seen(root: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name in ("gpu-one.json", "gpu-two.json", "other.json"):
        (tmp_path / "data" / name).touch()
    for code, count in (("data.glob('gpu-*.json')", 2), ("# in book/data/*.json", 0)):
        assert len(data_files(code, tmp_path)) == count
    ladder = lib_files("figure('gpu-ladder')", Sources(root))
    assert len(data_files("", tmp_path, ladder)) == 2


def test_packed_wheels_hold_what_is_drawn_and_the_sources_never_do(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, packed = {"unlinked.json", "stills.json"}, []

    class Watched(WheelBuilder):
        def build(self, **options):
            packed.append(
                [
                    x
                    for n in drawn
                    for top in ("lib", "book")
                    for x in (root / top).rglob(n)
                ]
            )
            return super().build(**options)

    monkeypatch.setattr(build, "WheelBuilder", Watched)
    wheels = pack_wheels(Book(root, tmp_path))
    names = [name for file in wheels for name in zipfile.ZipFile(file).namelist()]
    assert {Path(name).name for name in names} >= drawn
    assert len(packed) == len(wheels) and not any(packed)
    assert not [name for name in names if "__pycache__" in name]


def test_wheels_are_packed_anew_for_what_they_hold_and_for_no_chapter(root) -> None:
    book = Book(root, root / "_build")
    sources = packed_from(book)
    assert not sources & {page.source for page in book.chapters}
    inside = {
        "rescaling.py",
        "laboratory.py",
        "strings.json",
        "pyproject.toml",
        "machine.py",
    }
    assert inside <= {file.name for file in sources}


def test_a_wheel_that_was_removed_is_packed_again(root: Path, tmp_path: Path) -> None:
    book = Book(root, tmp_path)
    names = [wheel.name for wheel in pack_wheels(book)]
    (tmp_path / "wheels" / names[0]).unlink()
    assert [wheel.name for wheel in pack_wheels(book)] == names
    shutil.rmtree(tmp_path / "wheels")
    assert [wheel.name for wheel in pack_wheels(book)] == names


@pytest.mark.skipif(os.name == "nt", reason="no lock there")
def test_a_build_that_waits_for_another_says_so(tmp_path: Path) -> None:
    code = """
    import sys
    from pathlib import Path
    from tools.build import lock
    with lock(Path(sys.argv[1])):
        print("builds")
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)]
    with build.lock(tmp_path):
        second = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert "waiting for another build" in second.stdout.readline()
    assert second.communicate()[0] == "builds\n"


@pytest.mark.parametrize("folder", ["a file", "a file/below"])
def test_a_folder_that_cannot_be_written_to_is_named(
    folder: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    (tmp_path / "a file").touch()
    out = str(tmp_path / folder)
    monkeypatch.setattr(sys, "argv", ["build", "--path-output", out])
    assert build.main() == 1
    said = capsys.readouterr().err
    assert "The build stopped." in said and "a file" in said


def test_what_a_stopped_render_left_half_written_does_not_stop_the_next(
    tmp_path: Path, monkeypatch
) -> None:
    book = Book(tmp_path, tmp_path / "_build")
    book.html.mkdir(parents=True)
    left = book.html / ".buildinfo"
    left.write_text("# Sphinx build info version 1\n")

    class Stopped(Exception):
        pass

    def renders(*folders: object, **options: object) -> None:
        assert not left.exists()
        raise Stopped

    monkeypatch.setattr(build, "Sphinx", renders)
    monkeypatch.setattr(build, "settings", lambda book: {})
    with pytest.raises(Stopped):
        build.render(book)
