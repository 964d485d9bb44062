"""The host's side of the drop-in: what is taken, refused, or declined by its name."""

import gc
import pickle
import weakref
from copy import deepcopy
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blocksim import cuda
from blocksim.dropin import Declined, Policy, Session, arrays, devices, policy, random
from blocksim.dropin.install import HOST, jit_of
from blocksim.dropin.kernels import seldom_collecting
from blocksim.faults import Fault

SESSION = Session()
jit = jit_of(SESSION)


class Colour(IntEnum):
    RED = 1


@jit
def add_one(x, y):
    i = cuda.grid(1)
    x[i] += 1


def launched(x: Any, y: Any = 0) -> Any:
    add_one[1, 2](x, y)
    return x


def made(text: str, folder: Path) -> Any:
    """Return the kernel in a text, from a file of its own."""
    folder.mkdir(exist_ok=True)
    file, space = folder / "kernels.py", {**globals()}
    file.write_text(f"@jit\n{text}")
    exec(compile(file.read_text(), str(file), "exec"), space)
    return space["kernel"]


TAKEN = [True, 3, 2.5, np.float32(1), np.bool_(True), (1, (2.0, np.zeros(1))), 1 << 63]
REFUSED = [
    ([1, 2], TypeError, "y: expected a number, an array or a tuple of these"),
    ("text", TypeError, "got str"),
    ({}, TypeError, "got dict"),
    (1 << 64, ValueError, "y: expected a number of 64 bits at most"),
    (np.zeros(2, ">f4"), ValueError, "y: expected numbers of types that Numba has"),
    (np.zeros(2, object), ValueError, "got object"),
]
DECLINED = [
    (None, "y: None is not simulated"),
    (1j, "y: an argument of type complex is not simulated"),
    (Colour.RED, "y: an argument of type Colour is not simulated"),
    (np.array(1.0), "y: an array without dimensions is not simulated"),
    (np.zeros(2, "c8"), "y: elements of type complex64 are not simulated"),
    (np.zeros(2, "M8[s]"), "y: elements of type datetime64[s] are not simulated"),
    (np.zeros(2, [("a", "f4")]), "y: records are not simulated"),
    ((1, None), "y[1]: None is not simulated"),
]


@pytest.mark.parametrize("value", TAKEN, ids=str)
def test_what_numba_takes_is_taken(value: object) -> None:
    assert launched(np.zeros(2), value).tolist() == [1, 1]


@pytest.mark.parametrize(("value", "kind", "message"), REFUSED)
def test_what_numba_refuses_is_refused_by_its_name(
    value: object, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as caught:
        launched(np.zeros(2), value)
    assert message in str(caught.value)


@pytest.mark.parametrize(("value", "message"), DECLINED)
def test_what_only_the_simulator_refuses_is_declined(
    value: object, message: str
) -> None:
    before = len(SESSION.declined)
    with pytest.raises(Declined) as caught:
        launched(np.zeros(2), value)
    assert str(caught.value) == message == SESSION.declined[before]


# Arrays ------------------------------------------------------------------------


def test_a_new_array_holds_no_result() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        assert np.isnan(arrays.device_array(3, dtype)).all()
        assert np.isnan(arrays.device_array_like(np.zeros(3, dtype))).all()
    assert (arrays.device_array(3, np.int32) > 1000).all()


def test_in_does_not_come_back_and_out_does_not_go_in() -> None:
    x = np.zeros(2)
    launched(arrays.In(x))
    assert x.tolist() == [0, 0]
    launched(arrays.InOut(x))
    assert x.tolist() == [1, 1]
    launched(arrays.Out(x))
    assert np.isnan(x).all()


class Foreign:
    """An array of another library."""

    def __init__(self, desc: dict[str, Any]):
        self.__cuda_array_interface__ = desc


def test_an_array_of_another_library_shares_its_memory() -> None:
    x = np.zeros(2)
    other = Foreign({**x.__array_interface__, "version": 3})
    launched(other)
    launched(arrays.as_cuda_array(other))
    launched(arrays.from_cuda_array_interface(other.__cuda_array_interface__))
    assert x.tolist() == [3, 3]
    with pytest.raises(TypeError, match="expected an array on the device, got int"):
        arrays.as_cuda_array(3)


def test_an_array_in_the_memory_of_a_gpu_is_declined() -> None:
    desc = {**np.zeros(2).__array_interface__, "data": (64, False)}
    with pytest.raises(Declined, match="in the memory of a GPU"):
        launched(Foreign(desc))


def test_what_an_array_or_device_lacks_is_declined_and_absent() -> None:
    d = arrays.to_device(np.zeros(2))
    for owner, name in (
        (d, "gpu_data"),
        (d, "get_ipc_handle"),
        (devices.get_current_device(), "CLOCK_RATE"),
        (devices.current_context(), "memalloc"),
        (add_one, "overloads"),
        (add_one, "get_regs_per_thread"),
    ):
        assert not hasattr(owner, name)
        with pytest.raises(Declined, match=f"{name} of .* is not simulated"):
            getattr(owner, name)
    with pytest.raises(AttributeError, match="a device array has no size_of"):
        _ = d.size_of
    with pytest.raises(Declined, match="cuda.compile_ptx is not simulated"):
        HOST["compile_ptx"](add_one, ())


def test_a_copy_to_the_device_keeps_its_type() -> None:
    d = arrays.to_device(np.zeros(2, np.float32))
    with pytest.raises(TypeError, match="expected an array of float32, got float64"):
        d.copy_to_device(np.zeros(2))


def test_a_copy_may_have_other_extents_of_one() -> None:
    d, column = arrays.to_device(np.arange(3.0)), np.zeros((3, 1))
    d.copy_to_host(column)
    assert column.ravel().tolist() == [0, 1, 2]
    d.copy_to_device(column + 1)
    assert d.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match=r"expected the shape \(3,\), got \(1, 2\)"):
        d.copy_to_host(np.zeros((1, 2)))


