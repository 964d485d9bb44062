"""Chromium, by Playwright."""

from typing import Any

from playwright.sync_api import sync_playwright

from tools.site.chromium import FLAGS, find_chromium
from tools.site.engines.engine import Engine, Missing


class Chromium(Engine):
    name, install = "chromium", "chromium"

    def __enter__(self) -> "Chromium":
        if find_chromium() is None:
            raise Missing("chromium: install Chromium, Chrome or Edge")
        self.playwright = sync_playwright().start()
        self.browser = self.playwright.chromium.launch(
            executable_path=find_chromium(), args=FLAGS
        )
        self.page = self.browser.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._log)
        return self

    def __exit__(self, *error: object) -> None:
        self.browser.close()
        self.playwright.stop()

    def _log(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def open(self, address: str) -> None:
        self.page.goto(address)

    def call(self, text: str, argument: str) -> Any:
        return self.page.evaluate(text, argument)

    def faults(self) -> list[str]:
        errors, self.errors = self.errors, []
        return errors
