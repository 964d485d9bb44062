"""Firefox, by WebDriver BiDi over a web socket."""

import json
import subprocess
import tempfile
from itertools import count
from typing import Any

import websocket

from tools.site.chromium import wait_for_line
from tools.site.engines.engine import PATIENCE, Engine

PREFERENCES = """\
user_pref("remote.active-protocols", 1);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("app.normandy.enabled", false);
user_pref("services.settings.server", "data:,");
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
"""

# The request for a font was aborted by the next page.
ABORTED = "status=2152398850"


class Firefox(Engine):
    name, install = "firefox", "firefox-esr"

    def __enter__(self) -> "Firefox":
        program = self.program("firefox-esr", "firefox")
        self.profile = tempfile.TemporaryDirectory(prefix="firefox-")
        with open(f"{self.profile.name}/user.js", "w") as file:
            file.write(PREFERENCES)
        command = [program, "--headless", "--remote-debugging-port", "0"]
        command += ["--profile", self.profile.name, "--no-remote", "about:blank"]
        self.browser = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        line = wait_for_line(self.browser.stderr, r"BiDi listening on (ws://\S+)")
        self.socket = websocket.create_connection(
            f"{line[1]}/session", timeout=2 * PATIENCE, suppress_origin=True
        )
        self.numbers, self.errors = count(1), []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self.tab = self.ask("browsingContext.getTree")["contexts"][0]["context"]
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()
        self.browser.kill()
        self.browser.wait()
        self.profile.cleanup()

    def ask(self, method: str, **params: object) -> dict:
        """Send a command and return its result; record the log entries before it."""
        number = next(self.numbers)
        command = {"id": number, "method": method, "params": params}
        self.socket.send(json.dumps(command))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("method") == "log.entryAdded":
                self._log(message["params"])
            elif message.get("id") == number:
                if message["type"] == "error":
                    raise RuntimeError(f"{method}: {message['message']}")
                return message["result"]

    def _log(self, entry: dict) -> None:
        if entry["level"] == "error" and ABORTED not in entry["text"]:
            self.errors.append(entry["text"])

    def open(self, address: str) -> None:
        target = {"context": self.tab, "url": address}
        self.ask("browsingContext.navigate", **target, wait="complete")

    def call(self, text: str, argument: str) -> Any:
        answer = self.ask(
            "script.callFunction",
            functionDeclaration=text,
            arguments=[{"type": "string", "value": argument}],
            awaitPromise=True,
            target={"context": self.tab},
        )
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return answer["result"].get("value")

    def faults(self) -> list[str]:
        self.ask("session.status")  # receives the log entries before it
        errors, self.errors = self.errors, []
        return errors