def test_another_shape_shares_the_memory_or_is_refused_as_by_numba() -> None:
    d = arrays.to_device(np.zeros((2, 3)))
    d.reshape(3, 2)[0, 1] = 1
    d.ravel()[5] = 2
    assert d.tolist() == [[0, 1, 0], [0, 0, 2]]
    for copy in (d.T.ravel, lambda: d.T.reshape(6)):
        with pytest.raises(NotImplementedError, match="operation requires copying"):
            copy()
    assert d.T.ravel("F").tolist() == [0, 1, 0, 0, 0, 2]


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_a_kind_of_array_with_rules_of_its_own() -> None:
    @jit
    def store(x):
        x[0, 1] = 1

    x = np.asmatrix(np.zeros((1, 2)))
    store[1, 1](x)
    assert x.tolist() == [[0, 1]]
    with pytest.raises(
        TypeError, match="x: expected an array, as Numba does; got a mas"
    ):
        store[1, 1](np.ma.masked_array(np.zeros((1, 2)), [[0, 1]]))


def test_only_a_contiguous_array_goes_to_the_device() -> None:
    x = np.arange(6.0).reshape(2, 3)
    for whole in (x, x.T, x[1:], np.broadcast_to(x, (4, 2, 3)), x[:0, ::2]):
        assert arrays.to_device(whole).tolist() == whole.tolist()
    for part in (x[:, ::2], x[:, 1:], x[0, ::2]):
        with pytest.raises(ValueError, match="obj: expected a contiguous array"):
            arrays.to_device(part)


@pytest.mark.filterwarnings("error")
def test_a_reduction_of_integers_wraps_without_a_word() -> None:
    x = np.full(3, 100, np.int8)
    assert arrays.Reduce(lambda a, b: a + b)(x) == 44


# Kernels -----------------------------------------------------------------------


def test_jit_takes_functions_signatures_and_numbas_options() -> None:
    for wrong in (3, staticmethod(len), Colour):
        with pytest.raises(TypeError, match="expected a function or a signature, got"):
            jit(wrong)
    with pytest.raises(TypeError, match="expected a function, got 3"):
        jit("void(float32[:])")(3)
    with pytest.raises(TypeError, match="expected options that Numba has, got tpb"):
        jit(tpb=3)
    with pytest.raises(NotImplementedError, match="bounds checking"):
        jit(boundscheck=True)
    twice = jit(add_one, fastmath=True, max_registers=32, lineinfo=True)
    x = np.zeros(2)
    twice[1, 2](x, 0)
    assert x.tolist() == [1, 1]


def test_a_kernel_in_a_class_is_bound_as_numbas_is() -> None:
    class Holder:
        kernel = add_one
        static = staticmethod(add_one)

    x = np.zeros(2)
    Holder.kernel[1, 2](x, 0)
    Holder().static[1, 2](x, 0)
    assert x.tolist() == [2, 2]
    with pytest.raises(TypeError, match="not subscriptable"):
        Holder().kernel[1, 2](x, 0)


def test_a_kernel_without_a_text_is_declined_in_one_sentence() -> None:
    space: dict[str, Any] = {"jit": jit}
    exec("@jit\ndef made(x):\n    x[0] = 1\n", space)
    for argument in np.zeros(1), random.create_xoroshiro128p_states(1, 1):
        with pytest.raises(Declined) as caught:
            space["made"][1, 1](argument)
        assert str(caught.value) == (
            "made is a function whose text Python does not find, so it is not simulated"
        )


def test_a_copy_of_a_kernel_is_the_kernel_and_so_counted() -> None:
    assert deepcopy({"kernel": add_one})["kernel"] is add_one
    assert pickle.loads(pickle.dumps(add_one)) is add_one


