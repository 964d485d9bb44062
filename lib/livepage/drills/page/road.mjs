// How far the reader has come on the road: which chapters are read, how many of their
// drills are done, how many are due, and where to go on. Who has not begun is shown nothing
// of it but where to begin.

import { pages } from "./pages.mjs";
import { partsOf, prepareParts, say } from "./sittings.mjs";
import { followChanges, store } from "./store.mjs";

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
    read && say("road_read"),
    done && say("road_done", { done, all }),
    due && say("road_due", { due }),
  ].filter(Boolean);
  const line = element("span", "map-progress", said.join(" · "));
  if (said.length) stop.querySelector(".map-times").after(line);
}

/** One sentence about the whole road; a link to what is due. */
function drawWhole(map, stops) {
  map.querySelector(".map-said")?.remove();
  const sum = (key) => stops.reduce((total, stop) => total + Number(stop[key]), 0);
  const [read, done, due] = ["read", "done", "due"].map(sum);
  if (read + done + due === 0) return;
  const counts = { read, chapters: stops.length, done, drills: sum("all") };
  const line = element("p", "map-said", say("road_said", counts), " ");
  const link = element("a", "", due ? say("road_today", { due }) : say("road_whole"));
  link.href = map.dataset.whole;
  if (map.dataset.whole) line.append(link, " ");
  line.append(say("road_kept"));
  map.prepend(line);
}

function draw(map) {
  const stops = [...map.querySelectorAll(".map-there")];
  const known = stops.map(progressOf);
  stops.forEach((stop, i) => drawStop(stop, known[i]));
  drawWhole(map, known);
  const link = document.querySelector(".begin a");
  if (link) drawBegin(link, map, stops);
}

/** Where the reader goes on; the page itself says where to begin. */
function drawBegin(link, { dataset: { whole } }, stops) {
  link.dataset.first ??= JSON.stringify(contentOf(link));
  const parts = stops.flatMap((stop) =>
    partsOf(stop.dataset.page).map((part, n) => ({ ...part, stop, n })),
  );
  const isFresh = parts.every(({ state }) => state === "open");
  const next = isFresh ? null : partToGoOnWith(parts);
  const fill = (href, ...texts) => {
    link.setAttribute("href", href);
    texts.forEach((text, i) => {
      link.children[i].textContent = text;
    });
  };
  if (next) fill(...goOnWith(next));
  else if (isFresh || !whole) fill(...JSON.parse(link.dataset.first));
  else fill(whole, say("all_done"), linkToDrills());
}

const contentOf = (link) => [
  link.getAttribute("href"),
  ...[...link.children].map((child) => child.textContent),
];

/** Address, head and text of the link to a part. */
function goOnWith({ stop, n }) {
  const row = stop.querySelectorAll(".map-parts li")[n];
  const number = stop.querySelector(".map-number").textContent;
  const [title, about] = [...row.children].map((child) => child.textContent);
  const slots = { number, part: n + 1, title, about };
  return [
    row.querySelector("a").getAttribute("href"),
    say("go_on"),
    say("part_at", slots),
  ];
}

/** How many drills are due today; where none is, that all are listed. */
function linkToDrills() {
  const due = store.due().length;
  return due ? say("road_today", { due }) : say("road_whole");
}

/**
 * The part where the reader was or, once it is done, the next one on the road; a chapter
 * that was read is left behind, even if some of its drills are open. After the end of the
 * road, the first part whose drills are open.
 */
function partToGoOnWith(parts) {
  const page = lastPage(parts);
  const isHere = ({ stop, state }) => stop.dataset.page === page && state !== "open";
  const here = parts.findLastIndex(isHere);
  const isLeft = ({ state, isRead }) => state !== "done" && !isRead;
  return parts.slice(here).find(isLeft) ?? parts.find(({ state }) => state !== "done");
}

/**
 * The chapter in which the reader came further last; where no moment is kept, as before
 * there were parts, the furthest on the road.
 */
function lastPage(parts) {
  const begun = parts.filter(({ state }) => state !== "open");
  const moment = ({ stop }) => pages.get(stop.dataset.page).at ?? "";
  return begun.reduce((last, part) => (moment(part) >= moment(last) ? part : last)).stop
    .dataset.page;
}

for (const map of document.querySelectorAll(".map")) {
  draw(map);
  document.addEventListener("os-drills-changed", () => draw(map));
}
prepareParts();
followChanges();
