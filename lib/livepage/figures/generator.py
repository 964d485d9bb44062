"""Numbers that look drawn at random, the same from the same seed, here and on the page."""

from collections.abc import Callable

WORD = 0xFFFFFFFF


def generator(seed: int) -> Callable[[], float]:
    """Return what draws numbers in [0, 1): Mulberry32, as in `host/picture.mjs`."""
    state = seed

    def draw() -> float:
        nonlocal state
        state = (state + 0x6D2B79F5) & WORD
        t = (state ^ state >> 15) * (state | 1) & WORD
        t ^= (t + ((t ^ t >> 7) * (t | 61) & WORD)) & WORD
        return (t ^ t >> 14) / 2**32

    return draw
