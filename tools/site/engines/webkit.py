"""WebKitGTK, by WebDriver: its small browser under a screen that nobody sees."""

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

# WebDriver has no command for the console, and under automation the browser does not
# write it anywhere: so a script that is first on every page keeps what it is told.
LISTENER = """(() => {
  globalThis.heard = [];
  const keep = (text) => globalThis.heard.push(String(text));
  const { error } = console;
  console.error = (...said) => { keep(said.join(" ")); error(...said); };
  addEventListener("error", (event) => {
    keep(event.message ?? `not loaded: ${event.target.outerHTML}`);
  }, true);
  addEventListener("unhandledrejection", (event) => keep(event.reason));
  addEventListener("securitypolicyviolation", (event) => {
    keep(`the policy ${event.violatedDirective} forbids ${event.blockedURI}`);
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
        wanted = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        made = self.until_it_listens("POST", "/session", {"capabilities": wanted})
        self.session = f"/session/{made['sessionId']}"
        limits = {"script": PATIENCE * 1000, "pageLoad": PATIENCE * 1000}
        self.ask("POST", f"{self.session}/timeouts", limits)
        return self

    def __exit__(self, *error: object) -> None:
        os.killpg(self.driver.pid, signal.SIGTERM)
        self.driver.wait()

    def until_it_listens(self, *request: Any) -> dict:
        for _ in range(10 * PATIENCE):
            try:
                return self.ask(*request)
            except (URLError, ConnectionError):
                time.sleep(0.1)
        raise RuntimeError(f"WebKitWebDriver did not listen on port {self.port}")

    def ask(self, method: str, path: str, body: dict | None = None) -> Any:
        """Send one command, and return its value."""
        data = None if body is None else json.dumps(body).encode()
        address = f"http://127.0.0.1:{self.port}{path}"
        request = Request(
            address, data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urlopen(request, timeout=2 * PATIENCE) as answer:
                return json.load(answer)["value"]
        except HTTPError as error:
            said = json.load(error)["value"]
            raise RuntimeError(f"{path}: {said['message'] or said['error']}") from None

    def open(self, address: str) -> None:
        self.before = self.faults() if self.opened else []
        self.ask("POST", f"{self.session}/url", {"url": address})
        self.opened = True

    def call(self, text: str, argument: str) -> Any:
        script = f"({text})(arguments[0]).then(arguments[1])"
        asked = {"script": script, "args": [argument]}
        return self.ask("POST", f"{self.session}/execute/async", asked)

    def faults(self) -> list[str]:
        before, self.before = self.before, []
        return before + self.run("async () => globalThis.heard.splice(0)")


def free_port() -> int:
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
