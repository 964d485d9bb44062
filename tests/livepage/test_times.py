"""How long a page takes: counted by a rule, and not pretended to be exact."""

from types import SimpleNamespace

import pytest
from docutils import nodes
from myst_nb.sphinx_ext import HideCodeCellNode

from livepage.drills.entry import Drill
from livepage.drills.kinds import KINDS
from livepage.site import times
from livepage.words import LANGUAGES, table


@pytest.mark.parametrize(
    "minutes, said",
    [(0, 1), (0.4, 1), (7.4, 7), (10, 10), (12, 10), (13, 15), (33, 35)],
)
def test_more_than_ten_minutes_come_in_fives(minutes, said):
    assert times.rounded(minutes) == said


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_rule_and_the_times_are_said_in_every_language(language):
    words = table("site", language)
    assert not {"{", "}"} & set(times.rule(words))
    for drills, told in [(0, 1), (1, 2), (5, 2)]:
        said = times.Times(20, drills, 8).said(words)
        assert len(said) == told and "20" in said[0]
        assert told == 1 or (str(drills) in said[1] and "8" in said[1])


def document(*children: nodes.Node) -> nodes.Element:
    made = nodes.section(ids=["a"])
    made.extend([nodes.title("", "A"), *children])
    return nodes.Element("", made)


def times_of(*children: nodes.Node) -> times.Times:
    app = SimpleNamespace(env=SimpleNamespace(docname="a", metadata={"a": {}}))
    times.remember(app, document(*children))
    return times.of(app.env, "a")


def test_code_and_figures_count_but_neither_outputs_nor_what_is_folded():
    folded = HideCodeCellNode("", nodes.literal_block("", "x\n" * 90))
    printed = nodes.literal_block("", "y\n" * 90, classes=["output"])
    figure = '<figure class="os-figure" data-figure="a"></figure>'
    twice = nodes.raw("", figure + figure, format="html")
    again = nodes.raw("", figure, format="html")
    code = nodes.literal_block("", "z\n" * 45)
    assert times_of(folded, printed, twice, again, code).reading == 3 + 2


def test_words_lines_and_figures_add_up_to_a_time():
    words = nodes.paragraph("", "word " * 600)
    code = nodes.literal_block("", "z\n" * 45)
    figure = '<figure class="os-figure" data-figure="a"></figure>'
    found = times_of(words, code, nodes.raw("", figure, format="html"))
    assert found == times.Times(reading=3 + 3 + 2, drills=0, doing=1)


@pytest.mark.parametrize("kind", ["code", "kernel"])
def test_a_program_takes_longer_by_each_line_that_the_starter_lacks(kind):
    def minutes(starter: str) -> float:
        fields = {"starter": starter, "code": "a\n\n  b\nb\nc\n"}
        return KINDS[kind].minutes_of(Drill("d", kind, "a.yml", fields))

    assert minutes("c\na\nb\n b\n") == KINDS[kind].minutes
    assert minutes("a\nb\n") == KINDS[kind].minutes + 1  # a second b, and c
