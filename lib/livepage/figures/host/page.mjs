// On a page: finds the hosts, wakes each as it nears the window, keeps the address.

import { decoded, read, write } from "./address.mjs";
import { spoken } from "./frame.mjs";
import * as given from "./given.mjs";
import { Live } from "./live.mjs";
import { completed } from "./loaded.mjs";
import { sweeps } from "./sweep.mjs";

const figures = new Map(); // id of the figure → what makes it
const awake = new Map(); // host element → Live
const coming = new Map(); // address of a script → when it has run

/** Page scripts of figures call this; they may load before or after the host. `source`
 *  is where a script lies whose figure has something to load. */
export function register(id, make, source) {
  figures.set(id, source ? (given) => loading(id, make(given), source) : make);
}

/** A figure that loads the rest of it when it is asked to; every page of it gets one. */
function loading(id, figure, source) {
  const bring = async () => {
    const from = new URL(`${id}-loaded.js`, source).href;
    coming.set(from, coming.get(from) ?? load(from));
    try {
      await coming.get(from);
      return completed(figure, window.osLoaded[id]);
    } catch (error) {
      coming.delete(from);
      throw error;
    }
  };
  return { ...figure, bring };
}

/** Scripts, unlike what is fetched, come from a disk as well. */
function load(address) {
  return new Promise((done, failed) => {
    const script = document.createElement("script");
    Object.assign(script, { src: address, onload: done, onerror: failed });
    document.head.append(script);
  });
}

/** Begin once every deferred script, and so every figure of the page, has run. */
export function begin() {
  if (document.readyState === "complete") start();
  else addEventListener("DOMContentLoaded", start, { once: true });
}

function start() {
  const waiting = window.osFigures ?? [];
  window.osFigures = { push: (entry) => register(...entry), awake };
  for (const entry of waiting) register(...entry);
  const near = new IntersectionObserver(
    (entries) =>
      entries
        .filter((e) => e.isIntersecting)
        .forEach(({ target }) => {
          near.unobserve(target);
          wake(target);
        }),
    { rootMargin: "600px" },
  );
  for (const host of document.querySelectorAll(".os-figure")) near.observe(host);
  sweeps(document);
  document.addEventListener("os-kernel", hear);
  addEventListener("hashchange", goto);
  addEventListener("beforeprint", () => awake.forEach((live) => live.toPaper()));
  addEventListener("afterprint", () => awake.forEach((live) => live.fromPaper()));
  goto();
}

/** Make one figure live; if its script throws, the still stays as it was. */
function wake(host) {
  if (awake.has(host) || host.classList.contains("os-failed")) return awake.get(host);
  const still = host.innerHTML;
  try {
    const live = new Live(
      host,
      host.id,
      made(host),
      JSON.parse(host.dataset.state || "{}"),
    );
    awake.set(host, live);
    remember(live);
    return live;
  } catch (error) {
    host.innerHTML = still;
    host.classList.remove("os-live", "os-waiting");
    host.classList.add("os-failed");
    console.error(`figure ${host.id}: ${error.message}`);
  }
}

/** The reader has run a kernel: figures that hear of it show what it did. */
function hear({ detail }) {
  for (const host of document.querySelectorAll(".os-figure")) {
    if (!figures.get(host.dataset.figure)?.(given).hear) continue;
    wake(host)?.hearOf(detail);
  }
}

function made(host) {
  const make = figures.get(host.dataset.figure);
  if (!make) throw new Error(`no script for "${host.dataset.figure}" on this page`);
  const language = host.closest("[lang]")?.lang.slice(0, 2);
  return spoken(make(given), language, host.dataset.asks !== "no");
}

/** Write changes to the address; a state asked for there waits for the prediction. */
function remember(live) {
  let writing;
  live.on((state) => {
    clearTimeout(writing);
    writing = setTimeout(() => {
      const hash = write(live.id, live.spec, state, live.opening);
      history.replaceState(null, "", hash || location.pathname + location.search);
    }, 250);
  });
  live.unlocked = () => follow(live);
  if (!live.locked) follow(live);
}

function follow(live) {
  const asked = read(location.hash, live.id, live.spec);
  if (!asked || live.locked) return;
  live.stop(); // or it would play on from the moment that was asked for
  live.set({ ...live.opening, ...asked });
}

/** The address names a figure and a state: unfold it, wake it, show it, scroll to it. */
function goto() {
  const [id] = decoded(location.hash.slice(1)).split(":");
  const host = document.getElementById(id);
  if (!host?.classList.contains("os-figure")) return;
  host.closest("details")?.setAttribute("open", "");
  const live = wake(host);
  if (live) follow(live);
  const [{ type } = {}] = performance.getEntriesByType("navigation");
  const back = type === "reload" && document.readyState !== "complete";
  if (!back) host.scrollIntoView({ block: "start" }); // a reload keeps the reader's position
}
