"""Drills in a notebook: what is shown, what a check answers, how code is marked."""

import math
import re
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from math import exp, inf, nan

import numpy as np
import pytest

import marking
from blocksim import cuda, webgpu
from livepage.drills import check, drill, notebook
from livepage.drills.bank import bank
from livepage.drills.faults import new_fault
from livepage.drills.grade import Visit
from livepage.drills.kinds import KINDS
from livepage.drills.kinds.code import deadline, grader, kind
from livepage.drills.payload import payload
from livepage.drills.values import pack, unpack
from livepage.markup import blocks, inline
from patience import PATIENCE, wait_until

# ---- showing


@pytest.mark.parametrize("id", bank())
def test_a_drill_is_a_host_and_readable_alone(id: str) -> None:
    html = drill(id)._repr_html_()
    opening = f'<div class="os-drill" data-drill="{id}" id="drill-{id}">'
    assert html.startswith(opening) and html.endswith("</div>")
    assert html.count("<div") == 1
    assert f'check("{id}"' in html
    assert f'check("{id}"' in repr(drill(id))


def test_the_markup_escapes_all_else() -> None:
    assert inline("`a < b` & *c* <b>") == (
        "<code>a &lt; b</code> &amp; <em>c</em> &lt;b&gt;"
    )
    assert inline("**new** at $x<y$", lambda tex, _: f"[{tex}]") == (
        "<strong>new</strong> at [x<y]"
    )
    assert blocks("one\n\n- a\n- b\n\n```\nx = 1\n\ny = 2\n```") == (
        "<p>one</p>\n<ul><li>a</li><li>b</li></ul>\n"
        '<pre tabindex="0"><code>x = 1\n\ny = 2</code></pre>'
    )


# ---- checking


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "visits", defaultdict(Visit))


def test_a_verdict_echoes_hints_and_offers_the_solution() -> None:
    first = check("rescale-hard", "7 + 1 + e^-1")
    assert not first
    assert "I read 8.3679." in repr(first) and "old maximum" in repr(first)
    assert "show=True" not in repr(first)
    assert "show=True" in repr([check("rescale-hard", n) for n in (70, 71)])
    assert check("rescale-hard", 2.3152)


def test_the_solution_is_offered_after_the_hints() -> None:
    named = [
        repr(check("rescale-hard", text)) for text in ("7 + 2", "7 + 4 + 3", "7 + 2")
    ]
    assert ["hint=True" in said for said in named] == [False, True, True]
    assert not [said for said in named if "show=True" in said]
    hints = bank()["rescale-hard"].get("hints")
    shown = ["show=True" in repr(check("rescale-hard", hint=True)) for _ in hints]
    assert shown == [False] * (len(hints) - 1) + [True]


def test_an_error_is_no_value() -> None:
    assert "An error is no number" in repr(check("naive-low", "Error "))
    assert "I cannot read that" in repr(check("naive-low", "terror"))


def test_what_is_too_small_for_a_float_is_read_as_nearly_0() -> None:
    assert "I read ≈ 0." in repr(check("smallest-sum", "e^-800"))
    assert "I read 4.9407" not in repr(check("smallest-sum", "e^-800"))


def test_the_solution_is_offered_once_and_not_after_a_pass() -> None:
    said = ["show=True" in repr(check("rescale-hard", 1000 + n)) for n in range(5)]
    assert said == [False, True, False, False, False]
    assert check("update", update)
    unchanged = [check("update", lambda m, l, block: (m, l)) for _ in range(3)]
    assert not [verdict for verdict in unchanged if "show=True" in repr(verdict)]


def test_hints_can_be_asked_for_and_stay() -> None:
    hints = bank()["rescale-hard"].get("hints")
    asked = [repr(check("rescale-hard", hint=True)) for _ in range(len(hints) + 1)]
    for count, text in enumerate(asked, 1):
        assert [hint in text for hint in hints] == [
            n < count for n in range(len(hints))
        ]
    assert not [hint for hint in hints if hint not in repr(check("rescale-hard", 70))]


def agrees(got, truth, size):
    """Say whether a kernel's output is right: 1, or 0 if it is not."""
    # as the museum shows it, with other spaces and a comment
    worst = 0.0
    for row, right in zip(got, truth):
        for x, y in zip(row, right):
            worst = max(worst, abs(x - y))
    return 1 if worst <= 1e-2 else 0


