// Answers that are made of several plans, by the kinds of their jobs: each shows what there is to choose from, and says what is chosen.

import { FrontierCurve } from "./frontier.js";
import { NestedArenas } from "./nested.js";
import { ShapesCurve } from "./shapes.js";
import { SweepCurve } from "./sweep.js";

const KINDS = new Map([
  ["frontier", FrontierCurve],
  ["sweep", SweepCurve],
  ["shapes", ShapesCurve],
  ["nested", NestedArenas],
]);

// What shows the parts of a job's answer; null: it is one plan, or nothing that this page knows.
export function partsOf(kind, source) {
  const Parts = KINDS.get(kind);
  return Parts ? new Parts(source) : null;
}
