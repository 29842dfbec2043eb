// A curve with points to choose, by pointer, finger or arrows; each stands for a part of an answer. Kinds of answers define the axes.

import { element, plural } from "../text.js";
import { addressLabels, addressTicks, plainLabels, plainTicks } from "../map/scales.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 220;
const REACH = 28; // pixels from a point, within which a finger means it
const NEXT = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export const EDGE = { left: 76, right: 18, top: 14, bottom: 40 };

export class Curve extends EventTarget {
  constructor(label, key) {
    super();
    this.points = []; // each with its `part`
    this.chosen = null;
    this.inBytes = true;
    this.warnings = [];
    this.svg = part("svg", { role: "radiogroup", "aria-label": label, height: HEIGHT });
    this.said = element("p", { className: "soft", role: "status" });
    this.key = element("div", { className: "key" }, ...key.map(([mark, text]) => element("span", {}, element("i", { className: mark }), text)));
    this.root = element("div", { className: "curve" }, this.svg, this.key, this.said);
    this.svg.addEventListener("click", (event) => this.#point(event));
    this.svg.addEventListener("keydown", (event) => this.#key(event));
    this.tell("none yet");
    this.watcher = new ResizeObserver(() => this.draw());
    this.watcher.observe(this.root);
  }

  close() {
    this.watcher.disconnect();
  }

  has(name) {
    return this.points.some((point) => point.part === name);
  }

  choose(name) {
    this.chosen = name;
    this.draw();
  }

  // Pairs for the figures of the chosen point.
  figures() {
    return [];
  }

  redraw() {}

  get count() {
    return this.points.length;
  }

  tell(text) {
    this.said.textContent = `${plural(this.count, this.unit ?? "point")} · ${text}`;
    this.draw();
  }

  draw() {
    const width = this.root.clientWidth;
    const held = this.svg.contains(document.activeElement);
    this.svg.setAttribute("width", Math.max(width, 1));
    this.svg.replaceChildren();
    const isEmpty = !this.points.length;
    this.svg.classList.toggle("empty", isEmpty);
    this.key.hidden = isEmpty;
    if (isEmpty || width < 160) return;
    this.#scale(width);
    this.#axes(width);
    this.lines();
    const reached = this.has(this.chosen) ? this.chosen : this.points[0].part;
    this.places = this.points.map((point) => ({ point, ...this.spot(point) }));
    for (const place of this.places) this.#spot(place, place.point.part === reached);
    if (held) this.svg.querySelector('[tabindex="0"]')?.focus();
  }

  // A line in steps or straight between points, in pixels.
  line(className, spots) {
    if (spots.length) this.svg.append(part("polyline", { class: className, points: spots.map((spot) => spot.join()).join(" ") }));
  }

  area(className, spots) {
    if (spots.length) this.svg.append(part("polygon", { class: className, points: spots.map((spot) => spot.join()).join(" ") }));
  }

  write(said, x, y, anchor) {
    const text = part("text", { x, y, class: anchor });
    text.textContent = said;
    this.svg.append(text);
  }

  #scale(width) {
    const { across, up, isDoubling = false, floor = 0 } = this.extent();
    const along = isDoubling ? Math.log2 : (value) => value;
    const [left, right] = padded(...ends(across.map(along)), 0.04, isDoubling);
    const [low, high] = padded(...ends(up), 0.1);
    this.range = { left, right, low: Math.max(low, floor), high, isDoubling };
    const { range } = this;
    this.right = width - EDGE.right;
    this.bottom = HEIGHT - EDGE.bottom;
    this.x = (value) => EDGE.left + ((along(value) - left) / (right - left)) * (this.right - EDGE.left);
    this.y = (size) => EDGE.top + ((high - Math.max(size, range.low)) / (high - range.low)) * (this.bottom - EDGE.top);
  }

  #axes(width) {
    const { left, right, low, high, isDoubling } = this.range;
    const up = this.inBytes ? addressTicks(low, high, 5) : plainTicks(low, high, 5);
    const labels = this.inBytes ? addressLabels(up) : plainLabels(up);
    up.forEach((tick, i) => {
      this.svg.append(part("line", { class: "rule", x1: EDGE.left, x2: width - EDGE.right, y1: this.y(tick), y2: this.y(tick) }));
      this.write(labels[i], EDGE.left - 8, this.y(tick) + 4, "end");
    });
    const room = Math.max(Math.floor((width - EDGE.left - EDGE.right) / 90), 3);
    const marks = isDoubling ? doubled(left, right, room) : this.inSizes ? addressTicks(left, right, room) : plainTicks(left, right, room);
    const said = this.inSizes ? addressLabels(marks) : plainLabels(marks);
    marks.forEach((tick, i) => this.write(said[i], this.x(tick), HEIGHT - EDGE.bottom + 16, "middle"));
    const [name, height] = this.names();
    this.write(name, width - EDGE.right, HEIGHT - 6, "end");
    this.write(height, 4, 10, "start");
  }

  #spot({ point, x, y, isProven, words }, isReached) {
    const isChosen = point.part === this.chosen;
    const spot = part("g", {
      role: "radio",
      tabindex: isReached ? 0 : -1,
      "aria-checked": isChosen,
      "aria-label": words,
      class: `spot${isChosen ? " chosen" : ""}${isProven ? " proven" : ""}`,
    });
    spot.dataset.part = point.part;
    const title = part("title", {});
    title.textContent = words;
    spot.append(title, part("circle", { class: "halo", cx: x, cy: y, r: 10 }), part("circle", { cx: x, cy: y, r: 5 }));
    this.svg.append(spot);
  }

  // The nearest point within reach: a finger is broader than a point.
  #point(event) {
    const box = this.svg.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const away = (place) => Math.hypot(place.x - x, place.y - y);
    const nearest = this.places?.toSorted((a, b) => away(a) - away(b))[0];
    if (nearest && away(nearest) <= REACH) this.#pick(nearest.point);
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
}

// Each value stays until the next better one.
export function steps(spots, right = null) {
  const corners = spots.flatMap(([x, y], i) => (i ? [[x, spots[i - 1][1]], [x, y]] : [[x, y]]));
  return right === null || !spots.length ? corners : [...corners, [right, spots.at(-1)[1]]];
}

function ends(values) {
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
}

function padded(low, high, share, isSmall = false) {
  const pad = Math.max((high - low) * share, isSmall ? 0.05 : Math.abs(high) * 0.02, isSmall ? 0 : 0.5);
  return [low - pad, high + pad];
}

function doubled(left, right, most) {
  const [first, last] = [Math.ceil(left), Math.floor(right)];
  const step = Math.max(Math.ceil((last - first + 1) / most), 1);
  const found = [];
  for (let at = first; at <= last; at += step) found.push(2 ** at);
  return found;
}

function part(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