def test_of_an_exhibit_as_it_stands_the_fault_is_shown_and_not_explained() -> None:
    diagnosis = bank()["told-right"].get("mutants")[0]["hint"]
    for _ in range(3):
        verdict = check("told-right", agrees)
        assert verdict.table and "fails on: *off in the third digit*" in repr(verdict)
        assert "You have not changed the code" in repr(verdict)
        assert diagnosis not in repr(verdict) and "show=True" not in repr(verdict)
    assert diagnosis in repr(check("told-right", changed(agrees)))
    assert "not changed" in repr(check("told-right", agrees))
    check("told-right", hint=True)
    assert diagnosis in repr(check("told-right", agrees))


def changed(function):
    """The same function with a name of another kind: no longer what was handed out."""
    return lambda got, truth, size: function(got, truth, size)


def test_without_a_known_mistake_hints_come_one_by_one() -> None:
    hints = bank()["rescale-hard"].get("hints")
    said = [repr(check("rescale-hard", 1234)) for _ in hints]
    for place, hint in enumerate(hints):
        assert [hint in text for text in said].index(True) == place


def test_a_verdict_in_html_and_markdown() -> None:
    verdict = check("update", lambda m, l, block: (max(m, *block), l + len(block)))
    assert "<table>" in verdict._repr_html_()
    assert re.search(r"\| step \| .* \|\n\| --- \|", verdict._repr_markdown_())


@pytest.mark.parametrize("answer", ["c", "C", " c "])
def test_a_choice_is_a_letter(answer: str) -> None:
    assert check("vanished-past", answer)


@pytest.mark.parametrize("answer", [2, 3, 2.0, [2], np.int64(2), np.ones((2, 2))])
def test_a_choice_by_number_is_asked_for_its_letter(answer: object) -> None:
    with pytest.raises(
        ValueError, match='Answer with its letter: `check."vanished-past"'
    ):
        check("vanished-past", answer)


def test_an_order_that_cannot_be_read_is_told_how_to_be_written() -> None:
    assert 'check("shift-proof", "abcde")' in repr(check("shift-proof", "ab"))


def test_a_trace_may_hold_expressions() -> None:
    rows = [[1, 0, 1], [2, "e^-1", "1 + e^-1"], [3, "1/e", "1 + 1/e + 1/e^2"]]
    assert check("trace-123", rows)
    rows[1][2] = 2
    assert "as it was" in repr(check("trace-123", rows))
    assert "row 1 is still empty" in repr(check("trace-123", []))


NO_FUNCTIONS = {
    "int 3": 3,
    "nothing": None,
    "str 'update'": "update",
    "the class list": list,
    "a generator": (x for x in []),
    r"an array of shape \(3,\)": np.zeros(3),
    r"tuple \[1, 2\]": (1, 2),
}


@pytest.mark.parametrize("came", NO_FUNCTIONS)
def test_what_is_no_function_is_named(came: str) -> None:
    expected = f"answer: drill 'update' expects a function, got {came}"
    with pytest.raises(ValueError, match=expected):
        check("update", NO_FUNCTIONS[came])
    with pytest.raises(ValueError, match=f"expects a kernel, got {came}"):
        check("guarded-terms", NO_FUNCTIONS[came])


def test_a_number_is_no_function_and_a_function_no_number() -> None:
    for answer in (check, None):
        with pytest.raises(ValueError, match="answer: got .* Answer with"):
            check("rescale-hard", answer)
    with pytest.raises(ValueError, match="answer: expected one, got 2"):
        check("rescale-hard", 1, 2)


def test_a_mistyped_id_is_told_what_is_near() -> None:
    with pytest.raises(ValueError, match="'updte'; did you mean 'update'"):
        check("updte", 1)
    with pytest.raises(ValueError, match="id: expected the name of a drill in quotes"):
        check(update, 1)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda m, l: (m, l), "takes `m, l`. It is called with `m, l, block`"),
        (lambda: (0, 0), "takes `nothing`. It is called with"),
        (max, "`"),
        (lambda *parts: parts, "Expected `m, ℓ`, got"),
        (lambda m, l, block: (m, l, (x for x in block)), "<generator object"),
        (lambda m, l, block: sys.exit(), "ends the program"),
        (lambda m, l, block: (np.float64(m), np.float32(l)), "ℓ"),
    ],
)
def test_a_function_of_another_kind_gets_a_sentence(function, said: str) -> None:
    verdict = check("update", function)
    assert not verdict and said in repr(verdict)


