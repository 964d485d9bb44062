// A function or a kernel, written in an editor. Python marks it: see page/python.mjs.

import { prepareEditor } from "../../page/editor.mjs";

export const forms = {
  code: {
    prepare(drill) {
      const area = drill.form.elements.answer;
      drill.gutter = drill.form.querySelector(".os-drill-gutter");
      const submit = () => drill.form.requestSubmit();
      prepareEditor(area, drill.gutter, submit);
      drill.form.querySelector(".os-drill-keys").hidden = false;
    },
    read: (drill) => drill.form.elements.answer.value,
    again: (drill) => drill.keeper.startAgain(),
  },
};
