// What moves by itself, frame by frame, until it is ended.

/**
 * Call `show` in every frame, with the seconds since now. Returns what ends it; when the
 * page is left or its tab hidden, `hidden` is called, which has to end it too.
 */
export function frames(show, hidden) {
  const start = performance.now();
  const leave = () => document.hidden && hidden();
  let frame = requestAnimationFrame(function next(now) {
    frame = requestAnimationFrame(next);
    show(Math.max(0, now - start) / 1000);
  });
  document.addEventListener("visibilitychange", leave);
  return () => {
    cancelAnimationFrame(frame);
    document.removeEventListener("visibilitychange", leave);
  };
}
