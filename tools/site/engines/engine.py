"""The interface of an engine, and how scripts run in its page."""

import json
import shutil
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Any

PATIENCE = 60  # seconds for a script


class Missing(RuntimeError):
    """An engine is not installed here; the message says what to install."""


class ScriptFailed(RuntimeError):
    """A script has thrown an error in the page."""


class Engine(AbstractContextManager, ABC):
    """A window of a browser, in the size of a small laptop."""

    name: str
    install: str  # the name of its Debian package
    listener = ""  # a script that has to be the first of every page

    @abstractmethod
    def open(self, address: str) -> None:
        """Load a page, and wait until it has loaded."""

    @abstractmethod
    def call(self, text: str, argument: str) -> Any:
        """Call an async function of one string in the page; return its string."""

    @abstractmethod
    def faults(self) -> list[str]:
        """Return the errors in the console since the last call."""

    def run(self, function: str, *arguments: object) -> Any:
        """Call an async function in the page; arguments and answer travel as JSON."""
        text = f"""async (json) => {{
          try {{
            const answer = await ({function})(...JSON.parse(json));
            return JSON.stringify({{ answer: answer ?? null }});
          }} catch (error) {{ return JSON.stringify({{ error: String(error) }}); }}
        }}"""
        result = json.loads(self.call(text, json.dumps(arguments)))
        if "error" in result:
            raise ScriptFailed(result["error"])
        return result["answer"]

    def program(self, *names: str) -> str:
        """Return the path of the first of these programs that is installed."""
        path = next(filter(None, map(shutil.which, names)), None)
        if path is None:
            raise Missing(f"{self.name}: no {names[0]} here; install {self.install}")
        return path
