// What is known of a code cell before anything is fetched.

/** Whether the page's Python can run a cell. */
export const isRunnable = (cell) => cell.dataset.binds !== undefined;

/** Under which key the record keeps a cell's text: page and cell. */
export const keyOf = (cell) => `${pageName()}#${cell.id}`;

const pageName = () =>
  decodeURIComponent(location.pathname.split("/").at(-1)).replace(/\.html$/, "");

/** The page's notebook, where the site has one. */
export const notebook = () =>
  document.querySelector('.head-facts a[download][href$=".ipynb"]')?.href ?? null;
