"""What every engine does, and how a script travels to it."""

import json
import shutil
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Any

PATIENCE = 60  # seconds that a script may take


class Missing(RuntimeError):
    """An engine that is not installed here; the message says what to install."""


class ScriptFailed(RuntimeError):
    """A script that threw in the page."""


class Engine(AbstractContextManager, ABC):
    """One window of one browser, in the size of a small laptop."""

    name: str
    install: str  # what Debian calls it
    listener = ""  # a script that has to come first on every page

    @abstractmethod
    def open(self, address: str) -> None:
        """Load a page, and wait until it has loaded."""

    @abstractmethod
    def call(self, text: str, argument: str) -> Any:
        """Call an async function of one string in the page; return its string."""

    @abstractmethod
    def faults(self) -> list[str]:
        """What the console was told of errors since it was asked last."""

    def run(self, function: str, *arguments: object) -> Any:
        """Call an async function in the page; arguments and answer travel as JSON."""
        text = f"""async (given) => {{
          try {{
            const answer = await ({function})(...JSON.parse(given));
            return JSON.stringify({{ answer: answer ?? null }});
          }} catch (error) {{ return JSON.stringify({{ error: String(error) }}); }}
        }}"""
        said = json.loads(self.call(text, json.dumps(arguments)))
        if "error" in said:
            raise ScriptFailed(said["error"])
        return said["answer"]

    def program(self, *names: str) -> str:
        """The first of these programs that is installed."""
        found = next(filter(None, map(shutil.which, names)), None)
        if found is None:
            raise Missing(f"{self.name}: no {names[0]} here; install {self.install}")
        return found
