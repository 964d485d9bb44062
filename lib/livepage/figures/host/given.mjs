// What a figure's module may import, as `livepage/shapes.mjs` and so on.

import * as picture from "./picture.mjs";
import * as shapes from "./shapes.mjs";
import * as text from "./text.mjs";

export { picture, shapes, text };
