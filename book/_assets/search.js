// Search over every section of the book: on its own page, or in a dialog on any other.
(() => {
  const root = document.documentElement.dataset.root;
  const words = JSON.parse(document.getElementById("words").textContent);
  const LIMIT = 30; // places listed
  const BEFORE = 60; // characters of text before the first term
  const LENGTH = 180; // characters of text in all
  const marks = /[\u0300-\u036f]/g;
  const plain = (text) => text.normalize("NFD").replace(marks, "").toLowerCase();
  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

  function loadIndex() {
    if (window.bookIndex) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${root}_static/search-index.js`;
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });
  }

  // "rescaling" also finds "rescale": a word may lose its usual ending.
  function stem(word) {
    const short = word.replace(/(ing|ed|es|s|e)$/, "");
    return short.length > 2 ? short : word;
  }

  function score(entry, terms) {
    const [, , heading, text] = entry.map(plain);
    let total = 0;
    for (const term of terms) {
      const inHeading = heading.includes(term);
      const times = text.split(term).length - 1;
      if (!inHeading && !times) return 0;
      total += (inHeading ? 20 : 0) + Math.min(times, 5);
    }
    return total;
  }

  function find(query) {
    const terms = plain(query).split(/\s+/).filter(Boolean).map(stem);
    if (!terms.length) return { terms, found: [] };
    const found = window.bookIndex
      .map((entry) => [score(entry, terms), entry])
      .filter(([points]) => points > 0)
      .sort((a, b) => b[0] - a[0])
      .slice(0, LIMIT)
      .map(([, entry]) => entry);
    return { terms, found };
  }

  function element(tag, className, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  // A line of the text around the first term found, with every term marked.
  function excerpt(text, terms) {
    const any = `(?:${terms.map(escaped).join("|")})`;
    const middle = text.search(new RegExp(any, "iu"));
    const from = middle > BEFORE ? text.indexOf(" ", middle - BEFORE) + 1 : 0;
    const rest = text.length - from > LENGTH;
    const to = rest ? text.lastIndexOf(" ", from + LENGTH) : text.length;
    const parts = text.slice(from, to).split(new RegExp(`(${any}\\p{L}*)`, "giu"));
    const marked = parts.map((part, i) => (i % 2 ? element("mark", "", part) : part));
    return element("span", "find-text", from ? "… " : "", ...marked, rest ? " …" : "");
  }

  function result(entry, terms) {
    const [href, page, heading, text] = entry;
    const link = element("a", "", element("span", "find-heading", heading));
    if (heading !== page) link.append(" ", element("span", "find-page", page));
    link.append(excerpt(text, terms));
    link.href = root + href;
    return element("li", "", link);
  }

  function box() {
    const input = element("input", "find-input");
    input.type = "search";
    input.autocomplete = "off";
    input.placeholder = words.search_hint;
    input.setAttribute("aria-label", words.search_label);
    const count = element("p", "find-count");
    count.setAttribute("role", "status");
    const list = element("ol", "find-list");
    const update = () => {
      const { terms, found } = find(input.value);
      list.replaceChildren(...found.map((entry) => result(entry, terms)));
      if (!terms.length) count.textContent = "";
      else if (found.length) count.textContent = `${words.search_some}: ${found.length}`;
      else count.textContent = `${words.search_none} “${input.value}”`;
    };
    input.addEventListener("input", update);
    const parts = [element("div", "find-box", input), count, list];
    return { input, update, parts };
  }

  async function onPage(host) {
    await loadIndex();
    const { input, update, parts } = box();
    host.append(...parts);
    input.value = new URLSearchParams(location.search).get("q") ?? "";
    input.addEventListener("input", () => {
      const asked = encodeURIComponent(input.value);
      const address = asked ? `?q=${asked}` : location.pathname;
      try { history.replaceState(null, "", address); } catch { /* not from a folder */ }
    });
    update();
    input.focus();
  }

  let dialog;
  window.bookSearch = async () => {
    const host = document.getElementById("search-page");
    if (host) return host.querySelector("input").focus();
    await loadIndex();
    if (!dialog) {
      const { parts } = box();
      const close = element("button", "tool", words.close);
      close.type = "button";
      close.addEventListener("click", () => dialog.close());
      parts[0].append(close);
      dialog = element("dialog", "find-dialog", ...parts);
      dialog.setAttribute("aria-label", words.search_label);
      dialog.addEventListener("click", (event) => {
        const chosen = event.target.closest(".find-list a");
        if (chosen || event.target === dialog) dialog.close();
      });
      document.body.append(dialog);
    }
    if (!dialog.open) dialog.showModal();
    dialog.querySelector("input").select();
  };

  const host = document.getElementById("search-page");
  if (host) onPage(host);
})();
