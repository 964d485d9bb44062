// How far the reader has come on the road: which chapters are read, how many of their
// drills are done, and how many are due. Who has not begun is shown nothing of it.

import { pages } from "./pages.mjs";
import { followChanges, store } from "./store.mjs";

const words = JSON.parse(document.getElementById("words").textContent);

function say(key, slots) {
  return Object.entries(slots).reduce(
    (text, [name, value]) => text.replace(`{${name}}`, value),
    words[key],
  );
}

function element(tag, className, ...children) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children);
  return made;
}

/** What is known of one chapter. */
function progressOf(stop) {
  const drills = stop.dataset.drills.split(" ").filter(Boolean);
  const [done, due] = [store.done(), store.due()];
  return {
    read: pages.isRead(stop.dataset.page),
    all: drills.length,
    done: drills.filter((id) => done.includes(id)).length,
    due: drills.filter((id) => due.includes(id)).length,
  };
}

function drawStop(stop, { read, done, due, all }) {
  stop.querySelector(".map-progress")?.remove();
  stop.classList.toggle("map-read", read);
  const said = [
    read && words.road_read,
    done && say("road_done", { done, all }),
    due && say("road_due", { due }),
  ].filter(Boolean);
  if (said.length) stop.append(element("span", "map-progress", said.join(" · ")));
}

/** One sentence about the whole road; a link to what is due. */
function drawWhole(map, stops) {
  map.querySelector(".map-said")?.remove();
  const sum = (key) => stops.reduce((total, stop) => total + Number(stop[key]), 0);
  const [read, done, due] = ["read", "done", "due"].map(sum);
  if (read + done + due === 0) return;
  const counts = { read, chapters: stops.length, done, drills: sum("all") };
  const line = element("p", "map-said", say("road_said", counts), " ");
  const link = element("a", "", due ? say("road_today", { due }) : words.road_whole);
  link.href = map.dataset.whole;
  if (map.dataset.whole) line.append(link, " ");
  line.append(words.road_kept);
  map.prepend(line);
}

function draw(map) {
  const stops = [...map.querySelectorAll(".map-there")];
  const known = stops.map(progressOf);
  stops.forEach((stop, i) => drawStop(stop, known[i]));
  drawWhole(map, known);
}

for (const map of document.querySelectorAll(".map")) {
  draw(map);
  document.addEventListener("os-drills-changed", () => draw(map));
}
followChanges();
