// The frontier of memory and cost: what each cost buys, what is proven below it, and points to choose from, by pointer, finger or arrows.

import { bytes, element, grouped, percent, plural } from "./text.js";
import { addressLabels, addressTicks, plainTicks } from "./map/scales.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 220;
const EDGE = { left: 76, right: 18, top: 14, bottom: 40 };
const REACH = 28; // pixels from a point, within which a finger means it
const NEXT = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export class FrontierCurve extends EventTarget {
  constructor() {
    super();
    this.points = [];
    this.chosen = null;
    this.inBytes = true;
    this.warnings = [];
    this.svg = part("svg", { role: "radiogroup", "aria-label": "Points of the frontier of memory and cost", height: HEIGHT });
    this.said = element("p", { className: "soft", role: "status" });
    this.key = element("div", { className: "key" });
    for (const [mark, text] of [
      ["spot proven", "a plan, proven"],
      ["spot", "a plan"],
      ["line bound", "proven bound for each cost"],
    ]) {
      this.key.append(element("span", {}, element("i", { className: mark }), text));
    }
    this.root = element("div", { className: "frontier" }, this.svg, this.key, this.said);
    this.svg.addEventListener("click", (event) => this.#point(event));
    this.svg.addEventListener("keydown", (event) => this.#key(event));
    this.tell("none yet");
    this.watcher = new ResizeObserver(() => this.draw());
    this.watcher.observe(this.root);
  }

  close() {
    this.watcher.disconnect();
  }

  // One more point, as its event tells it. What it beats goes, but for what is being looked at.
  add(point) {
    const known = this.points.filter((each) => each.part !== point.part);
    this.points = [...known, point].filter((each) => !known.concat(point).some((other) => beats(other, each)));
    this.#sort();
    this.tell("more points are looked for");
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

  has(name) {
    return this.points.some((point) => point.part === name);
  }

  choose(name) {
    this.chosen = name;
    this.draw();
  }

  tell(text) {
    this.said.textContent = `${plural(this.points.length, "point")} · ${text}`;
    this.draw();
  }

  draw() {
    const width = this.root.clientWidth;
    const held = this.svg.contains(document.activeElement);
    this.svg.setAttribute("width", Math.max(width, 1));
    this.svg.replaceChildren();
    this.svg.classList.toggle("empty", !this.points.length);
    this.key.hidden = !this.points.length;
    if (!this.points.length || width < 160) return;
    this.#scale(width);
    this.#axes(width);
    const spots = this.points.map((point) => [this.x(Number(point.cost)), this.y(point.memory), this.y(point.memory_bound ?? 0)]);
    this.svg.append(part("polyline", { class: "bound", points: steps(spots.map(([x, , low]) => [x, low]), width - EDGE.right) }));
    this.svg.append(part("polyline", { class: "peak", points: steps(spots.map(([x, y]) => [x, y]), width - EDGE.right) }));
    const reached = this.has(this.chosen) ? this.chosen : this.points[0].part;
    this.points.forEach((point, i) => this.#spot(point, spots[i], point.part === reached));
    if (held) this.svg.querySelector('[tabindex="0"]')?.focus();
  }

  #scale(width) {
    const costs = this.points.map((point) => Number(point.cost));
    const sizes = this.points.flatMap((point) => [point.memory, point.memory_bound ?? point.memory]);
    const [left, right] = padded(Math.min(...costs), Math.max(...costs), 0.04);
    const [low, high] = padded(Math.min(...sizes), Math.max(...sizes), 0.1);
    this.range = { left, right, low: Math.max(low, 0), high };
    const { range } = this;
    this.x = (cost) => EDGE.left + ((cost - range.left) / (range.right - range.left)) * (width - EDGE.left - EDGE.right);
    this.y = (size) => EDGE.top + ((range.high - Math.max(size, range.low)) / (range.high - range.low)) * (HEIGHT - EDGE.top - EDGE.bottom);
  }

  #axes(width) {
    const { left, right, low, high } = this.range;
    const up = this.inBytes ? addressTicks(low, high, 5) : plainTicks(low, high, 5);
    const labels = this.inBytes ? addressLabels(up) : up.map(grouped);
    up.forEach((tick, i) => {
      this.svg.append(part("line", { class: "rule", x1: EDGE.left, x2: width - EDGE.right, y1: this.y(tick), y2: this.y(tick) }));
      this.#write(labels[i], EDGE.left - 8, this.y(tick) + 4, "end");
    });
    const room = Math.max(Math.floor((width - EDGE.left - EDGE.right) / 90), 3);
    for (const tick of plainTicks(left, right, room)) this.#write(shortly(tick), this.x(tick), HEIGHT - EDGE.bottom + 16, "middle");
    this.#write("cost", width - EDGE.right, HEIGHT - 6, "end");
    this.#write(this.inBytes ? "memory" : "memory (weighed)", 4, 10, "start");
  }

  #spot(point, [x, y], isReached) {
    const isChosen = point.part === this.chosen;
    const isProven = point.status === "optimal";
    const spot = part("g", {
      role: "radio",
      tabindex: isReached ? 0 : -1,
      "aria-checked": isChosen,
      "aria-label": this.#inWords(point),
      class: `spot${isChosen ? " chosen" : ""}${isProven ? " proven" : ""}`,
    });
    spot.dataset.part = point.part;
    const title = part("title", {});
    title.textContent = this.#inWords(point);
    spot.append(title, part("circle", { class: "halo", cx: x, cy: y, r: 10 }), part("circle", { cx: x, cy: y, r: 5 }));
    this.svg.append(spot);
  }

  #inWords({ part: cost, memory, memory_bound: bound, status }) {
    const size = this.inBytes ? bytes(memory) : grouped(memory);
    const proven = status === "optimal" ? "proven" : bound ? `within ${percent(memory / bound - 1)} of what is proven` : "nothing proven";
    return `cost ${grouped(cost)}, memory ${size}, ${proven}`;
  }

  #write(said, x, y, anchor) {
    const text = part("text", { x, y, class: anchor });
    text.textContent = said;
    this.svg.append(text);
  }

  // The nearest point, if it is near: a finger is broader than a point.
  #point(event) {
    const box = this.svg.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const away = (point) => Math.hypot(this.x(Number(point.cost)) - x, this.y(point.memory) - y);
    const nearest = this.points.toSorted((a, b) => away(a) - away(b))[0];
    if (nearest && away(nearest) <= REACH) this.#pick(nearest);
  }

  #key(event) {
    const at = this.points.findIndex((point) => point.part === event.target.dataset?.part);
    const end = { Home: 0, End: this.points.length - 1 }[event.key];
    const to = NEXT[event.key] ? at + NEXT[event.key] : [" ", "Enter"].includes(event.key) ? at : end;
    const point = this.points[to];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    if (point) this.#pick(point);
  }

  #pick(point) {
    this.choose(point.part);
    [...this.svg.querySelectorAll("[role=radio]")].find((spot) => spot.dataset.part === point.part)?.focus();
    this.dispatchEvent(new CustomEvent("choose", { detail: point.part }));
  }

  #sort() {
    this.points.sort((a, b) => Number(a.cost) - Number(b.cost));
  }
}

// No worse in both, and not the same point.
function beats(one, other) {
  return one.part !== other.part && Number(one.cost) <= Number(other.cost) && one.memory <= other.memory;
}

// Down at each point: what is bought with a cost stays until the next one buys more.
function steps(spots, right) {
  const corners = spots.flatMap(([x, y], i) => (i ? [[x, spots[i - 1][1]], [x, y]] : [[x, y]]));
  return [...corners, [right, spots.at(-1)[1]]].map((corner) => corner.join()).join(" ");
}

function padded(low, high, share) {
  const pad = Math.max((high - low) * share, Math.abs(high) * 0.02, 0.5);
  return [low - pad, high + pad];
}

function shortly(number) {
  return Math.abs(number) < 1e7 ? grouped(number) : Number(number.toPrecision(4)).toExponential();
}

function part(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
