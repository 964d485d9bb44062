"""Three browser engines behind one small face, for `tools.site.browsers`.

    with ENGINES["firefox"]() as engine:
        engine.open("file:///…/index.html")
        engine.run("async (name) => document.querySelector(name).textContent", "h1")
        engine.faults()

Chromium is driven by Playwright, Firefox by WebDriver BiDi, which it speaks itself, and
WebKitGTK by WebDriver through its own driver: all three as the system installs them.
"""

from tools.site.engines.chromium import Chromium
from tools.site.engines.firefox import Firefox
from tools.site.engines.webkit import WebKit

ENGINES = {"chromium": Chromium, "firefox": Firefox, "webkit": WebKit}
