"""The tool around ptxsim: its command line, `check`, and what a fault says of the source."""

import io
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxsim.__main__ import main
from ptxsim.survey import survey
from tools.common.paths import ROOT
from triton_ptx import PTX, TEXTS

KERNELS = (ROOT / "tests" / "triton" / "kernels.py").read_text("utf-8").split("\n")
ONE = """.version 8.0
.target sm_90a
.address_size 64
.file 1 "/there/k.cu"
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.func (.param .b32 r) half (.param .b32 a)
{
.reg .b32 %r<2>;
ld.param.b32 %r1, [a];
st.param.b32 [r], %r1;
ret;
}
.visible .entry k(.param .u64 p, .param .align 16 .b8 s[24], .param .f32 x)
.maxntid 128, 2
{
.reg .b32 %r<6>;
.reg .b32 %more, %less;
.reg .b64 %rd<7>;
.shared .align 16 .b8 tile[128];
.local .align 4 .b8 own[8];
.loc 1 12 3
BODY
ret;
}
"""
CALL = "{ .param .b32 r; .param .b32 a; call (r), NAME, (a); }"
UNKNOWN = [
    "wgmma.fence.sync.aligned",
    "mbarrier.init.shared.b64 [tile], 1",
    "add.s32 %r1, %r2",
    "ld.shared.b32 %r1, [tile, 4]",
    "call (%r1), vprintf, (%rd1, %rd2)",
    "call (%r1), %rd1, (%r2), proto",
    ".reg .b128 %q",
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file in which everything can run."""
    path = tmp_path / "k.ptx"
    path.write_text(ONE.replace("BODY", CALL.replace("NAME", "half")), "utf-8")
    return path


# ---- python -m ptxsim ----


def test_a_kernel_is_listed(file: Path, capsys: Any) -> None:
    assert main([str(file)]) == 0
    assert (
        capsys.readouterr().out
        == f"""\
kernel        k ({file})
parameter     p  .u64  8 bytes, aligned to 8
parameter     s  .b8   24 bytes, aligned to 16
parameter     x  .f32  4 bytes, aligned to 4
threads       at most 128 x 2
registers     10 .b32, 7 .b64 (virtual: ptxas allocates others)
shared        128 bytes static, dynamic not used
variable      tile  .shared  128 bytes, aligned to 16
variable      own   .local   8 bytes, aligned to 4
calls         half
instructions  5, all supported
"""
    )


def test_all_that_is_unknown_is_listed_with_its_lines(file: Path, capsys: Any) -> None:
    lines = [f".loc 1 {30 + i} 0\n{text};" for i, text in enumerate(UNKNOWN)]
    file.write_text(ONE.replace("BODY", "\n".join(lines)), "utf-8")
    assert main([str(file)]) == 1
    listed = capsys.readouterr().out.partition("not supported:\n")[2].split("\n")[:-1]
    assert len(listed) == len(UNKNOWN)
    for i, (line, text) in enumerate(zip(listed, UNKNOWN)):
        number = ONE[: ONE.index("BODY")].count("\n") + 2 + 2 * i
        shown = text.removesuffix(" %q")  # the parser stops at the type
        assert line.startswith(f"  line {number}  k.cu:{30 + i}  {shown}"), line
    assert main(["--json", str(file)]) == 1
    (kernel,) = json.loads(capsys.readouterr().out)
    assert [x["source"] for x in kernel["unsupported"]] == [
        ["/there/k.cu", 30 + i] for i in range(len(UNKNOWN))
    ]
    with pytest.raises(ptxsim.Unsupported, match=r"line 29 \(k.cu:33\): ld.sh"):
        ptxsim.run(file.read_text("utf-8"), 1, [None, bytes(24), 1.0])


def test_a_name_without_its_declaration_is_an_error_unless_that_is_unknown(
    file: Path, capsys: Any
) -> None:
    body = "add.s32 %q, %r1, 1;\nmbarrier.inval.shared.b64 [tile];"
    file.write_text(ONE.replace("BODY", ".reg .b128 %q;\n" + body), "utf-8")
    assert main([str(file)]) == 1
    assert re.findall(r"line (\d+)", capsys.readouterr().out) == ["22", "24"]
    file.write_text(ONE.replace("BODY", body.split("\n")[0]), "utf-8")
    assert main([str(file)]) == 2
    out, problem = capsys.readouterr()
    assert not out and problem.count("\n") == 1 and "%q is not declared" in problem


@pytest.mark.parametrize(
    "content, problem",
    [
        (b"int x;", "text: line 1: int (expected a declaration)"),
        (b"", "text: expected PTX with an .entry, got none"),
        (b".version 8.0\n", "text: expected PTX with an .entry, got none"),
        (b"\x7fELF\xff", "expected PTX, got what is no text"),
        (ONE[:-3].encode(), "the text ends early"),
        (None, "No such file or directory"),
    ],
)
def test_what_is_no_ptx_is_one_line_and_other_files_are_listed(
    content: bytes | None, problem: str, file: Path, capsys: Any
) -> None:
    wrong = file.with_name("wrong.ptx")
    if content is not None:
        wrong.write_bytes(content)
    assert main([str(wrong), str(file)]) == 2
    out, said = capsys.readouterr()
    assert said.startswith(f"ptxsim: {wrong}: ") and said.count("\n") == 1
    assert problem in said and out.startswith("kernel        k ")


def test_a_module_with_an_unknown_declaration_is_not_supported(
    file: Path, capsys: Any
) -> None:
    text = file.read_text("utf-8").replace(".address_size 64", ".address_size 32")
    file.write_text(text, "utf-8")
    assert main([str(file)]) == 1
    said = capsys.readouterr().err
    assert said == f"ptxsim: {file}: not supported: line 3: .address_size 32\n"


def test_bad_usage_has_status_2(capsys: Any) -> None:
    for arguments in ([], ["--opcode-counts", "x.ptx"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
    assert "usage: python -m ptxsim" in capsys.readouterr().err


def test_the_command_reads_stdin(file: Path) -> None:
    command = [sys.executable, "-m", "ptxsim", "--json", "--opcodes", "-"]
    with file.open("rb") as text:
        done = subprocess.run(
            command,
            stdin=text,
            capture_output=True,
            env={"PYTHONPATH": "lib"},
            cwd=ROOT,
        )
    assert (done.returncode, done.stderr) == (0, b"")
    (kernel,) = json.loads(done.stdout)
    assert kernel["kernel"] == "k" and kernel["file"] == "-"
    assert kernel["shared_static"] == 128 and not kernel["shared_dynamic"]
    assert kernel["opcodes"] == {
        "ret": 2, "call": 1, "ld.param.b32": 1, "st.param.b32": 1
    }  # fmt: skip


@pytest.mark.parametrize("name", ["softmax", "matmul-fp16", "attention-64-fp16"])
def test_what_is_counted_is_what_stands_in_the_text(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    text, (found,) = PTX[name], survey(PTX[name])
    lines = re.findall(r"^(?:@!?%p\d+ )?([a-z][\w.:]*)(?:\s.*)?;$", text, re.M)
    assert found.opcodes == Counter(lines)
    registers = re.findall(r"\.reg (\.\w+)\s+%\w+<(\d+)>", text)
    assert found.registers == {kind[1:]: int(count) for kind, count in registers}
    assert found.is_dynamic and found.shared == 0 and not found.unsupported
    standard = SimpleNamespace(buffer=io.BytesIO(text.encode()))
    monkeypatch.setattr(sys, "stdin", standard)
    assert main(["--opcodes", "-"]) == 0
    listed = capsys.readouterr().out
    assert "variable      global_smem  .shared  dynamic, aligned to 16\n" in listed
    rows = re.findall(r"^ +(\d+)  (\S+)$", listed, re.M)
    assert {name: int(count) for count, name in rows} == found.opcodes


# ---- check ----


def compiled(name: str, without: int = 0) -> Any:
    """Return a stored text as Triton returns it; `without` its barrier of that number."""
    entry, text = TEXTS[name], PTX[name]
    for i, barrier in enumerate(re.finditer(r"bar\.sync\s+0;", PTX[name]), 1):
        if i == without:
            text = text[: barrier.start()] + text[barrier.end() :]
    metadata = SimpleNamespace(
        num_warps=entry["num_warps"], shared=entry["shared"], name=entry["kernel"]
    )
    return SimpleNamespace(asm={"ptx": text}, metadata=metadata)


def scores() -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(0).standard_normal((3, 781)).astype("f4")
    return x, np.full_like(x, np.nan)


def softmax(x: np.ndarray) -> np.ndarray:
    weights = np.exp(x.astype("f8") - x.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)


@pytest.mark.parametrize("how", [{}, {"outputs": [1]}, {"changed": [1]}])
def test_what_triton_returns_is_run(how: dict[str, Any]) -> None:
    x, out = scores()
    result = ptxsim.check(compiled("softmax"), 3, x, out, 781, **how)
    assert np.allclose(out, softmax(x), atol=1e-6)
    lines = result.by_source_line()
    assert {file for file, _ in lines if file} == {"kernels.py"}
    first = KERNELS.index("def softmax(x, out, columns, BLOCK: tl.constexpr):") + 1
    assert sorted(n for _, n in lines if n) == [*range(first, first + 5)]


def test_without_outputs_every_array_may_be_changed() -> None:
    x, out = scores()
    with pytest.raises(ptxsim.Fault, match="input overwritten"):
        ptxsim.check(compiled("softmax"), 3, x, out, 781, changed=[0])
    more = np.full((4, 781), np.nan, "f4")
    ptxsim.check(compiled("softmax"), 3, x, more, 781)
    with pytest.raises(ptxsim.Fault, match="not written"):
        ptxsim.check(compiled("softmax"), 3, x, more, 781, outputs=[1])
    out.flags.writeable = False  # so it may not be changed
    with pytest.raises(ptxsim.Fault, match="input overwritten"):
        ptxsim.check(compiled("softmax"), 3, x, out, 781)


def test_a_forgotten_argument_is_no_null_pointer() -> None:
    x, out = scores()
    with pytest.raises(ValueError, match="softmax_param_2 has no argument"):
        ptxsim.check(compiled("softmax"), 3, x, out)
    with pytest.raises(ValueError, match=r"args\[5\] has no parameter"):
        ptxsim.check(compiled("softmax"), 3, x, out, 781, None, None, None)


@pytest.mark.parametrize(
    "without, here, kind, there",
    [(1, 36, "written", 36), (2, 37, "read", 36), (3, 37, "written", 37)],
)
def test_a_race_names_the_kernel_s_lines_of_both_sides(
    without: int, here: int, kind: str, there: int
) -> None:
    """`tl.max` and `tl.sum` of the softmax are two phases in one shared array."""
    one, (x, out) = compiled("softmax", without), scores()
    with pytest.raises(ptxsim.Fault) as caught:
        ptxsim.check(one, 3, x, out, 781, outputs=[1])
    fault = caught.value
    assert (fault.kind, fault.source) == ("race", ("kernels.py", here))
    assert fault.inlined and fault.inlined[0] == "standard.py"
    place = r"line (\d+) \(kernels.py:(\d+), in standard.py:\d+\)"
    (line, own), (other, its) = re.findall(place, str(fault))
    assert (int(line), int(own), int(its)) == (fault.line, here, there)
    assert f"{kind} by several threads, last on line {other}" in fault.detail
    lines = one.asm["ptx"].split("\n")
    assert ("st.shared" in lines[int(other) - 1]) == (kind == "written")


def typed(**signature: str) -> Any:
    """Return the softmax with the signature that Triton's objects hold."""
    return SimpleNamespace(
        **vars(compiled("softmax")), src=SimpleNamespace(signature=signature)
    )


SIGNATURE = {"x": "*fp32", "out": "*fp32", "columns": "i32", "BLOCK": "constexpr"}


def test_an_array_of_another_type_is_not_misread() -> None:
    """PTX takes any pointer: the numbers would be wrong, and nobody would say so."""
    x, out = scores()
    ptxsim.check(typed(**SIGNATURE), 3, x, out, 781)
    assert np.allclose(out, softmax(x), atol=1e-6)
    with pytest.raises(TypeError, match=r"args\[0\]: .* for x, \*fp32, got float64"):
        ptxsim.check(typed(**SIGNATURE), 3, x.astype("f8"), out, 781)
    with pytest.raises(ValueError, match="expected 3, for x, out, columns, got 4"):
        ptxsim.check(typed(**SIGNATURE), 3, x, out, 781, 1024)


@pytest.mark.parametrize(
    ("kind", "fits", "does_not"),
    [
        ("*fp16", "f2", "u2"), ("*bf16", "u2", "f2"), ("*bf16", "i2", "f4"),
        ("*i1", "?", "i4"), ("*i64", "u8", "i4"), ("*u8", "u1", "u2"),
        ("*fp8e4nv", "u1", "f2"), ("*kfp32", "f4", "i4"), ("*fp64", "f8", "f4"),
    ],
)  # fmt: skip
def test_the_types_of_triton(kind: str, fits: str, does_not: str) -> None:
    x, out = scores()
    types = SIGNATURE | {"out": kind}
    with pytest.raises(TypeError, match=rf"args\[1\]: .*, {re.escape(kind)}, got"):
        ptxsim.check(typed(**types), 3, x, np.zeros(out.shape, does_not), 781)
    roomy = np.zeros(8 * out.size, fits)  # of the right type, and so it is launched
    ptxsim.check(typed(**types), 3, x, roomy, 781)


def test_notes_are_borne_unless_they_are_not_allowed() -> None:
    x, out = scores()
    result = ptxsim.check(compiled("softmax"), 3, x, out, 781)
    assert {note.severity for note in result.notes} == {"benign"}
    ptxsim.check(compiled("softmax"), 3, x, out, 781, allow=["benign"])
    with pytest.raises(ptxsim.Fault) as caught:
        ptxsim.check(compiled("softmax"), 3, x, out, 781, allow=["unmodelled"])
    assert str(caught.value) == str(result.notes[0])
    for allow in (["fault"], "fault"):
        with pytest.raises(ValueError, match="allow: expected .*, got 'fault'"):
            ptxsim.check(compiled("softmax"), 3, x, out, 781, allow=allow)


def test_what_numba_returns_and_plain_ptx_are_run() -> None:
    for text in ((PTX["softmax"], None), PTX["softmax"]):
        x, out = scores()
        # Scratch pointers are Triton's: its objects tell that it is Triton.
        ptxsim.check(text, 3, x, out, 781, None, None, dynamic=16)
        assert np.allclose(out, softmax(x), atol=1e-6)
        with pytest.raises(ValueError, match="softmax_param_3 has no argument"):
            ptxsim.check(text, 3, x, out, 781, dynamic=16)


@pytest.mark.parametrize(
    "wrong", [None, 7, (), (1, 2), SimpleNamespace(asm={}), b".version 8.0"]
)
def test_what_no_compiler_returns_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="compiled: expected what triton.compile or"):
        ptxsim.check(wrong, 1)


