"""Three browser engines behind one interface, for `tools.site.browsers`.

    with ENGINES["firefox"]() as engine:
        engine.open("file:///…/index.html")
        engine.run("async (name) => document.querySelector(name).textContent", "h1")
        engine.faults()

Playwright drives Chromium, WebDriver BiDi drives Firefox, and WebDriver drives WebKitGTK
through its own driver: all three as the system installs them.
"""

from tools.site.engines.chromium import Chromium
from tools.site.engines.firefox import Firefox
from tools.site.engines.webkit import WebKit

ENGINES = {"chromium": Chromium, "firefox": Firefox, "webkit": WebKit}
