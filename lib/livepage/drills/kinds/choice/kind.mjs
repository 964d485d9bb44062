// One text of several.

import { letterPlace, UNREADABLE } from "../../page/marking.mjs";

export function mark(payload, answer) {
  const picked = letterPlace(answer);
  if (picked === null || !(picked >= 0 && picked < payload.count)) return UNREADABLE;
  return { passed: picked === payload.right, hint: picked };
}

export const forms = {
  choice: {
    prepare() {},
    read: (drill) => Number(drill.form.elements.answer.value || -1),
  },
};