def test_a_wrapper_is_read_and_not_what_it_wraps() -> None:
    def inner(x):
        x[0] = 1

    def outer(x):
        x[0] = 2

    outer.__wrapped__ = inner
    x = np.zeros(1)
    jit(outer)[1, 1](x)
    assert x[0] == 2


@pytest.mark.parametrize("wrong", [-1, 2.5, "a"])
def test_forall_takes_a_number_of_tasks(wrong: Any) -> None:
    with pytest.raises(ValueError, match="ntasks: expected whole numbers from 0, got"):
        add_one.forall(wrong)


def test_a_fault_can_be_copied_and_pickled() -> None:
    @jit
    def beyond(x):
        x[5] = 1

    with pytest.raises(Fault) as caught:
        beyond[1, 1](np.zeros(3))
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.fields == caught.value.fields
    assert again.__notes__ == caught.value.__notes__ and again.kind == "index"


def test_a_fault_keeps_no_array_of_its_test() -> None:
    def beyond(array):
        with pytest.raises(Fault, match="asks for"):
            add_one[1, 8](array, 0)
        return weakref.ref(array)

    array = beyond(np.zeros(3))
    gc.collect()
    assert array() is None


def test_launches_in_threads_leave_pythons_collector_as_it_was() -> None:
    before = gc.get_threshold()
    first, second = seldom_collecting(), seldom_collecting()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] > before[0]
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before


@pytest.mark.parametrize("name", ["cg", "float32x3", "uint4", "ldcg"])
def test_what_numba_has_only_for_kernels_is_declined(name: str, tmp_path: Any) -> None:
    kernel = made(f"def kernel(x):\n    x[0] = cuda.{name}(x)\n", tmp_path)
    with pytest.raises(Declined, match=f"a kernel here knows no cuda.{name}"):
        kernel[1, 1](np.zeros(1))
    unknown = made("def kernel(x):\n    x[0] = cuda.grid1(x)\n", tmp_path / "other")
    with pytest.raises(Fault, match="a kernel knows no cuda.grid1"):
        unknown[1, 1](np.zeros(1))


def test_a_launch_without_a_grid_is_refused_in_numbas_words() -> None:
    with pytest.raises(ValueError, match="launch configuration was not specified"):
        add_one(np.zeros(2), 0)


def test_extensions_prepare_arguments_and_hear_of_the_end() -> None:
    heard = []

    class Doubled:
        @staticmethod
        def prepare_args(kind: Any, value: Any, stream: Any, retr: list[Any]) -> Any:
            retr.append(lambda: heard.append("end"))
            return kind, value * 2 if isinstance(value, int) else value

    @jit(extensions=[Doubled])
    def store(x, n):
        x[0] = n

    x = np.zeros(1)
    store[1, 1](x, 4)
    assert x[0] == 8 and heard == ["end", "end"]


def test_a_for_without_end_is_ended_with_its_thread_and_line() -> None:
    session = Session()

    @jit_of(session)
    def counts(x, n):
        s = 0
        for i in range(n):
            s += i
        x[0] = s

    counts[1, 1](np.zeros(1), 3)  # compiled before the time is taken
    session.policy = Policy(seconds=0.3)
    with pytest.raises(Fault, match=r"^thread 0: counts ran .* 0.3 seconds \(line"):
        counts[1, 1](np.zeros(1), 1 << 50)
    assert [fault.kind for fault in session.launches[1].faults] == ["endless"]


def test_a_limit_may_be_longer_than_any_timer() -> None:
    x = np.zeros(2)
    jit_of(Session(Policy(seconds=float("inf"))))(add_one)[1, 2](x, 0)
    assert x.tolist() == [1, 1]


# Random numbers ----------------------------------------------------------------


@jit
def draws(rng, x):
    i = cuda.grid(1)
    if i < rng.shape[0] and i < len(rng):
        x[i, 0] = random.xoroshiro128p_uniform_float32(rng, i)
        x[i, 1] = random.xoroshiro128p_uniform_float64(rng, i)
        x[i, 2] = random.xoroshiro128p_normal_float32(rng, i)
        x[i, 3] = random.xoroshiro128p_normal_float64(rng, i)


# What numba-cuda 0.30.4 gives under NUMBA_ENABLE_CUDASIM=1 after two such launches.
STATES = [
    (4809633663695661343, 16214436846112858608),
    (7212401754202961766, 11598637609581732721),
    (7938031412842219034, 16066502882906354104),
]
UNIFORM = [
    [0.637542724609375, 0.3096815677291528],
    [0.5683755278587341, 0.9737699284614318],
    [0.46162477135658264, 0.671400424818288],
]
NORMAL = [[-0.9412081, -0.5202623], [0.0467304, -0.4061085]]


