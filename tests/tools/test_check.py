"""The quick checks: what they are told, what runs them, and that they can fail."""

import pytest

from tools import check


def test_a_step_that_fails_says_what_it_found_and_how_to_run_it(monkeypatch, capsys):
    program = "raise SystemExit('nothing is in order')"
    monkeypatch.setattr(check, "command", lambda words: [check.sys.executable, *words])
    monkeypatch.setattr(check, "STEPS", {"good": ["-c", ""], "bad": ["-c", program]})
    assert check.check(["good", "bad"]) == ["bad"]
    said = capsys.readouterr().out
    assert "ok     good" in said and "FAILED bad" in said
    assert "nothing is in order" in said
    assert "alone: " in said and said.count("alone") == 1


def test_a_step_that_is_not_there(monkeypatch, capsys) -> None:
    monkeypatch.setattr(check.sys, "argv", ["check", "rust"])
    with pytest.raises(SystemExit):
        check.main()
    assert "no step rust" in capsys.readouterr().err


def test_a_tool_that_is_not_installed() -> None:
    with pytest.raises(SystemExit, match="no-such-tool is missing: run"):
        check.command(["no-such-tool"])
