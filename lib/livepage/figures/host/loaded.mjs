// What a figure loads when it is first used: its functions get that as well.

/** Those of a figure's functions that compute, given what was loaded. */
export function completed({ compute, quick }, loaded) {
  if (!loaded) throw new Error("expected what the script leaves, got nothing");
  return {
    compute: (state) => compute(state, loaded),
    quick: quick && ((state) => quick(state, loaded)),
  };
}