BEGUN: set[str] = set()  # not empty once that which never ends has begun
OVER = threading.Event()


def forever(m: float, l: float, block: list) -> None:
    print("round and round")
    BEGUN.add("here")
    while True:
        try:  # noqa: SIM105 (as a reader writes it)
            m = m
        except Exception:
            pass


def waiting(m: float, l: float, block: list) -> None:
    BEGUN.add("here")
    OVER.wait()


def wrong_then_forever(m: float, l: float, block: list) -> tuple:
    while len(block) > 1:
        BEGUN.add("here")
    return m, l


@pytest.fixture
def out_of_time(monkeypatch) -> Iterator[list[threading.Thread]]:
    """The time is over as soon as what never ends has begun, and not sooner.

    Gives the threads in which it runs: others belong to other tests.
    """
    thread, threads = deadline._thread, []

    def impatient(run: Callable[[], None]) -> threading.Thread:
        made = thread(run)
        threads.append(made)
        join = made.join

        def early(seconds: float) -> None:
            wait_until(lambda: BEGUN or not made.is_alive(), "it has begun")
            join(0.01 if made.is_alive() else seconds)

        made.join = early
        return made

    BEGUN.clear()
    OVER.clear()
    monkeypatch.setattr(deadline, "_thread", impatient)
    yield threads
    OVER.set()
    wait_until(lambda: not alive(threads), "the thread ends")


def alive(threads: list[threading.Thread]) -> int:
    return sum(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("function", [forever, waiting])
def test_what_never_ends_is_ended(function, out_of_time, monkeypatch, capsys) -> None:
    monkeypatch.setattr(kind, "LIMIT_S", 0.3)
    gives_up = 0.1 if function is waiting else PATIENCE
    monkeypatch.setattr(deadline, "PATIENCE_S", gives_up)
    verdict = check("update", function)
    assert "Stopped after 0.3 seconds" in repr(verdict)
    assert "fails on: *one score*" in repr(verdict)
    still = "restart the kernel" in repr(verdict)
    assert still == (function is waiting)
    assert alive(out_of_time) == still
    assert ("round" in capsys.readouterr().out) == (function is forever)


def test_a_verdict_does_not_wait_for_the_name_of_the_mistake(
    out_of_time, monkeypatch
) -> None:
    monkeypatch.setattr(deadline, "PATIENCE_S", PATIENCE)
    verdict = check("update", wrong_then_forever)
    assert "fails on: *one score*" in repr(verdict) and "Stopped" not in repr(verdict)
    assert BEGUN, "what comes after the verdict never ended"


def test_prints_are_there_once_and_stdout_is_as_before(capsys) -> None:
    def talks(m: float, l: float, block: list) -> tuple:
        print("block", block)
        return update(m, l, block)

    assert check("update", talks)
    once = sum(
        -(-len(c["args"]["scores"]) // c["args"]["block"])
        for c in payload(bank()["update"])["cases"]
    )
    assert capsys.readouterr().out.count("block") == once
    assert not check("update", lambda m, l, block: print("x") or (m, l))
    assert capsys.readouterr().out == "x\n"


def test_a_device_that_is_not_there_is_missed_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing() -> None:
        raise webgpu.NoDevice("it is switched off")

    monkeypatch.setattr(webgpu, "device", missing)

    def terms(scores, m, out):
        i = cuda.grid(1)
        if i < scores.shape[0]:
            out[i] = math.exp(scores[i] - m)

    with pytest.raises(
        ValueError, match='on: "device" needs an NVIDIA GPU.*is switched'
    ):
        check("guarded-terms", cuda.jit(terms), on="device")


# ---- marking code


def update(m: float, l: float, block: list[float]) -> tuple[float, float]:
    new = max(m, *block)
    if new == -inf:
        return new, 0.0
    return new, l * exp(m - new) + sum(exp(s - new) for s in block)


def test_the_right_function_passes_and_says_why() -> None:
    assert check("update", update)
    assert bank()["update"].get("solution").strip() in repr(check("update", update))


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda m, l, block: None, "Your function returns nothing"),
        (lambda m, l, block: (m, max(l)), "A single number stands where several are"),
        (lambda m, l, block: (m, block - m), "You calculate with a whole list at once"),
        (lambda m, l, block: (1, 2, 3), "Expected `m, ℓ`, got `1, 2, 3`"),
        (lambda m, l, block: m / 0, "`ZeroDivisionError: float division by zero`"),
        (lambda m, l, block: (max(m, *block), nan), "ℓ, yours"),
    ],
)
def test_a_failure_is_told_in_one_sentence(function: object, said: str) -> None:
    verdict = check("update", function)
    assert not verdict and said in repr(verdict)


