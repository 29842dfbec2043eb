// A plan for all shapes: its memory over a symbol's range, beside the best plan for each shape alone; the difference is waste.

import { Curve } from "./curve.js";
import { bytes, exactBytes, grouped, percent } from "../text.js";

const MODES = { maximum: "room for the largest", buckets: "offsets for these shapes", expressions: "offsets as expressions" };

function above(times) {
  return times < 2 ? `${percent(times - 1)} more than the best` : `${times.toFixed(times < 10 ? 1 : 0)} times the best`;
}

export class ShapesCurve extends Curve {
  static names = ["Offsets", "the plan for all shapes"];

  constructor() {
    super("Shapes", [
      ["spot proven", "used by the plan for all shapes"],
      ["line optimum", "the best plan for the shape alone"],
      ["waste", "waste"],
    ]);
    this.unit = "shape";
    this.rows = [];
    this.arena = null;
    this.hasPlans = false;
  }

  add(point) {
    this.rows = [...this.rows, { ...point, used: null }];
    this.#take();
    this.tell("more shapes are solved");
    return null; // there is no plan for all of them yet
  }

  replace(document) {
    this.rows = document.shapes;
    this.arena = document.arena ?? null;
    this.warnings = document.warnings;
    this.#take();
    const most = Math.max(...this.rows.map((row) => (row.optimum ? this.taken(row) / row.optimum : 1)));
    this.tell(this.isWhole ? `${MODES[document.mode]} · ${above(most)} at most` : "stopped before there was a plan for all of them");
  }

  get isWhole() {
    return this.rows.every((row) => row.used !== null);
  }

  get first() {
    return this.isWhole ? this.points.at(-1)?.part : undefined;
  }

  called(part) {
    return `the map of ${part}`;
  }

  names() {
    return [this.symbol, "bytes that must be there"];
  }

  // With fixed offsets the arena is constant.
  taken(row) {
    return this.arena ?? row.used ?? row.optimum;
  }

  extent() {
    const across = this.rows.map((row) => row.at[this.symbol] ?? 0);
    const [low, high] = [Math.min(...across), Math.max(...across)];
    const up = this.rows.flatMap((row) => [this.taken(row), row.optimum ?? row.bound]).filter((size) => size !== null);
    return { across, up: [...up, 0], isDoubling: low > 0 && high / low > 16 };
  }

  lines() {
    const taken = this.#most((row) => this.taken(row));
    const best = this.#most((row) => row.optimum ?? row.bound);
    if (this.isWhole) this.area("waste", [...taken, ...best.toReversed()]);
    this.line("optimum", best);
    if (this.isWhole) this.line("peak", taken);
  }

  spot(point) {
    const { row } = point;
    const size = this.taken(row);
    const waste = row.optimum && row.used !== null ? `, ${above(size / row.optimum)}` : "";
    return { x: this.x(row.at[this.symbol] ?? 0), y: this.y(size ?? 0), isProven: row.used !== null, words: `${point.part}: ${bytes(size ?? 0)}${waste}` };
  }

  figures() {
    const row = this.points.find((point) => point.part === this.chosen)?.row;
    if (!row || row.used === null) return [];
    const said = [["shape", this.chosen], ["arena", exactBytes(this.taken(row))], ["used", exactBytes(row.used)]];
    if (row.optimum !== null) said.push(["best for it alone", exactBytes(row.optimum)]);
    if (row.optimum) said.push(["waste", above(this.taken(row) / row.optimum)]);
    return said;
  }

  // Of several shapes at one place, the one that takes most.
  #most(size) {
    const most = new Map();
    for (const row of this.rows) {
      const at = row.at[this.symbol] ?? 0;
      most.set(at, Math.max(most.get(at) ?? 0, size(row) ?? 0));
    }
    return [...most].sort(([a], [b]) => a - b).map(([at, value]) => [this.x(at), this.y(value)]);
  }

  #take() {
    const symbols = Object.keys(this.rows[0]?.at ?? {});
    const count = (symbol) => new Set(this.rows.map((row) => row.at[symbol])).size;
    this.symbol = symbols.find((symbol) => count(symbol) > 1) ?? symbols[0] ?? "shape";
    this.points = this.rows.map((row) => ({ row, part: Object.entries(row.at).map(([name, value]) => `${name}=${value}`).join() }));
    this.points.sort((a, b) => (a.row.at[this.symbol] ?? 0) - (b.row.at[this.symbol] ?? 0));
  }
}
