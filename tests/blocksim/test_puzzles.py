"""Every right answer to a puzzle is found right, and every wrong one wrong, with its cause."""

import json
from pathlib import Path
from typing import Any

import pytest
from puzzles import NUMBERS, RIGHT, TASKS

import dropin

PUZZLES = Path(__file__).with_name("puzzles.py")
Verdicts = dict[str, dict[str, Any]]


def cases(kind: str) -> list[Any]:
    """Return the task and the name of each answer of a kind, as a test's parameters."""
    return [
        pytest.param(task, name, id=f"{task}: {name}")
        for task in TASKS
        for name in getattr(TASKS[task], kind)
    ]


def judge(folder: Path, *options: str) -> Verdicts:
    """Return the verdicts on all answers; the program catches faults, so it returns 1."""
    done = dropin.run(folder, "-m", "blocksim", *options, str(PUZZLES), str(folder))
    assert done.returncode == 1, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Verdicts:
    return judge(tmp_path_factory.mktemp("answers"))


@pytest.mark.parametrize(("task", "name"), cases("right"))
def test_right_answers_pass_without_a_note(
    verdicts: Verdicts, task: str, name: str
) -> None:
    assert verdicts[task][name] == {"kind": RIGHT, "notes": []}


@pytest.mark.parametrize(("task", "name"), cases("wrong"))
def test_wrong_answers_fail_with_their_cause(
    verdicts: Verdicts, task: str, name: str
) -> None:
    expected, verdict = TASKS[task].wrong[name], verdicts[task][name]
    assert verdict["kind"] == expected.kind, verdict
    assert verdict.get("array") == expected.array, verdict
    assert expected.line in verdict.get("line", ""), verdict
    assert expected.said in verdict.get("said", ""), verdict


@pytest.mark.parametrize(("task", "name"), cases("benign"))
def test_threads_that_repeat_work_are_noted(
    verdicts: Verdicts, task: str, name: str
) -> None:
    array = TASKS[task].benign[name].array
    assert verdicts[task][name]["kind"] == RIGHT
    assert ["benign", "race", array] in verdicts[task][name]["notes"]


def test_what_nobody_wrote_may_be_passed_over_if_nobody_uses_it(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[[benign]]\nkind = "uninitialised"\nbecause = "not used"\n')
    verdicts = judge(tmp_path, f"--policy={policy}")["matrix multiply"]
    assert verdicts["products that nobody wants"]["kind"] == RIGHT
    assert verdicts["no zeroes"]["kind"] == NUMBERS, "such an element is NaN"


def test_there_are_fourteen_tasks_with_two_right_answers_each() -> None:
    assert len(TASKS) == 14
    assert not [name for name, task in TASKS.items() if len(task.right) < 2]
