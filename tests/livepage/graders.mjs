// The page's graders, without a page: what tests ask beside the notebook's.
import * as kinds from "livepage/drill-kinds";
import * as expression from "../../lib/livepage/drills/page/expression.mjs";
import * as grade from "../../lib/livepage/drills/page/grade.mjs";

Object.assign(globalThis, { kinds }, expression, grade);
