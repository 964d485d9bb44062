"""Puzzles: the lines of a code drill's solution, to be put in order.

The page offers one to a reader who is stuck (a Parsons problem). Lines that the starter
already has stay in place, unless fewer than `LEAST` would be left to move. Up to two lines
are wrong: a mutant that changes a single statement gives its changed line, so whoever
takes it for the right one earns the mutant's hint.
"""

from __future__ import annotations

import ast
import io
import random
import tokenize
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Any, NamedTuple

from livepage.drills.entry import Drill
from livepage.drills.kinds.code.cases import mutants

LEAST = 4  # pieces to move, where the solution has so many statements
MOST = 10  # pieces to move, wrong ones not counted
FEWEST = 3  # pieces that are left when the reader has asked for all the help there is
WRONG = 2
SHUFFLES = 200  # tried until one is certainly no solution


class Statement(NamedTuple):
    """A statement, or the head of one that has a block: one line of code or more."""

    text: str
    bare: str  # without comments
    depth: int  # of indentation; 0 for what stands in no function


class Wrong(NamedTuple):
    """A wrong line, in place of a statement; the mutant has the hint about it."""

    text: str
    place: int
    mutant: int


class Puzzle(NamedTuple):
    """A puzzle.

    Attributes
    ----------
    pieces : list of list of int
        The statements of each piece, in the order of the solution.
    wrong : list of Wrong
        Their places are those of pieces with one statement.
    pool : list of list of int
        The pieces as they are shown, each beside the wrong lines made from it. Wrong lines
        are numbered after the pieces.
    joins : list of (int, int)
        Neighbouring pieces, to be joined one pair after the other.
    """

    statements: list[Statement]
    pieces: list[list[int]]
    wrong: list[Wrong]
    pool: list[list[int]]
    joins: list[tuple[int, int]]

    @property
    def fixed(self) -> list[int]:
        """The statements that stay in place."""
        moved = {index for piece in self.pieces for index in piece}
        return [i for i in range(len(self.statements)) if i not in moved]

    def text(self, numbers: Sequence[int]) -> str:
        """Return the text of some statements, without comment lines and blank lines."""
        return "\n".join(self.statements[number].text for number in numbers)

    def program(self, order: Sequence[int]) -> str:
        """Return the program with the pieces, in this order, where pieces belong."""
        moved = {index for piece in self.pieces for index in piece}
        texts, following = (
            [],
            (index for piece in order for index in self.pieces[piece]),
        )
        for number in range(len(self.statements)):
            texts.append(next(following) if number in moved else number)
        return self.text(texts)

    def data(self) -> dict[str, Any]:
        """Return what the page shows. A piece's number counts the fixed lines before it."""
        before = [sum(f < piece[0] for f in self.fixed) for piece in self.pieces]
        data: dict[str, Any] = {
            "fixed": [self.statements[number].text for number in self.fixed],
            "pieces": [*zip(map(self.text, self.pieces), before)],
            "wrong": [wrong.text for wrong in self.wrong],
            "pool": self.pool,
            "joins": self.joins,
        }
        return {"key": sha256(repr(data).encode()).hexdigest()[:8], **data}


def puzzle(drill: Drill) -> Puzzle | None:
    """Return the puzzle of a code drill, or None if there is nothing to put in order."""
    statements = list(_statements(drill.get("code")))
    movable = _movable(statements, list(_statements(drill.get("starter"))))
    wrong = _wrong(drill, statements, movable)
    movable |= {each.place for each in wrong}
    if len(movable) < 2:
        return None
    pieces = [[number] for number in sorted(movable)]
    paired = {each.place for each in wrong}
    start, _ = _joined(statements, pieces, MOST, paired)
    wrong = [each._replace(place=start.index([each.place])) for each in wrong]
    joins = _joined(statements, start, FEWEST, set())[1]
    found = Puzzle(statements, start, wrong, [], joins)
    return found._replace(pool=_pool(drill, found))


# ---- statements


