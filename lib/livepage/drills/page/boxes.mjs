// What a reader has typed into the boxes of a form.

/** What the reader typed into a box, even while the page has filled that box in. */
export function typedIn(box) {
  return box.readOnly ? (box.dataset.typed ?? "") : box.value;
}

export function typeInto(box, text) {
  box.dataset.typed = text;
  if (!box.readOnly) box.value = text;
}

/** Tell those who listen to the form that an answer changed, though nobody typed. */
export function tellOfAnswer(drill) {
  drill.form.dispatchEvent(new Event("change"));
}
