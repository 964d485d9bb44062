// The panel with the reader's progress: what is due, saving, loading, forgetting.

function preparePanel(panel) {
  const word = wordsFor(panel);
  const listed = JSON.parse(panel.querySelector("script").textContent);
  const summary = make("p", {});
  const list = make("ul", { class: "os-progress-due" });
  const draw = () => drawPanel(word, listed, summary, list);

  panel.append(
    make("p", { class: "os-drill-label" }, make("strong", {}, word("progress"))),
    summary, list, ...panelFoot(word),
  );
  const { whole } = panel.dataset;
  if (whole) list.after(make("p", {}, make("a", { href: whole }, word("allOfBook"))));
  draw();
  document.addEventListener("os-drills-changed", draw);
  panel.hidden = false;
}

function drawPanel(word, listed, summary, list) {
  const ids = Object.keys(listed);
  const here = (id) => ids.length === 0 || own(listed, id);
  const done = store.done().filter(here).length;
  const due = store.due().filter(here);
  const counts = { done, due: due.length, all: ids.length };
  summary.textContent = word(ids.length ? "progressCount" : "progressSome", counts);
  list.replaceChildren(...due.map((id) => {
    const { title, href } = listed[id] ?? { title: "", href: `#drill-${id}` };
    const link = fromBank("a", title, { href });
    if (!title) link.textContent = id;
    return make("li", {}, link);
  }));
}

/** The buttons, what they did, and where all this is kept. */
function panelFoot(word) {
  const said = make("p", { class: "os-progress-said", role: "status" });
  const note = make("p", { class: "os-drill-how" });
  const draw = () => {
    store.all(); // finds out whether the browser keeps anything
    note.textContent = word(store.kept ? "progressNote" : "noStorage");
  };
  draw();
  document.addEventListener("os-drills-changed", draw);
  return [panelButtons(word, said), said, note];
}

function panelButtons(word, said) {
  const file = make("input", { type: "file", accept: ".json", hidden: "" });
  const clear = button(word("clear"), () => {
    const sure = clear.dataset.sure;
    clear.textContent = word(sure ? "clear" : "clearSure");
    if (!sure) return void (clear.dataset.sure = "yes");
    delete clear.dataset.sure;
    store.replace({});
    said.textContent = word("cleared");
  });
  clear.addEventListener("blur", () => {
    delete clear.dataset.sure;
    clear.textContent = word("clear");
  });
  file.addEventListener("change", async () => {
    try {
      const n = store.import(await file.files[0].text());
      said.textContent = word("imported", { n });
    } catch {
      said.textContent = word("importFailed");
    }
    file.value = "";
  });
  return make(
    "div", { class: "os-drill-actions" },
    button(word("export"), saveFile), button(word("import"), () => file.click()),
    file, clear,
  );
}

function button(text, act) {
  const element = make("button", { type: "button" }, text);
  element.addEventListener("click", act);
  return element;
}

function saveFile() {
  download("drills.json", new Blob([store.export()], { type: "application/json" }));
}

function download(name, blob) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
