// Search over every section of the book: on its own page, or in a dialog on any other.
(() => {
  const root = document.documentElement.dataset.root;
  const words = JSON.parse(document.getElementById("words").textContent);
  const LIMIT = 30; // places listed
  const BEFORE = 60; // characters of text before the first term
  const LENGTH = 180; // characters of text in all
  const LONGEST = 200; // characters of a question: a longer one would take seconds
  // Words that questions are made of, which do not tell what is sought.
  const LITTLE = new Set(
    (
      "a an and are can do does for how in is it of on the to what when where which " +
      "why como cual cuando de del donde el en es la las los para por que se un " +
      "una"
    ).split(" "),
  );
  const marks = /[\u0300-\u036f]/g;
  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

  // Text as it is compared: without accents, and with the signs a keyboard has. It stays as
  // long as the text, so that a place in one is a place in the other.
  function plain(text) {
    const bare = text.normalize("NFD").replace(marks, "").toLowerCase();
    return bare.replace(/[\u2212\u2013]/g, "-").replace(/[\u2018\u2019\u2032]/g, "'");
  }

  function loadIndex() {
    if (window.bookIndex) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${root}_static/search-index.js`;
      // What was fetched may be cut short, or a page that says something else.
      script.onload = () => (Array.isArray(window.bookIndex) ? resolve() : reject());
      script.onerror = reject;
      document.head.append(script);
    });
  }

  // "walking" also finds "walk": a word may lose its usual ending.
  function stem(word) {
    const short = word.replace(/(ing|ed|es|s|e)$/, "");
    return short.length > 2 ? short : word;
  }

  // A word without the punctuation around it; m' and -1 keep what belongs to them.
  function bared(word) {
    const unquoted = word.replace(/^'(.*)'$/u, "$1");
    return unquoted.replace(/^[^\P{P}-]+|[^\P{P}']+$/gu, "");
  }

  // What to look for. A hyphen may be missing: "note-book" finds "NoteBook".
  function sought(query) {
    const seen = query.replace(/[\p{Cf}\0]/gu, ""); // signs without a shape come with a paste
    const asked = plain(seen).split(/\s+/).map(bared).filter(Boolean);
    const telling = asked.filter((word) => !LITTLE.has(word));
    return (telling.length ? telling : asked).map(
      (word) =>
        number(word) ?? escaped(stem(word)).replace(/(\p{L})-(?=\p{L})/gu, "$1[- ]?"),
    );
  }

  // A number is found however its thousands are grouped, and whatever its decimals follow.
  function number(word) {
    if (/^\d{1,3}([.,]\d{3})+$|^\d{4,}$/.test(word)) {
      return word.replace(/[.,]/g, "").replace(/\B(?=(\d{3})+$)/g, "[.,\u202f]?");
    }
    return /^\d+[.,]\d+$/.test(word) ? word.replace(/[.,]/, "[.,]") : undefined;
  }

  let compared; // heading and text of every entry, as they are compared
  function comparable() {
    compared ??= window.bookIndex.map(([, , ...texts]) => texts.map(plain));
    return compared;
  }

  function score([heading, text], terms) {
    let total = 0;
    for (const term of terms) {
      const inHeading = term.test(heading);
      const times = text.match(new RegExp(term, "gu"))?.length ?? 0;
      if (!inHeading && !times) return 0;
      total += (inHeading ? 20 : 0) + Math.min(times, 5);
    }
    return total;
  }

  function find(query) {
    const terms = sought(query);
    if (!terms.length) return { terms, found: [] };
    const patterns = terms.map((term) => new RegExp(term, "u"));
    const found = comparable()
      .map((texts, place) => [score(texts, patterns), window.bookIndex[place]])
      .filter(([points]) => points > 0)
      .sort((a, b) => b[0] - a[0])
      .map(([, entry]) => entry);
    return { terms, found };
  }

  function element(tag, className, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  // Where a line of the text holds most of the terms, if it can be from the start of a
  // word, not within a name in code; -1 where there is none.
  function richest(text, terms) {
    const patterns = terms.map((term) => new RegExp(term, "u"));
    const within = /[\p{L}\p{N}_]$/u;
    let [best, most] = [-1, 0];
    for (const { index } of text.matchAll(new RegExp(terms.join("|"), "gu"))) {
      const line = text.slice(index, index + LENGTH - BEFORE);
      const whole = within.test(text.slice(Math.max(0, index - 1), index)) ? 0 : 0.5;
      const held = patterns.filter((pattern) => pattern.test(line)).length + whole;
      if (held > most) [best, most] = [index, held];
    }
    return best;
  }

  // A line of the text with as many terms as can be had, and every term marked.
  function excerpt(text, terms) {
    const any = `(?:${terms.join("|")})`;
    const middle = richest(plain(text), terms);
    const from = middle > BEFORE ? text.indexOf(" ", middle - BEFORE) + 1 : 0;
    const rest = text.length - from > LENGTH;
    const to = rest ? text.lastIndexOf(" ", from + LENGTH) : text.length;
    const marked = withMarks(text.slice(from, to), new RegExp(`${any}\\p{L}*`, "gu"));
    return element("span", "find-text", from ? "… " : "", ...marked, rest ? " …" : "");
  }

  function withMarks(text, pattern) {
    const parts = [];
    let end = 0;
    for (const { index, 0: match } of plain(text).matchAll(pattern)) {
      const after = index + match.length;
      parts.push(text.slice(end, index), element("mark", "", text.slice(index, after)));
      end = after;
    }
    return [...parts, text.slice(end)];
  }

  function result(entry, terms) {
    const [href, page, heading, text] = entry;
    const link = element("a", "", element("span", "find-heading", heading));
    if (heading !== page) link.append(" ", element("span", "find-page", page));
    link.append(excerpt(text, terms));
    link.href = root + href;
    return element("li", "", link);
  }

  function counted(found, query) {
    if (!found.length) return words.search_none.replace("{query}", () => query);
    const all = `${words.search_some}: ${found.length}`;
    const first = words.search_first.replace("{n}", LIMIT);
    return found.length > LIMIT ? `${all} (${first})` : all;
  }

  // The arrows lead from the field to the first place, and from place to place.
  function walk(event, input, list) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const stops = [input, ...list.querySelectorAll("a")];
    const next = stops[stops.indexOf(event.target) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  function box() {
    const input = element("input", "find-input");
    input.type = "search";
    input.maxLength = LONGEST;
    input.autocomplete = "off";
    input.placeholder = words.search_hint;
    input.setAttribute("aria-label", words.search_label);
    const count = element("p", "find-count");
    count.setAttribute("role", "status");
    const list = element("ol", "find-list");
    const update = () => {
      const { terms, found } = find(input.value);
      const listed = found.slice(0, LIMIT).map((entry) => result(entry, terms));
      list.replaceChildren(...listed);
      count.textContent = terms.length ? counted(found, input.value) : "";
    };
    input.addEventListener("input", update);
    for (const part of [input, list]) {
      part.addEventListener("keydown", (event) => walk(event, input, list));
    }
    const parts = [element("div", "find-box", input), count, list];
    return { input, update, parts };
  }

  async function onPage(host) {
    try {
      await loadIndex();
    } catch {
      return window.bookWithoutSearch();
    }
    const { input, update, parts } = box();
    host.append(...parts);
    const given = new URLSearchParams(location.search).get("q") ?? "";
    input.value = given.slice(0, LONGEST);
    const languages = document.querySelectorAll(".tool.language");
    const keepQuestion = () => {
      const asked = new URLSearchParams({ q: input.value }); // takes half a character, too
      for (const link of languages) link.search = input.value ? asked : "";
      return asked;
    };
    keepQuestion();
    input.addEventListener("input", () => {
      const asked = keepQuestion();
      const address = input.value ? `?${asked}` : location.pathname;
      try {
        history.replaceState(null, "", address);
      } catch {
        /* a page from a folder keeps its address */
      }
    });
    update();
    input.focus();
  }

  let dialog;
  window.bookSearch = async () => {
    const host = document.getElementById("search-page");
    if (host) return host.querySelector("input")?.focus();
    try {
      await loadIndex();
    } catch {
      return window.bookWithoutSearch();
    }
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
      dialog.addEventListener("keydown", (event) => {
        if (event.key !== "Escape") return;
        event.preventDefault(); // a search field would only empty itself
        dialog.close();
      });
      document.body.append(dialog);
    }
    if (!dialog.open) dialog.showModal();
    dialog.querySelector("input").select();
  };

  const host = document.getElementById("search-page");
  if (host) onPage(host);
})();
