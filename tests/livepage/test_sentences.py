"""What running code says, in other languages: every sentence has a pair, and none is left."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

import said
from blocksim import load
from blocksim.values import Refusal
from kernels.spelled import kinds
from livepage import sentences, yml
from livepage.drills import page_assets
from livepage.drills.bank import bank, find
from livepage.drills.grade import Visit
from livepage.drills.kinds import KINDS
from livepage.engine import engine
from livepage.sentences import SLOT, Translator, numbered, pairs, translated
from livepage.translations import translation
from tools.simulator import verdicts

LIB = Path(__file__).parents[2] / "lib"
LANGUAGES = sentences.languages()
# Of blocksim, what no page and no `check(...)` runs, and what writes code.
OTHERS = "__main__ portable cudasim pytest_plugin stopwatch declined emit".split()
# Strings of two words or more that no message contains: names of types and of functions,
# code in WGSL, keys, and parts of Python's own messages.
UNSAID = re.compile(
    r"\?:bool b:.*|f2:float16 f4:.*|acos acosh .*|[a-z]+: vec3i|\{mangled\}.*|v [+-] by"
    r"|i32\(lane & 31u\)|\(0 \{op\}.*|\(\{x\} - .*|(both|too) (write|early)|is not|not in"
    r"|meets (for ever|others)|'Cuda' object|error: |, a GPU in software|, the same as | and "
    r"|maximum recursion .*|pystack .*|too many (levels|nested|statically) .*"
    r"|\[\(.*|claim for .*|.*<module>.*|kernel as the simulator runs it|\{name\} and \{name2\}"
)
KIT = ["drills/blocks.py", "drills/meter.py", "cells/runner.py"]


def said_by_the_simulator() -> dict[str, str]:
    """Return the patterns of all messages of blocksim, and where they stand."""
    found = {}
    for file in sorted((LIB / "blocksim").glob("*.py")) + sorted(
        (LIB / "blocksim" / "wgsl").glob("*.py")
    ):
        for text, line in said.sentences(file).items():
            code = file.parent.name == "wgsl" and said.CODE.search(SLOT.sub("", text))
            if file.stem not in OTHERS and not code and not UNSAID.fullmatch(text):
                found[text] = f"{file.name}:{line}"
    return found


def said_by_the_kit() -> dict[str, str]:
    found = {}
    for name in KIT:
        for text, line in said.sentences(LIB / "livepage" / name).items():
            if not UNSAID.fullmatch(text) and not text.startswith(("File", " ", "<")):
                found[numbered(text)] = f"{name}:{line}"
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_of_the_simulator_has_a_pair_and_no_pair_is_left(
    language: str,
) -> None:
    wanted = said_by_the_simulator()
    has = yml.read(sentences.FOLDER / f"{language}.yml")["simulator"]
    assert len(wanted) > 400
    assert not {text: at for text, at in wanted.items() if text not in has}
    assert not set(has) - set(wanted)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_of_the_kit_has_a_pair_and_no_pair_is_left(
    language: str,
) -> None:
    has = yml.read(sentences.FOLDER / f"{language}.yml")["kit"]
    nouns = {
        noun for drill in bank().values() for noun in nouns_of(drill.get("drive", ""))
    }
    wanted = said_by_the_kit()
    assert not {text: at for text, at in wanted.items() if text not in has}
    assert not nouns - set(has)
    assert not set(has) - set(wanted) - nouns - {noun[:-1] for noun in nouns}


def nouns_of(code: str) -> set[str]:
    """Return what a drill's lists hold: the plural nouns that its code hands over."""
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    return {
        arg.value
        for call in calls
        if getattr(call.func, "id", "") in ("Blocks", "Tape", "walked")
        for arg in call.args
        if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_pair_has_the_same_slots_on_both_sides(language: str) -> None:
    for english, new in pairs(language).items():
        assert sorted(SLOT.findall(english)) == sorted(SLOT.findall(new)), english
        assert not re.search(r"\}\{", english), f"{english}: where does a slot end?"


SPANISH = {
    "thread 3 of block 1 waits, thread 0 never comes":
        "el hilo 3 del bloque 1 espera, y el hilo 0 no llega nunca",
    "Thread (1, 0) waits at this barrier, thread (0, 0) at the one on line 7":
        "El hilo (1, 0) espera en esta barrera, y el hilo (0, 0) en la de la línea 7",
    "thread 0 asks for tile[4, 1]; its shape is [4, 4]":
        "el hilo 0 pide tile[4, 1]; su forma es [4, 4]",
    "thread 0 asks for x[-9], and a negative index counts from the end, on a GPU too":
        "el hilo 0 pide x[-9], y un índice negativo cuenta desde el final, también en una"
        " GPU",
    "two ways lead here, with float32 and a tuple under one name":
        "hasta aquí llegan dos caminos, con float32 y una tupla bajo un mismo nombre",
    "a list comprehension has no place in a kernel here":
        "una lista por comprensión no tiene sitio en un kernel",
    "TypeError: tile holds float32 numbers, got a tuple of 2":
        "TypeError: tile contiene números float32; ha llegado una tupla de 2",
    "thread 2: ValueError: no such tile; the thread ends here, and without debug=True nobody"
    " learns of it":
        "hilo 2: ValueError: no such tile; el hilo acaba aquí, y sin debug=True nadie se"
        " entera",
    "thread 1 reads s[0], which thread 0 wrote on line 5, with no barrier between; it got 2"
    " (line 9)":
        "el hilo 1 lee s[0], que el hilo 0 ha escrito en la línea 5, y no hay barrera entre"
        " los dos; ha leído 2 (línea 9)",
}  # fmt: skip


@pytest.mark.parametrize("message", SPANISH)
def test_a_message_is_said_in_spanish(message: str) -> None:
    assert translated(message, "es") == SPANISH[message]
    assert translated(f"`{message}`", "es") == f"`{SPANISH[message]}`"
    assert translated(message, "en") == message


PYTHONS = [
    "name 'one' is not defined",
    "'list' object has no attribute 'shape'",
    "object of type 'int' has no len()",
    'TypeError: can only concatenate list (not "int") to list',
    "TypeError: f() takes 2 positional arguments but 3 were given",
    "'break' outside loop (<string>, line 3)",
    "ValueError: not enough values to unpack (expected 2, got 1)",
    "unsupported operand type(s) for +: 'int' and 'str'",
    "IndexError: list index out of range",
    "ValueError: sizes of the two and of the third differ",
]


@pytest.mark.parametrize("message", PYTHONS)
def test_what_python_says_stays_english(message: str) -> None:
    assert Translator(pairs("es")).translate(message) is None
    assert translated(message, "es") == message


def test_the_strings_of_a_drill_that_it_says() -> None:
    code = '''
class Tape:
    """Scores that count how often they are read."""
def drive(f, x):
    """Call it."""
    for a in "a b".split(","):
        assert f(a), "you kept %d %s, to use them now" % (1, x)
        yield a, "the same" if a else "others", ", ".join(x)
'''
    said = ["you kept {1} {2}, to use them now", "the same", "others"]
    assert [text for text in sentences.of_code(code) if text != "a b"] == said


# ---- messages as they come


@cache
def refusals() -> list[str]:
    """Return what the simulator says of the kernels of the corpus that it refuses."""
    found = {}
    for asked in verdicts.corpus():
        if asked.made != "kernel":
            continue
        try:
            kernel = load(asked.head + asked.text, "kernel")
            kernel.program.code(kinds(asked.args), True)
        except Refusal as refusal:
            found |= {refusal.reason: None, refusal.instead: None}
        except (SyntaxError, ValueError, ImportError, AttributeError):
            pass  # Python says so, or too few arguments are given
    return [text for text in found if text]


ENGLISH = re.compile(r"\b(the|of|which|takes|has|an|that|needs|for a|to)\b")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_refusal_of_the_corpus_is_left_in_english(language: str) -> None:
    assert len(refusals()) > 200
    code = re.compile(r"[\w.]+\([^)]*\)|[\w.]*[=_.][\w.]*")
    for text in refusals():
        new = sentences.translator(language).translate(text)
        if new is None:
            assert not re.search(r"[a-z]{3,} [a-z]{3,}", code.sub("", text)), text
        else:
            assert not ENGLISH.search(code.sub("", new)), (text, new)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_says_the_same(language: str) -> None:
    v8 = engine()
    v8.eval(page_assets()[f"sentences-{language}.js"])
    messages = [
        *refusals(),
        *SPANISH,
        *PYTHONS,
        "Block: 70000 along x; a GPU has 9 at most",
    ]
    theirs = f"{json.dumps(messages)}.map((m) => livepageSentences.{language}(m))"
    mine = [sentences.translator(language).translate(message) for message in messages]
    assert json.loads(v8.eval(f"JSON.stringify({theirs})")) == mine


# ---- drills


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_the_code_of_drills_says_is_translated(language: str) -> None:
    for drill in bank().values():
        for text in sentences.of_code(drill.get("drive", "")):
            new = translation(text, language)
            assert new, (
                f"{drill.id}: {text!r} has no translation in book/locale/{language}"
            )
            assert sorted(SLOT.findall(text)) == sorted(SLOT.findall(new)), text


def test_a_verdict_is_in_spanish_with_the_words_of_the_drill() -> None:
    def tiles(*_: object) -> list[int]:
        return [5]

    drill = find("tiles-of-a-block")
    passed, lines, _ = KINDS["code"].check(drill, tiles, Visit(), language="es")
    assert not passed and "Una tesela es (start, stop, kind), no 5." in " ".join(lines)


def test_code_of_a_drill_names_in_spanish_what_its_lists_hold() -> None:
    own = sentences.pairs_of_code(find("softmax-dot").get("drive"), "es")
    message = "you kept 9 values, to use them now; the block is 4"
    found = "has guardado 9 valores para usar ahora; el bloque es de 4"
    assert translated(message, "es", own) == found
    assert translated(message, "es") == message
