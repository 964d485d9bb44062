// The panel with the reader's progress: what is due, saving, loading, forgetting.

import { store, tellOfChanges } from "./store.mjs";
import { fromBank, make, wordsFor } from "./words.mjs";

export function preparePanel(panel) {
  const word = wordsFor(panel);
  const listed = JSON.parse(panel.querySelector("script").textContent);
  const summary = make("p", {});
  const list = make("ul", { class: "os-progress-due" });
  const draw = () => drawPanel(word, listed, summary, list);

  panel.append(
    make("p", { class: "os-drill-label" }, make("strong", {}, word("progress"))),
    summary,
    list,
    ...panelFoot(word),
  );
  const { whole } = panel.dataset;
  if (whole) list.after(make("p", {}, make("a", { href: whole }, word("allOfBook"))));
  draw();
  document.addEventListener("os-drills-changed", draw);
  panel.hidden = false;
}

function drawPanel(word, listed, summary, list) {
  const ids = Object.keys(listed);
  const here = (id) => ids.length === 0 || Object.hasOwn(listed, id);
  const done = store.done().filter(here).length;
  const due = store.due().filter(here);
  const counts = { done, due: due.length, all: ids.length };
  summary.textContent = word(ids.length ? "progressCount" : "progressSome", counts);
  list.replaceChildren(
    ...due.map((id) => {
      const known = Object.hasOwn(listed, id);
      const { title, href } = known ? listed[id] : { title: "", href: `#drill-${id}` };
      const link = fromBank("a", title, { href });
      if (!title) link.textContent = id;
      return make("li", {}, link);
    }),
  );
}

/** The buttons, what they did, and where all this is kept. */
export function panelFoot(word) {
  const status = make("p", { class: "os-progress-said", role: "status" });
  const note = make("p", { class: "os-drill-how" });
  const asides = make("div", { class: "os-progress-asides" });
  const draw = () => {
    asides.replaceChildren(...store.asides().map((one) => asideNote(word, one)));
    note.textContent = word(store.kept ? "progressNote" : "noStorage");
  };
  draw();
  document.addEventListener("os-drills-changed", draw);
  return [panelButtons(word, status), status, asides, note];
}

function panelButtons(word, status) {
  const file = make("input", { type: "file", accept: ".json", hidden: "" });
  const clear = sureButton(word("clear"), word("clearSure"), () => {
    tellOfChanges(); // so that what was just typed is kept before
    if (store.isEmpty && status.querySelector("button")) return; // the button that brings all back has to stay
    const bringBack = store.forget();
    const undo = button(word("bringBack"), () => {
      bringBack();
      status.textContent = word("broughtBack");
    });
    status.replaceChildren(word("cleared"), " ", undo);
  });
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    status.textContent = chosen ? await load(word, chosen) : "";
    file.value = "";
  });
  return make(
    "div",
    { class: "os-drill-actions" },
    button(word("export"), saveFile),
    button(word("import"), () => file.click()),
    file,
    clear,
  );
}

const MOST_BYTES = 20e6; // no browser keeps as much, and to read it takes a while

/** Load a file; returns the sentences to show about it. */
async function load(word, file) {
  if (file.size > MOST_BYTES) return word("importFull");
  tellOfChanges(); // so that what was just typed is kept before
  const text = await file.text().catch(() => "");
  const { count, read, both, fault } = store.import(text);
  if (count + read === 0) return word(FAULTS[fault] ?? "importFailed");
  return [
    count ? word(count === 1 ? "importedOne" : "imported", { n: count }) : "",
    read ? word("importedRead", { n: read }) : "",
    both ? word("importedBoth") : "",
    fault ? word("importedPart") : "",
  ]
    .filter(Boolean)
    .join(" ");
}

const FAULTS = { newer: "importNewer", full: "importFull" };

/** A note on a record that this page cannot read, or only in part. */
function asideNote(word, { text, fault }) {
  const save = () => download("drills-aside.json", new Blob([text]));
  return make(
    "div",
    {},
    make("p", {}, word(fault === "newer" ? "asideNewer" : "asideDamaged")),
    make(
      "div",
      { class: "os-drill-actions" },
      button(word("saveAside"), save),
      sureButton(word("delete"), word("deleteSure"), () => store.drop(text)),
    ),
  );
}

/** A button that asks once more. The second click of a double click is no answer. */
export function sureButton(text, sure, act) {
  const ask = () => {
    element.textContent = text;
    delete element.dataset.sure;
  };
  const element = button(text, ({ detail }) => {
    if (detail > 1) return;
    if (element.dataset.sure) {
      ask();
      act();
    } else {
      element.textContent = sure;
      element.dataset.sure = "yes";
    }
  });
  element.addEventListener("blur", ask);
  return element;
}

export function button(text, act) {
  const element = make("button", { type: "button" }, text);
  element.addEventListener("click", act);
  return element;
}

export function saveFile() {
  tellOfChanges(); // so that what was just typed is kept before
  download("drills.json", new Blob([store.export()], { type: "application/json" }));
}

export function download(name, blob) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
