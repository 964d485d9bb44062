// A Python of its own, in a worker: it answers one question after the other.

import { openPython, patience } from "livepage/drills/page";

import { Trouble, unless } from "./trouble.mjs";

const SILENT_MS = 20000;

export class Helper {
  /**
   * Open it with its modules, and with the source of the function that answers, by its
   * name; `silent` is the word for one that gives no answer.
   */
  static async open(signal, { modules, source, name, silent }) {
    const opened = openPython().catch(() => {
      throw new Trouble(silent);
    });
    const end = ({ worker }) => worker.terminate();
    const { worker, simulator } = await unless(signal, opened, end);
    const first = { modules: { ...simulator, ...modules }, source, name };
    return new Helper({ worker, signal, silent, first });
  }

  constructor(parts) {
    Object.assign(this, parts);
  }

  async ask(asked) {
    let timer;
    const answer = new Promise((resolve, reject) => {
      const fail = () => reject(new Trouble(this.silent));
      timer = setTimeout(fail, patience(SILENT_MS));
      this.worker.onerror = fail;
      this.worker.onmessage = ({ data }) => {
        if (data.error) fail();
        else if (data.answer) resolve(JSON.parse(data.answer));
      };
    });
    this.worker.postMessage({ ask: JSON.stringify(asked), ...this.first });
    this.first = {};
    try {
      return await unless(this.signal, answer);
    } finally {
      clearTimeout(timer);
    }
  }

  close() {
    this.worker.terminate();
  }
}
