// What every page does: the choice of colours, the menu, buttons that copy, the section
// in view, and opening the search.
(() => {
  const root = document.documentElement;
  const words = JSON.parse(document.getElementById("words").textContent);
  const said = document.getElementById("said");

  function themes() {
    const button = document.getElementById("theme");
    const order = ["auto", "light", "dark"];
    const current = () => root.dataset.theme ?? "auto";
    const label = () => {
      const text = `${button.dataset.label}: ${button.dataset[current()]}`;
      button.setAttribute("aria-label", text);
      button.title = text;
    };
    button.addEventListener("click", () => {
      const next = order[(order.indexOf(current()) + 1) % order.length];
      if (next === "auto") delete root.dataset.theme;
      else root.dataset.theme = next;
      try {
        localStorage.setItem("book-theme", next);
      } catch {
        /* without storage the choice holds for this page only */
      }
      label();
    });
    label();
  }

  function menu() {
    const details = document.querySelector(".menu");
    document.addEventListener("click", (event) => {
      if (!details.contains(event.target)) details.open = false;
    });
    details.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !details.open) return;
      details.open = false;
      details.querySelector("summary").focus();
    });
  }

  function copying() {
    for (const block of document.querySelectorAll(".code")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = words.copy;
      button.addEventListener("click", async () => {
        await toClipboard(block.querySelector("code").textContent);
        button.textContent = said.textContent = words.copied;
        setTimeout(() => {
          button.textContent = words.copy;
        }, 1600);
      });
      block.append(button);
    }
  }

  // A formula stands in the page twice, for the eye and for screen readers. Copying it
  // gives its LaTeX.
  function formulas() {
    document.addEventListener("copy", (event) => {
      const selection = getSelection();
      if (selection.isCollapsed || event.target.closest?.("input, textarea")) return;
      const piece = whole(selection.getRangeAt(0)).cloneContents();
      if (!piece.querySelector(".katex")) return;
      for (const formula of piece.querySelectorAll(".katex")) {
        const sign = formula.closest(".katex-display") ? "$$" : "$";
        formula.replaceWith(
          sign + formula.querySelector("annotation").textContent + sign,
        );
      }
      piece.querySelectorAll(".copy, .headerlink").forEach((each) => each.remove());
      event.clipboardData.setData("text/plain", piece.textContent);
      event.preventDefault();
    });
  }

  // The range, widened so that no formula is cut in two.
  function whole(chosen) {
    const range = chosen.cloneRange();
    const formula = (node) =>
      (node.closest ? node : node.parentElement)?.closest(".katex");
    const [first, last] = [range.startContainer, range.endContainer].map(formula);
    if (first) range.setStartBefore(first);
    if (last) range.setEndAfter(last);
    return range;
  }

  async function toClipboard(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // a page that was opened from a folder has no clipboard
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }

  // A block that fits needs no stop of its own on the keyboard's way through the page.
  // It is asked after it was laid out: to ask sooner would lay out the whole page. A font
  // that comes later widens what is in the block and not the block, so all are asked again.
  function stops() {
    const measure = (boxes) => {
      const tall = (box) =>
        box.matches(".table") && box.scrollHeight > box.clientHeight + 1;
      const scrolls = boxes.map(
        (box) => box.scrollWidth > box.clientWidth + 1 || tall(box),
      );
      boxes.forEach((box, i) => {
        box.tabIndex = scrolls[i] || box.querySelector(".katex [data-q]") ? 0 : -1;
      });
    };
    const seen = new Set();
    const observer = new ResizeObserver((entries) => {
      const boxes = entries.map(({ target }) => target);
      for (const box of boxes) seen.add(box);
      requestAnimationFrame(() => measure(boxes)); // to ask while it tells is told as an error
    });
    document.fonts?.addEventListener("loadingdone", () => measure([...seen]));
    for (const box of document.querySelectorAll(":is(pre, .table, .math)[tabindex]")) {
      observer.observe(box);
    }
  }

  // What theme.js left for later is laid out a section at a time, whenever the device has
  // nothing else to do; all of it at once when the reader acts, and may go to another place.
  function farSections() {
    const whenIdle = window.requestIdleCallback ?? ((task) => setTimeout(task, 50));
    const waiting = [...document.querySelectorAll("section > section")];
    const all = () => delete root.dataset.far;
    const next = () => {
      if (!waiting.length) return all();
      waiting.shift().classList.add("near");
      whenIdle(next);
    };
    for (const act of ["click", "keydown"]) {
      document.addEventListener(act, all, { capture: true, once: true });
    }
    addEventListener("load", () => whenIdle(next));
  }

  function currentSection() {
    const links = [...document.querySelectorAll(".here a")];
    if (!links.length || !("IntersectionObserver" in window)) return;
    const anchor = (link) => decodeURIComponent(link.hash.slice(1));
    const of = new Map(links.map((link) => [anchor(link), link]));
    const seen = new Set();
    const observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (entry.isIntersecting) seen.add(entry.target.id);
          else seen.delete(entry.target.id);
        }
        const first = [...of.keys()].find((id) => seen.has(id));
        if (!first) return;
        restsAt(first);
        for (const [id, link] of of) {
          if (id === first) link.setAttribute("aria-current", "true");
          else link.removeAttribute("aria-current");
        }
      },
      { rootMargin: "-10% 0px -60% 0px" },
    );
    for (const id of of.keys()) {
      const section = document.getElementById(id);
      if (section) observer.observe(section);
    }
  }

  // Where the search cannot be fetched or read, its page says so, and lists every heading
  // of the book.
  function withoutSearch() {
    const host = document.getElementById("search-page");
    if (!host) {
      location.assign(document.getElementById("search-link").href);
      return;
    }
    host.innerHTML = document.querySelector("main noscript").textContent;
    host.querySelector("p").textContent = said.textContent = words.search_failed;
  }

  function searching() {
    const link = document.getElementById("search-link");
    const page = document.getElementById("search-page");
    window.bookWithoutSearch = withoutSearch;
    addEventListener("load", () => {
      if (page && !window.bookSearch) withoutSearch();
    });
    const open = () => {
      if (window.bookSearch) return window.bookSearch();
      const script = document.createElement("script");
      script.src = `${root.dataset.root}_static/search.js`;
      script.onload = () => (window.bookSearch ?? withoutSearch)();
      script.onerror = withoutSearch;
      document.head.append(script);
    };
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open();
    });
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input, textarea, [contenteditable]");
      const held = event.ctrlKey || event.metaKey || event.altKey;
      if (event.key !== "/" || typing || held) return;
      event.preventDefault();
      open();
    });
  }

  // A part of this page may have become a page of its own: an old address leads there.
  function moved() {
    const pages = Object.entries(JSON.parse(document.body.dataset.moved ?? "{}"));
    const follow = () => {
      const anchor = location.hash.slice(1);
      if (!anchor || document.getElementById(anchor)) return;
      const name = anchor
        .replace(/:.*/, "")
        .replace(/^(cell|drill)-/, "")
        .replace(/-(label|answer|how)$/, "");
      const page = pages.find(([, names]) => names.split(" ").includes(name));
      if (page) location.replace(`${page[0]}#${anchor}`);
    };
    if (!pages.length) return;
    addEventListener("hashchange", follow);
    follow();
  }

  // The same page in another language opens at the section that was read last. The link
  // stands at the top, so the sections that pass on the way there do not count.
  let resting;
  function restsAt(section) {
    clearTimeout(resting);
    resting = setTimeout(() => {
      if (scrollY >= innerHeight / 2) othersOpenAt(section);
    }, 1500);
  }

  function othersOpenAt(place) {
    for (const link of document.querySelectorAll(".tool.language")) link.hash = place;
  }

  // Until then it opens where this page's address leads: at a drill, at a term.
  function samePlace() {
    const follow = () => {
      const place = location.hash.slice(1);
      if (document.getElementById(place)) othersOpenAt(place);
    };
    addEventListener("hashchange", follow);
    follow();
  }

  moved();
  samePlace();
  themes();
  menu();
  copying();
  formulas();
  stops();
  farSections();
  currentSection();
  searching();
})();
