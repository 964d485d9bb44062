"""Firefox, by WebDriver BiDi: it listens on a socket of its own."""

import json
import re
import subprocess
import tempfile
from itertools import count
from threading import Thread
from typing import Any

import websocket

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


# A font was on its way when the next page was asked for.
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
        for line in self.browser.stderr:
            if found := re.search(r"BiDi listening on (ws://\S+)", line):
                break
        else:
            raise RuntimeError("firefox ended before it listened")
        # It goes on writing, and would stop where nobody reads.
        Thread(target=self.browser.stderr.read, daemon=True).start()
        self.socket = websocket.create_connection(
            f"{found[1]}/session", timeout=2 * PATIENCE, suppress_origin=True
        )
        self.numbers, self.seen = count(1), []
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
        """Send one command and wait for its answer; keep what the log says meanwhile."""
        number = next(self.numbers)
        asked = {"id": number, "method": method, "params": params}
        self.socket.send(json.dumps(asked))
        while True:
            heard = json.loads(self.socket.recv())
            if heard.get("method") == "log.entryAdded":
                self._log(heard["params"])
            elif heard.get("id") == number:
                if heard["type"] == "error":
                    raise RuntimeError(f"{method}: {heard['message']}")
                return heard["result"]

    def _log(self, entry: dict) -> None:
        if entry["level"] == "error" and ABORTED not in entry["text"]:
            self.seen.append(entry["text"])

    def open(self, address: str) -> None:
        where = {"context": self.tab, "url": address}
        self.ask("browsingContext.navigate", **where, wait="complete")

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
        self.ask("session.status")  # whatever was logged before is heard now
        seen, self.seen = self.seen, []
        return seen
