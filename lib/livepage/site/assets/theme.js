// Runs before the first paint.

// The reader's chosen colours, where there is a choice.
try {
  const chosen = localStorage.getItem("book-theme");
  if (["light", "dark"].includes(chosen))
    document.documentElement.dataset.theme = chosen;
} catch {
  /* without storage no choice is kept */
}

// A fresh visit begins at the top, so what lies far below may be laid out later (site.js).
// Who comes back, or follows a link to a place, needs the way there at once.
if (
  !location.hash &&
  performance.getEntriesByType("navigation")[0]?.type === "navigate"
)
  document.documentElement.dataset.far = "";
