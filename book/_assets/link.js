// One quantity, many appearances: point at it in a sentence, an equation, the code or a
// figure, and it lights up in all of them. A tap, Enter or Space pins it.
(() => {
  const words = JSON.parse(document.getElementById("words").textContent);
  const said = document.getElementById("said");
  const letters = { m: "m", l: "ℓ", alpha: "α", o: "o", s: "s", p: "p" };
  let pinned = null;
  let shown = [];

  // The nearest section is enough where it holds a figure; else the whole page answers.
  function scope(element) {
    const section = element.closest("section");
    return section?.querySelector("figure [data-q]") ? section : document;
  }

  function darken() {
    for (const element of shown) element.classList.remove("q-on");
    shown = [];
  }

  function light(element) {
    darken();
    const name = element.dataset.q;
    shown = [...scope(element).querySelectorAll(`[data-q="${CSS.escape(name)}"]`)];
    for (const other of shown) other.classList.add("q-on");
  }

  function announce(name) {
    if (letters[name]) said.textContent = `${letters[name]}: ${words[`q_${name}`]}`;
  }

  function rest() {
    if (pinned) light(pinned);
    else darken();
  }

  function pin(element) {
    const same = pinned && pinned.dataset.q === element.dataset.q;
    for (const button of document.querySelectorAll('.q[aria-pressed="true"]')) {
      button.setAttribute("aria-pressed", "false");
    }
    pinned = same ? null : element;
    if (pinned?.matches(".q")) pinned.setAttribute("aria-pressed", "true");
    if (pinned) announce(pinned.dataset.q);
    rest();
  }

  function letter(button) {
    const name = button.dataset.q;
    button.setAttribute("role", "button");
    button.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-label", `${letters[name]}, ${words[`q_${name}`]}`);
    button.tabIndex = 0;
    button.addEventListener("focus", () => light(button));
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
      if (event.key === "Escape") { at = -1; rest(); }
      if ((event.key === "Enter" || event.key === " ") && at >= 0) {
        event.preventDefault();
        pin(parts[at]);
      }
      if (!step) return;
      event.preventDefault();
      at = Math.max(at, step < 0 ? 0 : -1) + step;
      at = (at + parts.length) % parts.length;
      light(parts[at]);
      announce(parts[at].dataset.q);
    });
    box.addEventListener("blur", () => { at = -1; rest(); });
  }

  const target = (event) => event.target.closest?.("[data-q]");
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const element = target(event);
    if (element) light(element);
    else if (shown.length) rest();
  });
  document.addEventListener("click", (event) => {
    const element = target(event);
    if (element && !event.target.closest("a, button, input")) pin(element);
    else if (pinned && !element) pin(pinned);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && pinned) pin(pinned);
  });

  for (const button of document.querySelectorAll(".q[data-q]")) {
    if (!button.closest("a, summary, button")) letter(button);
  }
  document.querySelectorAll(".math").forEach(equation);
})();
