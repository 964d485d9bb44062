"""Drills: one YAML file a chapter, answered on the page or in the notebook.

In a notebook ``drill("rescale-hard")`` shows a drill and ``check("rescale-hard", x)``
marks an answer. The build asks for the same drill as a piece of the page.

How to write a drill
--------------------
Add an entry to ``book/drills/<chapter>.yml``; nothing else has to change, and the tests
of the bank take it up by themselves. Every drill has ``id``, ``kind``, ``prompt`` and
``solution``, and may have ``hints`` (released one at a time), ``steps`` (a partial step
after them) and ``nudge`` (instead of the general one). Texts know `` `code` ``,
``*em*``, ``**strong**`` and ``$maths$``; they are English, or ``{en: …, es: …}``.
Values are expressions, never typed results. A listed mistake earns its own hint; a hint
never holds the answer.

numeric
    ``answer: {value, to, side}``: ``to`` is how exact the answer has to be, "3 digits",
    "2 decimals", "exact" or "whole", and the reader is told; ``side``, "below" or
    "above", is where an answer is safe, if a limit is asked for. Words of the prompt
    may follow the number, and what ``unit`` names; if that is a size, sizes alone.
    ``wrong: [{value, hint}]``.
choice
    ``choices: [{text, correct: true} or {text, hint}]``.
order
    ``lines`` in a right order; ``needs: {line: [lines]}``, the lines a line leans on
    where that is not the one before it: every order that keeps to them passes.
    ``wrong: [{first, then, hint}]``, the numbers of two lines where ``first`` needs
    ``then`` and stands too early. List far jumps before near ones.
recall, a formula
    ``answer: {value, where: [{name: sample, …}, …]}``, compared at the samples;
    ``wrong: [{value, hint}]``.
recall, own words
    ``points``, what an answer has to say, one idea each. Nobody marks free text: the
    reader ticks the points it makes.
trace
    ``scores``, the size of a ``block`` of them, perhaps ``values``. ``oracle`` is the
    source of a function that takes them and returns the quantities of each step by
    name; ``columns`` names those asked for, each cell to two decimals;
    ``wrong: [{cell, value, hint}]``, value an expression in the step's own quantities;
    ``rows`` lists the steps, counted from 1, where that is a mistake, if not in all.
code
    ``function`` (its name), ``starter``, ``code`` (an answer that passes), ``cases``
    (``[{name, …arguments}]``, tiny ones first, or the source of ``cases()``) and
    ``random``, the source of ``examples(rng)``, for more. ``oracle`` is the source of a
    function that asks the lib for the rows to expect; ``compared`` names the columns an
    answer has to give, ``given`` those shown beside them. ``drive`` is the source of
    ``drive(function, **arguments)``, which yields one row of results per step: numbers,
    lists of them, or texts, which the oracle gives as their ``repr``.
    ``mutants: [{name, hint, code or change: {old: new}}]``. Starter, code, drive and
    mutants also run in MicroPython: lists and math only.
kernel
    ``function``, ``starter``, ``code`` and ``mutants`` as above, in Numba-CUDA style;
    they run on the block simulator, race-checked, in both Pythons. ``cases: [{name,
    …inputs}]``, tiny ones first (24 rows and 8 columns at most), and ``random``, the
    source of ``examples(rng)`` for more. ``launch`` is the source of
    ``launch(**inputs)``, which returns grid, block and the arguments by name in the
    kernel's order, perhaps also a mapping of further names the kernel may use:
    ``return blocks, B, {"x": x, "y": out(n), "n": n}, {"B": B}``. A list is a float32
    array, ``ints(list)`` an int32 one, ``out(*shape)`` one that the kernel has to fill;
    ``oracle(**inputs)`` asks the lib what every such array should hold. Both know
    ``np`` and ``math``. ``larger`` (inputs, or the source of ``larger(rng)``) gives the
    page a button for a larger launch. ``ideal(**inputs)``, the fewest bytes of global
    memory, gives the drill a score card, for the last case with a name; ``most`` fails
    a kernel that moves more than so many times as much there, ``together: true`` one
    whose threads take nothing from each other (a number instead of ``true``: and one
    with a thread that takes from more others than that), and ``shared`` one that takes
    more bytes of shared memory: its tables hold all of the launches tried, and no larger
    one.
    ``single: true`` fails one that computes anything in float64, as Numba infers types.
    ``lean: true`` fails one whose copying loops break a rule of ``kinds/kernel/loops.py``.
    ``counts()`` then returns texts of kernels, each with how many instructions it takes
    for a number, and ``sizes`` says in words of which launch; a passing kernel of
    another form is shown an estimate. A mutant is known by the fault (kind, threads,
    element) or by the first wrong element and its value.
"""

from livepage.drills.deck import Chapter, card_script, deck_html
from livepage.drills.notebook import Verdict, check, drill
from livepage.drills.page import (
    page_assets,
    page_html,
    page_script,
    progress_html,
    road_script,
    stylesheet,
)
from livepage.drills.uses import use_html, use_script, with_your_kernel

__all__ = [
    "Chapter",
    "Verdict",
    "card_script",
    "check",
    "deck_html",
    "drill",
    "page_assets",
    "page_html",
    "page_script",
    "progress_html",
    "road_script",
    "stylesheet",
    "use_html",
    "use_script",
    "with_your_kernel",
]
