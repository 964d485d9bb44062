// What keeps a run on the GPU from going on: a word of the kit, and what fills it.

export class Trouble extends Error {
  constructor(word, slots = {}, { line = null, wgsl = null } = {}) {
    super(word);
    Object.assign(this, { word, slots, line, wgsl });
  }
}

/** Wait for a promise, unless a signal ends the run first; then discard what comes. */
export async function unless(signal, promise, discard = () => {}) {
  promise.then((late) => signal.aborted && discard(late)).catch(() => {});
  signal.throwIfAborted();
  let end;
  const ended = new Promise((_, reject) => {
    end = () => reject(signal.reason);
    signal.addEventListener("abort", end);
  });
  try {
    return await Promise.race([promise, ended]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

export const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Let the page answer for a moment. */
export const breathe = () => rest(0);
