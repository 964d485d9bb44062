// A textarea that is good for code: Tab and Enter indent, lines have numbers, the line
// of an error is lit. After Escape, Tab leaves the textarea, as it does everywhere else.

import { make } from "./words.mjs";

const INDENT = "    ";

export function prepareEditor(area, gutter, run) {
  let tabLeaves = false;
  const redraw = () => drawGutter(area, gutter);

  area.addEventListener("input", () => {
    markLine(gutter, null);
    redraw();
  });
  area.addEventListener("blur", () => {
    tabLeaves = false;
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      tabLeaves = true;
    } else if (event.key === "Tab" && !tabLeaves) {
      event.preventDefault();
      event.shiftKey ? outdent(area) : indent(area);
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      insert(area, `\n${nextIndent(area)}`);
    } else if (event.key === "Backspace" && atIndent(area)) {
      event.preventDefault();
      area.selectionStart -= INDENT.length;
      insert(area, "");
    }
  });
  redraw();
}

/** Replace the selection in a way the browser can undo. */
export function insert(area, text) {
  area.focus();
  const command = text ? "insertText" : "delete";
  if (!document.execCommand(command, false, text)) {
    area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

function lineStart(area) {
  return area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
}

function nextIndent(area) {
  const line = area.value.slice(lineStart(area), area.selectionStart);
  const before = line.match(/^ */)[0];
  return line.trimEnd().endsWith(":") ? before + INDENT : before;
}

function atIndent(area) {
  const line = area.value.slice(lineStart(area), area.selectionStart);
  const bare = area.selectionStart === area.selectionEnd;
  return bare && line.length > 0 && /^( {4})+$/.test(line);
}

function indent(area) {
  if (area.selectionStart === area.selectionEnd) insert(area, INDENT);
  else changeLines(area, (line) => INDENT + line);
}

function outdent(area) {
  changeLines(area, (line) => line.replace(/^ {1,4}/, ""));
}

/** Change every line the selection touches, and leave them selected. */
function changeLines(area, change) {
  const { value, selectionStart: from, selectionEnd: to } = area;
  const start = lineStart(area);
  const stop = value.indexOf("\n", to > from ? to - 1 : to);
  const old = value.slice(start, stop < 0 ? value.length : stop);
  const changed = old.split("\n").map(change).join("\n");
  if (changed === old) return;
  area.setSelectionRange(start, start + old.length);
  insert(area, changed);
  const caret = Math.max(start, from + changed.length - old.length);
  if (from === to) area.setSelectionRange(caret, caret);
  else area.setSelectionRange(start, start + changed.length);
}

export function drawGutter(area, gutter) {
  const count = area.value.split("\n").length;
  area.rows = count;
  let n = gutter.childElementCount; // asked once: a browser counts anew each time
  for (; n > count; n -= 1) gutter.lastElementChild.remove();
  for (; n < count; n += 1) gutter.append(make("span", {}, String(n + 1)));
}

/** Light the line of a fault; in a race also the line of the other access. */
export function markLine(gutter, line, other = null) {
  for (const [i, mark] of [...gutter.children].entries()) {
    mark.classList.toggle("os-drill-fault", i + 1 === line);
    mark.classList.toggle("os-drill-other", i + 1 === other && other !== line);
  }
}
