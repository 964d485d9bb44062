"""Interactive figures: one drawing on the page, in a notebook, and in print.

In a chapter:

    figure("block-stepper", block=2)     an interactive figure, a widget in a notebook
    plot(fig, alt="what it shows")       a matplotlib figure in the book's style
    sweep(function, values=[1, 2, 4])    a slider that runs a function

To the site, while it is built: `still`, `page_script`, `loaded_script`, `host_script`,
`stylesheet` and `tokens`.

Adding a figure
---------------
Make a folder in the book's `figures/`, named like the figure; nothing else changes. It
holds three files, up to five.

figure.py     `SPEC`: what the reader may change, the still, the prediction, and the
              lib's numbers for a state. Its docstring states the prediction, why wrong
              answers tempt, and the state that settles it. What has no prediction, or
              shows no quantity of the book, says so there.
figure.mjs    Pure functions, no DOM, no state of their own:
                compute(state)                  the numbers; a `Step` needs `steps`
                draw(state, numbers, view)      the picture, as an SVG string
                say(state, numbers, words, waiting)  the sentence under it
                table(state, numbers, words)    { caption, head, rows }
                code(state, numbers, words)     optional: lines of code with live values
                retell(state, numbers, words)   optional: what stands under a `Film`'s still
                                                in place of what `say` gives
                again(count, state)             optional: what else an `Again` changes
                quick(state)                    optional: whether `compute` takes less than
                                                a frame; otherwise it waits until the
                                                reader's hand rests
                reconcile(state, was)           optional: the state with controls that
                                                would contradict each other in agreement;
                                                `was` is the last state, if there is one
                hear(detail)                    optional: what the event "os-kernel"
                                                changes, sent when a reader runs a kernel
              `view` is { wide, words, title, was, live, still, waiting }: draw 720 units
              wide or, for phones, 320; `was` is the state the reader comes from, null for
              a jump; `live` is true where a reader can point at things, which
              `data-pick-one`, `data-pick-grid` and `data-step` are for; `still` is true
              of a `Film`'s stills; `waiting` is true until the reader has predicted:
              leave out what answers the question. Draw with
              `livepage/shapes.mjs` and `livepage/picture.mjs`, write with
              `livepage/text.mjs`. An element with a `key`
              glides from its old place to its new one; `from` and `at` say how and when
              a new one enters. An element with `q` shows that quantity and lights up
              with it. A `Film` is a control for the time: the picture and the caption,
              which is what `say` gives, are functions of it.
              Numbers that `figure.py` has too come from there: `SPEC.constants`,
              imported from "livepage/constants". What several figures calculate
              alike stands beside their folders: `import { … } from "../name.mjs"`.
strings.json  Every word, "en" complete and "es" beside it: `title`, `controls` (a label
              for each), for a prediction `ask`, `options`, `hints`, `because`, for
              presets `presets`, and the figure's own. "[l: the sum]" marks words that
              speak of a quantity.
loaded.mjs    Optional: what is too heavy for a page that is only read. `SPEC.loads` gives
              the data that it imports from "livepage/data". What it exports reaches
              `compute` and `quick` as a second argument. A page loads it with the
              reader's first change; until then the still stands, as it does where it
              cannot be loaded, and `compute` is called without it for what the controls
              need, such as `steps`. It may remember what it has computed, as long as
              that changes no number.
style.css     Optional: how its own elements look. Every colour is one of the tokens. What
              several figures draw alike stands in `marks.css`, beside their folders.

`tests/book/test_figures.py` then holds the new figure to the same checks as all the others;
a test of what only it can do goes to `tests/browser/test_figures.py`.
"""

from importlib import import_module

_HOME = {
    "Figure": "widget",
    "figure": "widget",
    "host_script": "build",
    "loaded_script": "build",
    "page_script": "build",
    "plot": "plots",
    "still": "build",
    "stills": "widget",
    "stylesheet": "build",
    "sweep": "sweeps",
    "tokens": "build",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    """Load what is asked for, when it is: matplotlib and widgets take their time."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
