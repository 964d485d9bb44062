"""The kit's own words: every language has every key, with the same slots to fill."""

import re

import pytest

from livepage import words

SECTIONS = ("site", "figures", "drills", "puzzle", "gpu")


@pytest.mark.parametrize("language", words.LANGUAGES)
@pytest.mark.parametrize("section", SECTIONS)
def test_every_language_has_every_word_and_the_same_slots(section, language):
    english, there = (words.table(section, name) for name in ("en", language))
    assert there.keys() == english.keys()
    assert not [
        key for key, text in there.items() if not (text and isinstance(text, str))
    ]
    for key, text in there.items():
        slots = [sorted(re.findall(r"{(\w+)}", each)) for each in (english[key], text)]
        assert slots[0] == slots[1], key


def test_an_unknown_language_is_an_error():
    with pytest.raises(ValueError, match="'fr', expected one of en, es"):
        words.table("site", "fr")