def _statements(source: str) -> Iterator[Statement]:
    """Yield the statements of a source, without comment lines and blank lines."""
    lines = source.splitlines()
    first, depth, comments = 0, 0, {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.INDENT:
            depth += 1
        elif token.type == tokenize.DEDENT:
            depth -= 1
        elif token.type == tokenize.COMMENT:
            comments[token.start[0]] = token.start[1]
        elif token.type == tokenize.NEWLINE:
            rows = range(first, token.start[0] + 1)
            text = "\n".join(lines[row - 1].rstrip() for row in rows)
            bare = "\n".join(
                lines[row - 1][: comments.get(row)].rstrip() for row in rows
            )
            yield Statement(text, bare, depth)
            first = 0
        elif token.type not in (tokenize.NL, tokenize.ENDMARKER):
            first = first or token.start[0]


def _is_head(statement: Statement) -> bool:
    """Say whether a block follows a statement."""
    return statement.bare.endswith(":")


def _may_move(statement: Statement) -> bool:
    """Say whether a statement is more than a docstring or a line outside of functions."""
    is_docstring = statement.bare.lstrip()[:1] in ("'", '"')
    return statement.depth > 0 and not is_docstring


def _movable(statements: list[Statement], starter: list[Statement]) -> set[int]:
    """Return which statements the reader puts in order.

    These are what the starter lacks and, if they are few, what stands nearest.
    """
    matcher = SequenceMatcher(
        None, [s.bare for s in starter], [s.bare for s in statements], autojunk=False
    )
    there = {
        index
        for block in matcher.get_matching_blocks()
        for index in range(block.b, block.b + block.size)
    }
    able = [i for i, statement in enumerate(statements) if _may_move(statement)]
    moved = {i for i in able if i not in there}
    while able and len(moved) < min(LEAST, len(able)):
        left = [i for i in able if i not in moved]
        moved.add(min(left, key=lambda i: min((abs(i - j) for j in moved), default=-i)))
    return moved


# ---- wrong lines


def _wrong(drill: Drill, statements: list[Statement], movable: set[int]) -> list[Wrong]:
    """Return up to two wrong lines, if possible of two statements that are moved anyway."""
    known = {statement.bare for statement in statements}
    found: list[Wrong] = []
    for number, source in enumerate(mutants(drill)):
        changed = _changed(statements, source)
        if changed and changed[1].bare not in known:
            known.add(changed[1].bare)
            found.append(Wrong(changed[1].text, changed[0], number))
    chosen: list[Wrong] = []
    for wrong in sorted(found, key=lambda each: each.place not in movable):
        if wrong.place not in {each.place for each in chosen}:
            chosen.append(wrong)
    others = [wrong for wrong in found if wrong not in chosen]
    return [*chosen, *others][:WRONG]


def _changed(statements: list[Statement], mutant: str) -> tuple[int, Statement] | None:
    """Return the one statement that a mutant changes, and what it becomes."""
    try:
        texts = list(_statements(mutant))
    except (tokenize.TokenError, IndentationError):
        return None
    if len(texts) != len(statements):
        return None
    pairs = enumerate(zip(statements, texts))
    places = [i for i, (mine, theirs) in pairs if mine.bare != theirs.bare]
    if len(places) != 1 or not _may_move(statements[places[0]]):
        return None
    return places[0], texts[places[0]]


# ---- pieces


def _joined(
    statements: list[Statement], pieces: list[list[int]], most: int, alone: set[int]
) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """Join neighbours until `most` pieces are left; return the pieces, and what was joined.

    The shortest neighbours are joined first, and rather a head and its block, or two
    lines of a block, than what follows a block. Statements that are `alone` stay so.
    """
    left = {number: list(piece) for number, piece in enumerate(pieces)}
    joins: list[tuple[int, int]] = []

    def cost(pair: tuple[int, int]) -> float:
        first, second = (left[number] for number in pair)
        last, next_one = statements[first[-1]], statements[second[0]]
        length = sum(statements[i].text.count("\n") + 1 for i in first + second)
        together = last.depth == next_one.depth or _is_head(last)
        return length + (0 if _is_head(last) else 0.5 if together else 3)

    while len(left) > most:
        numbers = sorted(left)
        pairs = [
            (a, b)
            for a, b in zip(numbers, numbers[1:])
            if left[a][-1] + 1 == left[b][0]
            and not alone.intersection(left[a] + left[b])
        ]
        if not pairs:
            break
        first, second = min(pairs, key=cost)
        left[first] += left.pop(second)
        joins.append((first, second))
    return [left[number] for number in sorted(left)], joins


# ---- the order in which they are shown


def _pool(drill: Drill, found: Puzzle) -> list[list[int]]:
    """Return the pieces in an order that solves nothing, the same in each build."""
    rng = random.Random(drill.id)
    order = list(range(len(found.pieces)))
    for _ in range(SHUFFLES):
        rng.shuffle(order)
        if _fails(found.program(order)):
            break
    else:
        order.sort(reverse=True)
    count = len(found.pieces)
    units = []
    for piece in order:
        wrong = [count + k for k, each in enumerate(found.wrong) if each.place == piece]
        unit = [piece, *wrong]
        rng.shuffle(unit)
        units.append(unit)
    return units


def _fails(source: str) -> bool:
    """Say whether a program certainly fails, without running it.

    It does if Python cannot read it, or if a function reads a name of its own above the
    first line that gives it a value.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return True
    return any(
        _reads_too_early(node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    )


def _reads_too_early(function: ast.FunctionDef) -> bool:
    """Say whether a name is read above its first assignment, wherever control goes."""
    own = {argument.arg for argument in function.args.args}
    own |= {name.id for name in _names_of_comprehensions(function)}
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    names = [name for name in names if name.id not in own]
    first: dict[str, int] = {}
    for name in names:
        if isinstance(name.ctx, ast.Store):
            first[name.id] = min(first.get(name.id, name.lineno), name.lineno)
    reads = (name for name in names if isinstance(name.ctx, ast.Load))
    return any(name.lineno < first.get(name.id, 0) for name in reads)


def _names_of_comprehensions(function: ast.FunctionDef) -> Iterator[ast.Name]:
    for node in ast.walk(function):
        if isinstance(node, ast.comprehension):
            targets = ast.walk(node.target)
            yield from (each for each in targets if isinstance(each, ast.Name))
