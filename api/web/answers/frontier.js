// The frontier of memory and cost: the memory at each cost, with the proven bound below.

import { Curve, steps } from "./curve.js";
import { bytes, grouped, percent, visible } from "../text.js";

export class FrontierCurve extends Curve {
  static names = ["Frontier", "the frontier"];

  constructor() {
    super("Points of the frontier of memory and cost", [
      ["spot proven", "a plan, proven"],
      ["spot", "a plan"],
      ["line bound", "proven: no plan lies below"],
    ]);
    this.within = null; // proven for all points together: how much better another plan may be
  }

  // Adds a point from its event. Points that it beats are removed, except the one on display.
  add(point) {
    const known = this.points.filter((each) => each.part !== point.part);
    this.points = [...known, point].filter((each) => !known.concat(point).some((other) => beats(other, each)));
    this.#sort();
    this.tell("more points are looked for");
    return point.part;
  }

  // All points, from the service's figures.
  replace(document) {
    this.inBytes = document.in_bytes;
    this.warnings = document.warnings;
    this.within = document.within ?? null;
    this.points = document.points.map((point) => ({ ...point, part: point.plan }));
    this.#sort();
    const why = document.stop === "proved" ? "no more were asked for" : document.stop.replaceAll("_", " ");
    const known = this.within === null ? "" : `: any plan is matched by one of these but for ${percent(this.within)}, proven`;
    const nothing = document.missing ? `nothing fits: ${visible(document.missing)}` : "nothing fits";
    this.tell(document.complete ? "all of the frontier, proven" : document.infeasible ? nothing : `not proven to be all (${why})${known}`);
  }

  figures() {
    return this.within === null ? [] : [["frontier", this.within ? `within ${percent(this.within)}, proven` : "all of it, proven"]];
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
    const spots = this.points.map((point) => ({ ...point, cost: Number(point.cost), least: point.cost_bound === null ? null : Number(point.cost_bound) }));
    this.floor = floor(spots, this.within);
    const up = [...this.points.map((point) => point.memory), ...this.floor.map(([, memory]) => memory)];
    return { across: [...spots.map(({ cost }) => cost), ...this.floor.map(([cost]) => cost)], up };
  }

  lines() {
    const x = (point) => this.x(Number(point.cost));
    this.line("bound", steps(this.floor.map(([cost, memory]) => [this.x(cost), this.y(memory)])));
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

// From each cost to the next: the least memory that a plan of this cost needs, by the bounds of all points.
function floor(spots, within) {
  const matched = (amount) => (amount > 0 ? amount / (1 + within) : amount);
  const claims = spots.map(({ cost, memory_bound: bound }) => [cost, bound ?? 0]);
  claims.push(...spots.filter(({ least }) => least !== null).map(({ least, memory }) => [least, memory]));
  const reach = within === null ? [] : spots.map(({ cost, memory }) => [matched(cost), matched(memory)]);
  const costs = [...new Set([...claims, ...reach].map(([cost]) => cost))].sort((a, b) => a - b);
  const upTo = running(costs.toReversed(), claims, Math.max); // at each cost and below, nothing needs less than this
  const since = running(costs, reach, Math.min); // at each cost and above, nothing needs less than this
  return costs.flatMap((cost, i) => {
    const beyond = i + 1 < costs.length ? upTo.get(costs[i + 1]) : since.get(cost) === undefined ? upTo.get(cost) : undefined;
    const known = [since.get(cost), beyond].filter((value) => value !== undefined);
    return known.length ? [[cost, Math.max(...known)]] : [];
  });
}

// The best of the values up to each cost.
function running(costs, values, best) {
  const at = new Map(costs.map((cost) => [cost, []]));
  for (const [cost, value] of values) at.get(cost).push(value);
  let held;
  return new Map(
    costs.map((cost) => {
      for (const value of at.get(cost)) held = held === undefined ? value : best(held, value);
      return [cost, held];
    }),
  );
}

// At least as good in both, and not the same point.
function beats(one, other) {
  return one.part !== other.part && Number(one.cost) <= Number(other.cost) && one.memory <= other.memory;
}
