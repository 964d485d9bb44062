"""Drills: exercises that a reader answers on the page or in a notebook.

In a notebook ``drill("rescale-hard")`` shows a drill and ``check("rescale-hard", x)``
marks an answer. The build renders the same drill as HTML.

How to write a drill
--------------------
Add an entry to ``book/drills/<chapter>.yml``, the file of its chapter. Nothing else has to
change: the tests of the bank find the entry by themselves. Every drill has ``id``,
``kind``, ``prompt`` and ``solution``. Four fields are optional: ``hints``, released one
at a time; ``steps``, partial solutions released after the hints; ``nudge``, which
replaces the general one; and ``page``, the chapter, if the file is named after another.
Texts support `` `code` ``, ``*em*``, ``**strong**`` and
``$maths$``. A text is English, or a mapping ``{en: …, es: …}``. Values are expressions,
never typed results. A listed mistake earns a hint of its own, and no hint contains the
answer.

numeric
    ``answer: {value, to, side}``. ``to`` is the precision, which the reader is told:
    "3 digits", "2 decimals", "exact" or "whole". Where the answer is a limit, ``side``
    says on which side of it an answer is safe: "below" or "above". A typed number may be
    followed by words of the prompt and by the units in ``unit``; if ``unit`` is a size,
    only by sizes. ``wrong: [{value, hint}]`` lists the mistakes.
choice
    ``choices: [{text, correct: true} or {text, hint}]``.
order
    ``lines``, in a correct order. Each line depends on the line before it, unless
    ``needs: {line: [lines]}`` lists other dependencies. Every order that respects them
    passes. ``wrong: [{first, then, hint}]`` holds the numbers of two lines: ``first``
    needs ``then`` but stands before it. List distant pairs before near ones.
recall, a formula
    ``answer: {value, where: [{name: sample, …}, …]}``; answers are compared at the
    samples. ``wrong: [{value, hint}]`` lists the mistakes.
recall, own words
    ``points``, the ideas that an answer has to contain, one each. Free text is not
    marked: the reader says whether the answer makes all of them.
trace
    ``scores``, the size of a ``block`` of them and optionally ``values``. ``oracle`` is
    the source of a function that takes these and returns, for each step, its quantities
    by name. ``columns`` names the quantities to fill in, each to two decimals.
    ``wrong: [{cell, value, hint}]``; value is an expression in the quantities of the
    step. ``rows`` restricts a mistake to some steps, counted from 1.
code
    ``function`` (its name), ``starter``, ``code`` (an answer that passes), ``cases``
    (``[{name, …arguments}]``, tiny ones first, or the source of ``cases()``) and
    ``random``, the source of ``examples(rng)``, which yields more cases. ``oracle`` is
    the source of a function that computes the expected rows with the lib. ``compared``
    names the columns that an answer has to give, ``given`` the columns shown beside
    them. ``drive`` is the source of ``drive(function, **arguments)``, which yields one
    row of results per step: numbers, lists of numbers, or texts, for which the oracle
    gives the ``repr``. ``mutants: [{name, hint, code or change: {old: new}}]``. Starter,
    code, drive and mutants also run in MicroPython, so they use only lists and math.

    After two misses the page offers the lines of ``code`` to be put in order, with two
    wrong lines among them. Nothing has to be written for that: lines of the starter stay
    in place, and a mutant that changes a single statement gives its changed line, the
    first such mutants first. ``kinds/code/puzzle.py`` has the rules. So that a drill has
    two wrong lines, give it two mutants of one line each.
kernel
    ``function``, ``starter``, ``code`` and ``mutants`` as for code, in Numba-CUDA style.
    They run on the block simulator with race detection, in CPython and in MicroPython.
    ``cases: [{name, …inputs}]``, tiny ones first (at most 24 rows and 8 columns), and
    ``random``, the source of ``examples(rng)``, which yields more. ``launch`` is the
    source of ``launch(**inputs)``, which returns the grid, the block, the arguments by
    name in the kernel's order, and optionally a mapping of further names that the kernel
    may use: ``return blocks, B, {"x": x, "y": out(n), "n": n}, {"B": B}``. A list is a
    float32 array, ``ints(list)`` an int32 array, and ``out(*shape)`` an array that the
    kernel has to fill. ``oracle(**inputs)`` computes with the lib what each ``out`` array
    should hold. Both functions may use ``np`` and ``math``. ``larger`` (inputs, or the
    source of ``larger(rng)``) adds a button to the page that runs a larger launch.

    ``ideal(**inputs)`` returns the fewest bytes of global memory that suffice. It gives
    the drill a score card, for the last case with a name. Further fields are rules. A
    kernel fails

    * ``most``: if it moves more than ``most`` times the ideal bytes in that case;
    * ``together: true``: if no data pass between its threads; with a number instead of
      ``true``, also if one thread takes data from more other threads than that;
    * ``shared``: if it takes more bytes of shared memory. Its shared arrays fit the
      launches tried, and no larger one;
    * ``single: true``: if it computes anything in float64, by Numba's type inference;
    * ``lean: true``: if its copying loops break a rule of ``kinds/kernel/loops.py``.

    With ``lean``, ``counts()`` returns kernels, as texts, with how many instructions each
    takes per number, and ``sizes`` describes that launch in words. A passing kernel of
    another form is shown an estimate. A mutant is recognised by its fault (kind, threads,
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