# ---- tensors ----


class Tensor:
    """What ptxsim needs of PyTorch's: NumPy sees its memory, unless it has gradients."""

    is_cuda = False

    def __init__(self, array: np.ndarray, gradients: bool = False) -> None:
        self.array, self.gradients = array, gradients

    def detach(self) -> "Tensor":
        return type(self)(self.array)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if self.gradients:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return self.array


class Copied(Tensor):
    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.array.copy()


class OnGPU(Tensor):
    is_cuda = True


class Brain(Tensor):
    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise TypeError("Got unsupported ScalarType BFloat16")


def test_a_tensor_shares_its_memory() -> None:
    x, out = scores()
    inputs = Tensor(x, gradients=True)
    ptxsim.check(compiled("softmax"), 3, inputs, Tensor(out), 781, outputs=[1])
    assert np.allclose(out, softmax(x), atol=1e-6)


@pytest.mark.parametrize(
    "kind, message",
    [
        (Copied, "that shares its memory with NumPy, got Copied"),
        (OnGPU, "expected a tensor in the CPU's memory, got one of a GPU"),
        (Brain, "BFloat16; of bfloat16 pass the bits"),
    ],
)
def test_a_tensor_that_numpy_cannot_view_is_refused(
    kind: type[Tensor], message: str
) -> None:
    x, out = scores()
    with pytest.raises(TypeError, match=rf"args\[1\]: .*{message}"):
        ptxsim.check(compiled("softmax"), 3, x, kind(out), 781)
    with pytest.raises(ValueError, match=r"args\[1\]: expected a C-contiguous array"):
        ptxsim.check(compiled("softmax"), 3, x, Tensor(out.T), 781)


