"""A film: the time in its picture. Play, Pause and a slider, under the picture.

The picture is a function of the time, so that playing, dragging the slider and the
stills are one. Nothing plays by itself; where a reader wants no motion or a page has no
scripts, and on paper, the stills stand side by side instead.
"""

from dataclasses import dataclass

import traitlets

from ...control import Control, is_number


@dataclass(frozen=True)
class Film(Control):
    """A time from 0 to `seconds`.

    Attributes
    ----------
    stills : tuple of float
        The times of the pictures that tell the story without motion.
    """

    default: float = 0.0
    seconds: float = 20.0
    stills: tuple[float, ...] = ()

    def fault(self, value: object) -> str | None:
        if is_number(value) and 0 <= value <= self.seconds:
            return None
        return f"a time from 0 to {self.seconds:g} seconds"

    def trait(self) -> traitlets.TraitType:
        return traitlets.Float(self.default, min=0, max=self.seconds)
