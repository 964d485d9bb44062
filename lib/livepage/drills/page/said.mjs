// What running code says is English. On other pages it is translated before it is shown, by
// pairs of sentences that are fetched when there is the first one to say.

import { HOME, loadScript } from "./python.mjs";
import { inEnglish } from "./words.mjs";

const SAID = ["said", "error", "reason", "instead"]; // slots that code has filled

/** A message in a language, or null. `own` are the pairs of a drill. */
export async function translate({ language }, message, own) {
  return (await translator(language))(message, own);
}

/** The slots of a sentence, with code's words in the language of the page. */
export async function inLanguage(word, slots, own) {
  if (word.language === "en") return slots;
  const found = { ...slots };
  for (const name of SAID) {
    if (found[name]) found[name] = await inWords(word, String(found[name]), own);
  }
  return found;
}

/** A report on a run: the slots of its sentence, and words in its table. */
export async function reportInLanguage(word, report, own) {
  if (word.language === "en") return report;
  const slots = await inLanguage(word, report.slots, own);
  if (!own || !report.table) return { ...report, slots };
  const say = await translator(word.language);
  const said = (value) => (Object.hasOwn(own, value) ? say(value, own) : value);
  const cell = ([value, ...more]) => [said(value), ...more];
  const table = report.table.map((one) => ({ ...one, cells: one.cells.map(cell) }));
  return { ...report, slots, table };
}

/** A message in the language of the page, or marked as English. Code stays code. */
async function inWords(word, message, own) {
  const [, ticks, bare] = /^(`?)(.*)\1$/s.exec(message);
  const said = await translate(word, bare, own);
  return said === null ? inEnglish(message) : ticks + said + ticks;
}

/** What translates into a language; if it cannot be fetched, all stays English. */
async function translator(language) {
  const found = () => globalThis.livepageSentences?.[language];
  await loadScript(`${HOME}sentences-${language}.js`, found).catch(() => {});
  return found() ?? (() => null);
}
