"""WebKitGTK, by WebDriver: its MiniBrowser on a virtual screen."""

import json
import os
import signal
import socket
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from tools.site.engines.engine import PATIENCE, Engine, Missing

# WebDriver has no command for the console, and the automated browser does not print it: so
# a script that is the first of every page records the errors.
LISTENER = """(() => {
  globalThis.recorded = [];
  const record = (text) => globalThis.recorded.push(String(text));
  const { error } = console;
  console.error = (...parts) => { record(parts.join(" ")); error(...parts); };
  addEventListener("error", (event) => {
    record(event.message ?? `not loaded: ${event.target.outerHTML}`);
  }, true);
  addEventListener("unhandledrejection", (event) => record(event.reason));
  addEventListener("securitypolicyviolation", (event) => {
    record(`the policy ${event.violatedDirective} forbids ${event.blockedURI}`);
  });
})();
"""


class WebKit(Engine):
    name, install = "webkit", "webkit2gtk-driver and xvfb"
    listener = LISTENER

    def __enter__(self) -> "WebKit":
        driver, screen = self.program("WebKitWebDriver"), self.program("xvfb-run")
        browser = next(Path("/usr").glob("lib*/**/webkit2gtk-4*/MiniBrowser"), None)
        if browser is None:
            raise Missing(f"{self.name}: no MiniBrowser here; install {self.install}")
        self.port, self.session = free_port(), ""
        self.before: list[str] = []
        self.opened = False
        self.driver = subprocess.Popen(
            [screen, "-a", driver, f"--port={self.port}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=os.environ | {"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"},
        )
        options = {"binary": str(browser), "args": ["--automation"]}
        match = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        session = self.ask_patiently("POST", "/session", {"capabilities": match})
        self.session = f"/session/{session['sessionId']}"
        limits = {"script": PATIENCE * 1000, "pageLoad": PATIENCE * 1000}
        self.ask("POST", f"{self.session}/timeouts", limits)
        return self

    def __exit__(self, *error: object) -> None:
        os.killpg(self.driver.pid, signal.SIGTERM)
        self.driver.wait()

    def ask_patiently(self, *request: Any) -> dict:
        """Repeat a command until the driver listens."""
        for _ in range(10 * PATIENCE):
            try:
                return self.ask(*request)
            except (URLError, ConnectionError):
                time.sleep(0.1)
        raise RuntimeError(f"WebKitWebDriver did not listen on port {self.port}")

    def ask(self, method: str, path: str, body: dict | None = None) -> Any:
        """Send a command and return its value."""
        data = None if body is None else json.dumps(body).encode()
        address = f"http://127.0.0.1:{self.port}{path}"
        request = Request(
            address, data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urlopen(request, timeout=2 * PATIENCE) as answer:
                return json.load(answer)["value"]
        except HTTPError as error:
            value = json.load(error)["value"]
            message = value["message"] or value["error"]
            raise RuntimeError(f"{path}: {message}") from None

    def open(self, address: str) -> None:
        self.before = self.faults() if self.opened else []
        self.ask("POST", f"{self.session}/url", {"url": address})
        self.opened = True

    def call(self, text: str, argument: str) -> Any:
        script = f"({text})(arguments[0]).then(arguments[1])"
        body = {"script": script, "args": [argument]}
        return self.ask("POST", f"{self.session}/execute/async", body)

    def faults(self) -> list[str]:
        before, self.before = self.before, []
        return before + self.run("async () => globalThis.recorded.splice(0)")


def free_port() -> int:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
