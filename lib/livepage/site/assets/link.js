// One quantity, many appearances: point at it in a sentence, an equation, the code or a
// figure, and it lights up in all of them. A tap, Enter or Space pins it.
(() => {
  const words = JSON.parse(document.getElementById("words").textContent);
  const said = document.getElementById("said");
  let pinned = null; // { name, within }: stays lit
  let shown = null; // { name, within }: lit now
  let lit = [];

  const same = (name) => `[data-q="${CSS.escape(name)}"]`;

  // The nearest section answers if its figure knows the quantity; else the whole page.
  function appearance(element) {
    const name = element.dataset.q;
    const section = element.closest("section");
    const near = section?.querySelector(`figure ${same(name)}`);
    return { name, within: near ? section : document };
  }

  function paint() {
    for (const element of lit) element.classList.remove("q-on");
    lit = shown ? [...shown.within.querySelectorAll(same(shown.name))] : [];
    for (const element of lit) element.classList.add("q-on");
  }

  // A figure draws anew at every step; what it draws while lit is lit too.
  const redrawn = new MutationObserver(paint);

  function light(what) {
    redrawn.disconnect();
    shown = what;
    paint();
    if (what) redrawn.observe(document.body, { childList: true, subtree: true });
  }

  const rest = () => light(pinned);

  function announce(name) {
    if (words.quantities[name]) said.textContent = words.quantities[name].join(": ");
  }

  function pin(element) {
    const again = element && pinned?.name === element.dataset.q;
    for (const button of document.querySelectorAll(".q[aria-pressed=true]")) {
      button.setAttribute("aria-pressed", "false");
    }
    pinned = element && !again ? appearance(element) : null;
    if (pinned && element.matches(".q")) element.setAttribute("aria-pressed", "true");
    if (pinned) announce(pinned.name);
    rest();
  }

  function letter(button) {
    const name = button.dataset.q;
    button.setAttribute("role", "button");
    button.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-label", words.quantities[name].join(", "));
    button.tabIndex = 0;
    button.addEventListener("focus", () => light(appearance(button)));
    button.addEventListener("blur", rest);
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pin(button);
    });
  }

  // Arrow keys walk through the quantities of an equation, in reading order.
  function equation(box) {
    const parts = [...box.querySelectorAll("[data-q]")];
    if (!parts.length) return;
    let at = -1;
    box.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if ((event.key === "Enter" || event.key === " ") && at >= 0) {
        event.preventDefault();
        pin(parts[at]);
      }
      if (!step) return;
      event.preventDefault();
      at = Math.max(at, step < 0 ? 0 : -1) + step;
      at = (at + parts.length) % parts.length;
      light(appearance(parts[at]));
      announce(parts[at].dataset.q);
    });
    box.addEventListener("blur", () => {
      at = -1;
      rest();
    });
  }

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const element = event.target.closest("[data-q]");
    if (element) light(appearance(element));
    else if (shown) rest();
  });
  document.addEventListener("click", (event) => {
    const element = event.target.closest("[data-q]");
    const busy = event.target.closest("a, button, input, label, summary, [data-drag]");
    if (element && !busy) pin(element);
    else if (pinned && !element && !busy) pin(null);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") pin(null);
  });

  for (const button of document.querySelectorAll(".q[data-q]")) {
    if (!button.closest("a, summary, button")) letter(button);
  }
  document.querySelectorAll(".math").forEach(equation);
})();