# ---- both sides of a race ----

RACE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
.maxntid 64, 1, 1
{
.reg .pred %p;
.reg .b32 %r<6>;
.reg .b64 %rd<3>;
.shared .align 16 .b8 tile[256];
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, tile;
add.s32 %r3, %r3, %r2;
setp.eq.u32 %p, %r1, 40;
st.shared.u32 [%r3], %r1;
bar.sync 0;
BODY
ret;
}
.file 1 "/there/k.cu"
"""
STORE, LOAD = "st.shared.u32 [%r3], %r1;", "ld.shared.u32 %r4, [tile+8];"
ATOM = "atom.shared.add.u32 %r4, [tile+8], 1;"
COPY = "cp.async.cg.shared.global [tile], [%rd1], 16;"
WAIT = "cp.async.wait_all;"


@pytest.mark.parametrize("fence", ["", "fence.acq_rel.gpu;"])
@pytest.mark.parametrize(
    "first, between, second, detail",
    [
        (STORE, "", LOAD, "written by thread 2 on AT"),
        (f"@%p {LOAD}", "", STORE, "read by thread 40 on AT"),
        (f"@%p {ATOM}", "", LOAD, "written by thread 40, by an atomic operation on AT"),
        (f"@%p {COPY}", "", LOAD, "the copy begins on AT"),
        (f"@%p {COPY}", WAIT, LOAD, "written by thread 40 on AT"),
    ],
    ids=["store", "load", "atomic", "copy", "landed"],
)
def test_both_lines_are_named(
    first: str, between: str, second: str, detail: str, fence: str
) -> None:
    """With a fence the exact record of accesses is used, and says the same."""
    body = f"{fence}\n.loc 1 7 0\n{first}\n.loc 1 8 0\n{between}\n{second}"
    text = RACE.replace("BODY", body)
    number = text[: text.index(".loc 1 8")].count("\n")
    with pytest.raises(ptxsim.Fault) as caught:
        ptxsim.run(text, 1, [np.zeros(8, "i4")])
    assert caught.value.source == ("/there/k.cu", 8)
    assert detail.replace("AT", f"line {number} (k.cu:7)") in caught.value.detail
