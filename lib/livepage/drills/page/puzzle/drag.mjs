// Dragging a line of a puzzle with a mouse, a pen or a finger. A finger drags by the
// handle, because elsewhere it scrolls the page. While a line is dragged, the line that it
// would replace is out; where it is not dropped into the program, that line comes back.

const FAR = 4; // px that a pointer moves until a press becomes a drag
const EDGE = 56; // px from the window's edge, where the page scrolls
const STEP = 9; // px of a frame

/** Let lines be dragged. Returns a function that ends a drag and leaves its line there. */
export function prepareDrag(puzzle) {
  const { element } = puzzle;
  let drag = null; // {row, item, id, from, y, isMoving}; `begin` adds {rival, others}

  element.addEventListener("pointerdown", (event) => {
    const item = event.target.closest(".os-puzzle-piece");
    const isHandle = event.target.closest(".os-drill-grip");
    if (!item || event.button !== 0 || event.target.closest("[data-move]")) return;
    if (event.pointerType === "touch" && !isHandle) return;
    const { pointerId: id, clientY: y } = event;
    drag = { row: Number(item.dataset.row), item, id, from: y, y, isMoving: false };
  });

  element.addEventListener("pointermove", (event) => {
    if (drag?.id !== event.pointerId) return;
    drag.y = event.clientY;
    if (!drag.isMoving && Math.abs(drag.y - drag.from) > FAR) begin();
    if (drag.isMoving) follow();
  });

  for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) {
    element.addEventListener(kind, ({ pointerId, target }) => {
      // A finger is captured by what it touches, until the drag begins.
      const isEarly = kind === "lostpointercapture" && target !== element;
      if (drag?.id === pointerId && !isEarly) end();
    });
  }

  // The click that ends a drag is no press.
  element.addEventListener(
    "click",
    (event) => {
      if (!element.dataset.dragged) return;
      delete element.dataset.dragged;
      event.stopImmediatePropagation();
    },
    true,
  );

  function begin() {
    const { lines } = puzzle;
    drag.isMoving = true;
    drag.rival = lines.rival(drag.row);
    drag.others = lines.program.filter((each) => each !== drag.row);
    element.setPointerCapture(drag.id); // the line itself moves in the document
    drag.item.classList.add("os-puzzle-dragged");
    requestAnimationFrame(scroll);
  }

  /** Put the line where the pointer is: between two of the program, or into the pool. */
  function follow() {
    const { lines, program, pool } = puzzle;
    const { row, rival, others, y } = drag;
    const without = others.filter((each) => each !== rival);
    const above = (each) => y > middle(puzzle.item(each));
    const before = lines.program.join();
    if (y >= pool.getBoundingClientRect().top) lines.program = others;
    else if (y >= program.getBoundingClientRect().top - EDGE) {
      const index = without.filter(above).length;
      lines.program = without;
      lines.place(row, index);
    }
    if (lines.program.join() !== before) puzzle.draw();
  }

  /** While the pointer is near an edge of the window, the page goes by. */
  function scroll() {
    if (!drag?.isMoving) return;
    const isHigh = drag.y < EDGE;
    if (isHigh || drag.y > innerHeight - EDGE) {
      scrollBy({ top: isHigh ? -STEP : STEP, behavior: "instant" });
      follow();
    }
    requestAnimationFrame(scroll);
  }

  function end() {
    const { row, rival, isMoving } = drag;
    stop();
    if (!isMoving) return;
    element.dataset.dragged = "yes";
    setTimeout(() => delete element.dataset.dragged); // where no click follows
    puzzle.changed();
    puzzle.drop(row, puzzle.lines.isPlaced(row) ? rival : undefined);
    puzzle.focusOn(puzzle.item(row));
  }

  function stop() {
    drag?.item.classList.remove("os-puzzle-dragged");
    drag = null;
  }

  return stop;
}

function middle(item) {
  const { top, height } = item.getBoundingClientRect();
  return top + height / 2;
}
