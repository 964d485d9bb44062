// What a figure's module may import: `livepage/draw.mjs` and `livepage/text.mjs`.

import * as draw from "./draw.mjs";
import * as text from "./text.mjs";

export { draw, text };
