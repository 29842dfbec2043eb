// A sweep: the result for each size of memory, where nothing fits any more, and the smallest size, proven on both sides.

import { Curve, EDGE, steps } from "./curve.js";
import { bytes, countsBytes, grouped } from "../text.js";

const SMALLEST = "smallest";

export class SweepCurve extends Curve {
  static names = ["Sweep", "the sweep"];

  constructor() {
    super("Sizes of memory", [
      ["spot proven", "a plan, proven to be the best"],
      ["spot", "a plan"],
      ["none", "nothing fits, proven"],
      ["line least", "the smallest size that fits (its point lies on the axis)"],
    ]);
    this.unit = "size";
    this.inSizes = true;
    this.all = [];
    this.smallest = null;
    this.term = "objective";
  }

  add(point) {
    this.all = [...this.all.filter((each) => each.part !== point.part), point];
    this.#take();
    this.tell("more sizes are tried");
    return point.value === null ? null : point.part;
  }

  replace(document) {
    [this.term] = document.terms;
    this.warnings = document.warnings;
    this.all = document.points.map((point) => ({ ...point, part: Object.values(point.capacity).join() }));
    this.smallest = document.smallest;
    this.#take();
    this.tell(this.#inWords());
  }

  get count() {
    return this.all?.length ?? 0;
  }

  get first() {
    return (this.points.find((point) => point.part === SMALLEST) ?? this.points.at(-1))?.part;
  }

  called(part) {
    return part === SMALLEST ? "the plan for the smallest size" : `the plan for ${part.split(",").map(bytes).join(" and ")}`;
  }

  names() {
    return [`size of ${this.pool}`, this.term.replaceAll("_", " ")];
  }

  extent() {
    const sizes = this.all.map((point) => point.capacity[this.pool]);
    const least = [this.smallest?.capacity, this.smallest?.bound].filter((size) => Number.isFinite(size) && size > 0);
    return { across: [...sizes, ...least], up: this.points.filter((point) => point.value).map((point) => point.value[0]), floor: -Infinity };
  }

  lines() {
    const size = (point) => point.capacity[this.pool];
    const not = this.all.filter((point) => point.status === "infeasible").map(size);
    const edge = Math.max(this.smallest?.bound ?? 0, ...(this.others.length ? [] : not));
    if (edge > 0) {
      const to = Math.max(this.x(edge), EDGE.left);
      this.area("none", [[EDGE.left, EDGE.top], [to, EDGE.top], [to, this.bottom], [EDGE.left, this.bottom]]);
      if (to - EDGE.left > 90) this.write("nothing fits", EDGE.left + 6, this.bottom - 6, "start");
    }
    for (const row of this.#rows()) this.line("peak", steps(row.map((point) => [this.x(size(point)), this.y(point.value[0])])));
    if (this.smallest?.capacity) this.line("least", [[this.x(this.smallest.capacity), EDGE.top], [this.x(this.smallest.capacity), this.bottom]]);
  }

  spot(point) {
    if (point.part === SMALLEST) {
      const { capacity, bound } = this.smallest;
      const proof = capacity === bound ? "proven to be the smallest" : `nothing fits below ${bytes(bound)}`;
      return { x: this.x(capacity), y: this.bottom, isProven: capacity === bound, words: `smallest size ${bytes(capacity)}, ${proof}` };
    }
    const sizes = Object.entries(point.capacity).map(([pool, size]) => `${pool} ${bytes(size)}`);
    const value = countsBytes(this.term) ? bytes(point.value[0]) : grouped(point.value[0]);
    const isProven = point.status === "optimal";
    const words = `${sizes.join(", ")}: ${value}, ${isProven ? "proven" : "not proven to be the best"}`;
    return { x: this.x(point.capacity[this.pool]), y: this.y(point.value[0]), isProven, words };
  }

  #take() {
    const [any] = this.all;
    if (!any) return;
    const pools = Object.keys(any.capacity);
    this.pool = pools.at(-1);
    this.others = pools.slice(0, -1);
    this.inBytes = countsBytes(this.term);
    const key = (point) => pools.map((pool) => point.capacity[pool]);
    this.all.sort((a, b) => key(a).reduce((found, size, i) => found || size - key(b)[i], 0));
    this.points = this.all.filter((point) => point.value !== null);
    if (this.smallest?.capacity) this.points = [{ part: SMALLEST }, ...this.points];
  }

  // If several pools are swept: a curve for each combination of the others' sizes.
  #rows() {
    const rows = new Map();
    for (const point of this.points.filter((each) => each.value)) {
      const name = this.others.map((pool) => point.capacity[pool]).join();
      rows.set(name, [...(rows.get(name) ?? []), point]);
    }
    return rows.values();
  }

  #inWords() {
    const [not, unknown] = ["infeasible", "unknown"].map((status) => this.all.filter((point) => point.status === status).length);
    const open = unknown ? `, ${grouped(unknown)} not known` : "";
    const fits = `${grouped(this.all.length - not - unknown)} fit, ${grouped(not)} proven to be too small${open}`;
    if (!this.smallest) return fits;
    const { capacity, bound, pool } = this.smallest;
    if (capacity === null) return `${fits} · nothing fits at any size of ${pool}`;
    return `${fits} · smallest ${pool}: ${bytes(capacity)}, ${capacity === bound ? "proven on both sides" : `and nothing fits below ${bytes(bound)}`}`;
  }
}
