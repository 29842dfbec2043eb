// The frontier of memory and cost: what each cost buys, and what is proven below it.

import { Curve, steps } from "./curve.js";
import { bytes, grouped, percent } from "../text.js";

export class FrontierCurve extends Curve {
  static names = ["Frontier", "the frontier"];

  constructor() {
    super("Points of the frontier of memory and cost", [
      ["spot proven", "a plan, proven"],
      ["spot", "a plan"],
      ["line bound", "proven bound for each cost"],
    ]);
  }

  // One more point, as its event tells it. What it beats goes, but for what is being looked at.
  add(point) {
    const known = this.points.filter((each) => each.part !== point.part);
    this.points = [...known, point].filter((each) => !known.concat(point).some((other) => beats(other, each)));
    this.#sort();
    this.tell("more points are looked for");
    return point.part;
  }

  // All there is, as the service's figures have it.
  replace(document) {
    this.inBytes = document.in_bytes;
    this.warnings = document.warnings;
    this.points = document.points.map((point) => ({ ...point, part: point.plan }));
    this.#sort();
    const why = document.stop.replaceAll("_", " ");
    this.tell(document.complete ? "all of the frontier, proven" : document.infeasible ? "nothing fits" : `not proven to be all (${why})`);
  }

  get first() {
    return this.points.at(-1)?.part;
  }

  called(part) {
    return `the plan of cost ${grouped(part)}`;
  }

  names() {
    return ["cost", this.inBytes ? "memory" : "memory (weighed)"];
  }

  extent() {
    const up = this.points.flatMap((point) => [point.memory, point.memory_bound ?? point.memory]);
    return { across: this.points.map((point) => Number(point.cost)), up };
  }

  lines() {
    const x = (point) => this.x(Number(point.cost));
    this.line("bound", steps(this.points.map((point) => [x(point), this.y(point.memory_bound ?? 0)]), this.right));
    this.line("peak", steps(this.points.map((point) => [x(point), this.y(point.memory)]), this.right));
  }

  spot(point) {
    const { part: cost, memory, memory_bound: bound, status } = point;
    const size = this.inBytes ? bytes(memory) : grouped(memory);
    const isProven = status === "optimal";
    const proven = isProven ? "proven" : bound ? `within ${percent(memory / bound - 1)} of what is proven` : "nothing proven";
    return { x: this.x(Number(point.cost)), y: this.y(memory), isProven, words: `cost ${grouped(cost)}, memory ${size}, ${proven}` };
  }

  #sort() {
    this.points.sort((a, b) => Number(a.cost) - Number(b.cost));
  }
}

// No worse in both, and not the same point.
function beats(one, other) {
  return one.part !== other.part && Number(one.cost) <= Number(other.cost) && one.memory <= other.memory;
}
