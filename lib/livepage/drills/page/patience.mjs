// How long the page waits for code that it runs. The limits are meant for readers; tests
// run on machines that are busy, and set the global `livepagePatience` to a larger factor.

export const patience = (ms) => ms * (globalThis.livepagePatience ?? 1);
