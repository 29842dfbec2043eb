// The convergence of peak and bound during solving: two lines of steps, with the gap between them.

import { bytes, element, grouped, seconds } from "../text.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 92;
const MOST_STEPS = 2000; // more are thinned
const EDGE = { left: 68, right: 12, top: 10, bottom: 18 };

export class Convergence {
  constructor() {
    this.svg = part("svg", { role: "img", height: HEIGHT });
    this.root = element("div", { className: "convergence" }, this.svg);
    this.points = [];
    this.inBytes = false;
    this.now = null;
    this.watcher = new ResizeObserver(() => this.draw());
    this.watcher.observe(this.root);
  }

  reset() {
    this.points = [];
    this.until = null;
    this.draw(null);
  }

  // Adds the best or the bound at that second; a missing one is unchanged.
  add(at, { value, bound }) {
    const last = this.points.at(-1) ?? { value: null, bound: null };
    this.points.push({ at: Math.max(at, last.at ?? 0), value: value ?? last.value, bound: bound ?? last.bound });
  }

  // Sets everything at once, from a plan's record of its run.
  replace(trace, until) {
    this.points = trace.map((point) => ({ at: point.seconds, value: point.value, bound: point.bound }));
    this.until = until;
    this.draw(null);
  }

  // True if there was ever a gap worth showing.
  get isTelling() {
    return this.points.some(({ value, bound }) => value !== null && bound !== null && value > bound);
  }

  // `now`: the seconds passed; by default the last time.
  draw(now = this.now) {
    this.now = now;
    const width = this.root.clientWidth;
    const known = this.points.flatMap(({ value, bound }) => [value, bound]).filter((each) => each !== null);
    this.svg.replaceChildren();
    this.svg.setAttribute("width", Math.max(width, 1));
    if (!known.length || width < 200) return;
    const end = Math.max(now ?? 0, this.until ?? 0, this.points.at(-1).at, 1e-3);
    let [low, high] = known.reduce(([least, most], each) => [Math.min(least, each), Math.max(most, each)], [known[0], known[0]]);
    const pad = Math.max((high - low) * 0.12, high * 0.004, 1);
    [low, high] = [Math.max(low - pad, 0), high + pad];
    const [value, bound] = ["value", "bound"].map((which) => this.#steps(which, end, width));
    const last = [value, bound].flatMap((steps) => (steps.length ? [this.#widthOf(this.#amount(steps.at(-1)[1]))] : []));
    const left = Math.max(EDGE.left, 10 + Math.max(...last)); // costs may have many digits
    const x = (at) => left + (at / end) * (width - left - EDGE.right);
    const y = (value) => EDGE.top + ((high - value) / (high - low)) * (HEIGHT - EDGE.top - EDGE.bottom);
    if (value.length && bound.length) this.#draw("open", open(value, bound).map(([at, v]) => `${x(at)},${y(v)}`));
    for (const [steps, kind] of [
      [bound, "bound"],
      [value, "peak"],
    ]) {
      if (!steps.length) continue;
      this.svg.append(part("polyline", { class: kind, points: steps.map(([at, v]) => `${x(at)},${y(v)}`).join(" ") }));
    }
    this.#labels(value.at(-1)?.[1] ?? null, bound.at(-1)?.[1] ?? null, y, end, left, width);
  }

  #labels(value, bound, y, end, left, width) {
    const places = [];
    for (const [each, kind] of [
      [value, "peak"],
      [bound, "bound"],
    ]) {
      if (each === null || (kind === "bound" && each === value)) continue;
      let at = y(each);
      if (places.length && Math.abs(at - places[0]) < 13) at = places[0] + 13;
      places.push(at);
      this.#write(this.#amount(each), left - 8, at + 4, `end ${kind}`);
    }
    this.#write("0", left, HEIGHT - 4, "start");
    this.#write(seconds(end), width - EDGE.right, HEIGHT - 4, "end");
    const said = [value === null ? "no plan yet" : `best ${this.#amount(value)}`];
    said.push(bound === null ? "no bound yet" : `bound ${this.#amount(bound)}`);
    this.svg.setAttribute("aria-label", `After ${seconds(end)}: ${said.join(", ")}`);
  }

  #amount(value) {
    return this.inBytes ? bytes(value) : grouped(value);
  }

  #steps(which, end, width) {
    const steps = [];
    const known = this.points.filter((point) => point[which] !== null).map((point) => [point.at, point[which]]);
    for (const [at, here] of thinned(known, (at) => Math.floor((at / end) * width))) {
      if (steps.length) steps.push([at, steps.at(-1)[1]]);
      steps.push([at, here]);
    }
    if (steps.length) steps.push([end, steps.at(-1)[1]]);
    return steps;
  }

  #draw(kind, points) {
    this.svg.append(part("polygon", { class: kind, points: points.join(" ") }));
  }

  #widthOf(said) {
    this.#write(said, 0, 0, "end");
    const width = this.svg.lastChild.getComputedTextLength();
    this.svg.lastChild.remove();
    return width;
  }

  #write(said, x, y, kind) {
    const text = part("text", { x, y, class: kind });
    text.textContent = said;
    this.svg.append(text);
  }
}

// Returns no more of many steps than can be seen: in each column the first, the last, the lowest and the highest.
function thinned(steps, columnOf) {
  if (steps.length <= MOST_STEPS) return steps;
  const seen = new Map();
  for (const [i, [at, value]] of steps.entries()) {
    const column = columnOf(at);
    const here = seen.get(column);
    if (here === undefined) {
      seen.set(column, [i, i, i, i]);
      continue;
    }
    here[1] = i;
    if (value < steps[here[2]][1]) here[2] = i;
    else if (value > steps[here[3]][1]) here[3] = i;
  }
  const kept = new Set([...seen.values()].flat());
  return steps.filter((_, i) => kept.has(i));
}

// The outline of the gap, from where both are known.
function open(value, bound) {
  const from = Math.max(value[0][0], bound[0][0]);
  const after = (steps) => {
    const before = steps.filter(([at]) => at <= from).at(-1);
    return [[from, before[1]], ...steps.filter(([at]) => at > from)];
  };
  return [...after(value), ...after(bound).reverse()];
}

function part(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