def test_only_the_columns_that_differ_stand_twice() -> None:
    verdict = check("update", lambda m, l, block: (max(m, *block), 7.0))
    assert "m" in verdict.table[0] and "ℓ, yours" in verdict.table[0]


def report(source: str, drill_id: str = "update") -> dict:
    return marking.run(bank()[drill_id], source)


def test_a_broken_file_names_its_line() -> None:
    assert report("x = 1\ny = (\n")["fault"] == "raised"
    assert report("x = 1\n\nraise KeyError('k')")["line"] == 3
    late = "def update(m, l, block):\n    return (\n        m, l / 0)\n"
    assert report(late)["line"] == 3


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("return m, l", True),
        ("return m / 0", True),  # its inputs
        ("return update(m, l, block)", False),  # recursion: the sentence says it all
        ("block.append(1); return m, l", False),
    ],
)
def test_a_table_is_shown_where_it_says_more(body: str, shown: bool) -> None:
    came = report(f"def update(m, l, block):\n    {body}")
    assert ("table" in came) == shown, came["word"]


def test_a_missing_function_is_named() -> None:
    assert report("def updat(): pass")["fault"] == "missing"
    assert report("def updat(): pass")["value"] == "update"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("x = x[0:9]\n    return [exp(s) / sum(map(exp, x)) for s in x]", "at once"),
        (
            "return [exp(s) / sum(exp(t) for t in x) for s in x]",
            "each twice would make",
        ),
        ("return []", "weights returned: 0"),
    ],
)
def test_a_drill_may_set_rules(body: str, said: str) -> None:
    top = "from math import exp\n\ndef streaming_softmax(x, block):\n    "
    found = report(top + body, "streaming-softmax")
    assert found["fault"] == "rule" and said in found["value"]


def test_too_few_and_too_many_steps() -> None:
    case = {"args": {}, "expected": [[1.0], [2.0]], "compared": ["m"]}

    def drive(function: object) -> object:
        yield from function()

    def follow(rows: list) -> dict | None:
        played = grader.play(lambda: rows, drive, {}, 2, lambda: None)
        return grader.judge(played, case, 1e-9)[1]

    def few(count: int) -> dict:
        return new_fault("count", count, "count", n=count, all=2)

    assert follow([[1.0], [2.0]]) is None
    assert follow([[1.0]]) == few(1)
    assert follow([[1.0], [2.0], [3.0]]) == few(3)
    assert follow([[1.0], [2.1]])["fault"] == "differs"


def test_infinities_travel_through_json() -> None:
    values = [1, -2.5, inf, -inf, [inf]]
    assert unpack(pack(values)) == values
    assert pack([nan]) == ["nan"]


def test_a_kernel_that_did_not_compile_is_not_helped_with_what_it_computes() -> None:
    d = bank()["second-row"]
    for old, new, helped in (
        ("T // 2", "halves", False),
        ("scores[row, t] - m[0]", "m[t]", True),
    ):
        report = marking.run(d, d.get("code").replace(old, new))
        lines, _ = KINDS[d.kind].feedback(d, payload(d), report, Visit())
        assert (d.get("hints")[0] in " ".join(lines)) == helped, lines


@pytest.mark.parametrize(
    ("id", "answer", "passed"),
    [
        ("shift-proof", np.ones((2, 2)), False),
        ("shift-proof", np.array("a"), False),
        ("vanished-past", np.array("c"), True),
        ("alpha-tie", np.array([1.0]), True),
        ("alpha-tie", np.array("1"), True),
    ],
)
def test_an_array_is_an_answer_like_a_list(id: str, answer, passed: bool) -> None:
    assert check(id, answer).passed is passed


@pytest.mark.parametrize("had", [[1, 2], [], 1, "yes"])
def test_a_verdict_on_own_words_that_is_none_is_refused(had: object) -> None:
    with pytest.raises(ValueError, match="had: expected True or False, got"):
        check("why-the-largest", "An answer.", had=had)
