// Runs before the first paint: the reader's chosen colours, where there is a choice.
try {
  const chosen = localStorage.getItem("book-theme");
  if (["light", "dark"].includes(chosen))
    document.documentElement.dataset.theme = chosen;
} catch {
  /* without storage no choice is kept */
}