def test_random_numbers_are_numbas() -> None:
    states = random.create_xoroshiro128p_states(3, (1 << 40) + 7, subsequence_start=2)
    assert states.dtype.names == ("s0", "s1") and states.shape == (3,)
    x = np.zeros((8, 4))
    for _ in range(2):
        draws[1, 8](states, x)
    assert states.copy_to_host().tolist() == STATES
    assert x[:3, :2].tolist() == UNIFORM and not x[3:].any()
    assert x[:2, 2:] == pytest.approx(np.array(NORMAL), rel=1e-4)


def test_two_threads_that_draw_from_one_generator_race() -> None:
    @jit
    def shared_generator(rng, x):
        x[cuda.grid(1)] = random.xoroshiro128p_uniform_float64(rng, 0)

    with pytest.raises(Fault, match=r"reads rng\[0, 0\], which thread 0 wrote"):
        shared_generator[1, 2](random.create_xoroshiro128p_states(1, 1), np.zeros(2))


@jit(device=True)
def size_of(generators):
    return generators.size


@pytest.mark.parametrize(
    "use", ["rng.size", "rng[0].s0", "rng[0]['s0']", "size_of(rng)"]
)
def test_states_are_only_handed_on(use: str, tmp_path: Any) -> None:
    """As an array with two columns they have another size than Numba's records."""
    kernel = made(f"def kernel(rng, x):\n    x[0] = {use}\n", tmp_path)
    with pytest.raises(Declined, match="states of random numbers"):
        kernel[1, 1](random.create_xoroshiro128p_states(1, 1), np.zeros(1))


# Arrays, streams and policies ----------------------------------------------------


def test_a_device_array_is_a_copy() -> None:
    x = np.arange(6.0).reshape(2, 3)
    d = arrays.to_device(x)
    x[0, 0] = 7
    assert d.copy_to_host()[0, 0] == 0 and type(d.copy_to_host()) is np.ndarray
    out = np.empty((2, 3))
    assert d.copy_to_host(out) is out and (out == d).all()
    d.copy_to_device(x)
    assert d[0, 0] == 7 and d[1:].copy_to_host().tolist() == [[3.0, 4.0, 5.0]]
    assert [part.tolist() for part in d.ravel().split(4)] == [[7, 1, 2, 3], [4, 5]]
    back = np.zeros((2, 3))
    arrays.to_device(x, to=back.view(arrays.DeviceNDArray))
    assert (back == x).all()


@pytest.mark.parametrize(
    ("ary", "message"),
    [
        (np.empty((3, 2)), "expected the shape (2, 3), got (3, 2)"),
        (np.empty((2, 3), np.float32), "expected an array of float64, got float32"),
    ],
)
def test_a_copy_of_another_kind_is_refused(ary: np.ndarray, message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        arrays.to_device(np.zeros((2, 3))).copy_to_host(ary)
    assert message in str(caught.value)


def test_a_reduction_keeps_the_type_and_begins_with_init() -> None:
    total = arrays.Reduce(lambda a, b: a + b)
    x = np.array([1, 2, 3], np.float32)
    assert total(x) == 6 and total(x, init=4) == 10 and total(x, size=2) == 3
    assert type(total(x)) is np.float32
    out = np.zeros(1, np.float32)
    assert total(x, res=out) is None and out[0] == 6


def test_streams_and_events_are_done_at_once() -> None:
    heard = []
    stream = devices.stream()
    stream.add_callback(lambda *said: heard.append(said), "done")
    assert heard == [(stream, 0, "done")]
    first, last = devices.event(), devices.event()
    first.record(stream)
    assert last.query() and devices.event_elapsed_time(first, last) == 0
    with stream.auto_synchronize(), devices.gpus[0], devices.defer_cleanup():
        assert devices.get_current_device().WARP_SIZE == 32
    assert devices.current_context().get_memory_info().free > 0
    with pytest.raises(RuntimeError, match="expected 0, the only device, got 1"):
        devices.select_device(1)


WRONG = [
    ("seconds = 0", "seconds: expected a number above 0, got 0"),
    ("second = 1", "expected seconds and benign, got 'second'"),
    ("benign = 3", "expected benign as tables"),
    ("[[benign]]\nkernel = 'k'", "expected `because`"),
    ("[[benign]]\nbecause = 'known'", "expected `because` and one of"),
    ("[[benign]]\nkernels = 'k'\nbecause = 'known'", "got 'kernels'"),
    ("[[benign]]\nline = '3'\nbecause = 'known'", "benign: line: got '3'"),
    ("[[benign]", "cannot be read as a policy"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_a_policy_that_says_something_else_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with pytest.raises(ValueError) as caught:
        policy.read(file)
    assert message in str(caught.value) and str(file) in str(caught.value)
