// Answers of several plans, by the kinds of their jobs: each shows the choices, and reports what is chosen.

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

// Returns the view of a job's answer in parts; null if it is one plan, or unknown to this page.
export function partsOf(kind, source) {
  const Parts = KINDS.get(kind);
  return Parts ? new Parts(source) : null;
}
