// A map on the screen and its use: two canvases, one for what changes with the window and one for what follows the pointer.

import { bytes, element, visible } from "../text.js";
import { palette } from "./palette.js";
import { GUTTER, MapPainter } from "./painter.js";
import { MapTip } from "./tip.js";
import { framed } from "./picture.js";
import { MapWindow } from "./window.js";

const STEP = 0.1;
const NEARER = 0.8;
const REACH = 3; // pixels beside a tiny box that still count as on it
const FINGER = 12; // the same for a finger
const REST = 150; // milliseconds without a move, after which the map is drawn in full
const HELP = "Arrow keys move, + and - zoom, 0 shows all, n and p go from buffer to buffer, Enter shows the chosen one, Escape lets it go.";

export class MapView extends EventTarget {
  constructor() {
    super();
    this.base = element("canvas", { className: "base" });
    this.over = element("canvas", {
      className: "over",
      tabIndex: 0,
      role: "application",
      "aria-roledescription": "memory map",
      "aria-label": "Memory map",
      "aria-description": HELP,
    });
    this.tip = new MapTip();
    this.said = element("p", { className: "unseen", role: "status" });
    this.root = element("div", { className: "map" }, this.base, this.over, this.tip.root, this.said);
    this.painter = new MapPainter(this.base);
    this.window = new MapWindow(1, 1);
    this.hovered = null;
    this.pointer = null; // the last event of a mouse that rests on the map
    this.chosen = null;
    this.fingers = new Map(); // pressed pointers by id: the last position of each
    this.#listen();
  }

  // Shows a pool of a map. The window stays if the extent is the same.
  show(data, layer, top = layer.top) {
    const isOther = this.layer?.pool.name !== layer.pool.name;
    const chosen = this.layer && this.chosen !== null && !isOther ? this.layer.buffer[this.chosen] : null;
    this.data = data;
    this.layer = layer;
    this.hovered = null;
    this.tip.hide();
    const found = chosen === null ? -1 : layer.buffer.indexOf(chosen);
    this.#choose(found < 0 ? null : found, false);
    if (isOther) this.window.now = { ...this.window.full };
    this.window.extend(data.right, top);
    this.over.setAttribute("aria-label", `Memory map of pool ${visible(layer.pool.name)}, ${layer.count} rectangles`);
  }

  // Returns a picture: lines of text above the map, and marks with their meaning below.
  picture(heads, legend) {
    this.isMoving = false;
    this.#draw();
    return framed(this.base, this.painter.scale, heads, legend, this.colours);
  }

  // Chooses a box, and centres it.
  goTo(box) {
    const { left, right, low, high } = this.layer;
    this.#choose(box);
    this.window.show(left[box], right[box], low[box], high[box]);
  }

  // Draws everything in the colours of now, in the next frame or at once.
  redraw(atOnce) {
    this.colours = null;
    if (atOnce) this.#draw();
    else this.#ask();
  }

  close() {
    this.watcher.disconnect();
    clearTimeout(this.rest);
    this.layer = null;
  }

  #listen() {
    const { over } = this;
    this.window.addEventListener("change", ({ detail }) => {
      this.isMoving = true;
      this.#ask();
      if (!detail.quietly) this.dispatchEvent(new Event("move"));
    });
    this.watcher = new ResizeObserver(() => this.#resize());
    this.watcher.observe(this.root);
    over.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    over.addEventListener("pointerdown", (event) => this.#press(event));
    over.addEventListener("pointermove", (event) => this.#point(event));
    over.addEventListener("pointerup", (event) => this.#release(event));
    over.addEventListener("pointercancel", (event) => this.#release(event));
    over.addEventListener("pointerleave", () => {
      this.pointer = null;
      this.#hover(null);
    });
    over.addEventListener("dblclick", () => this.chosen !== null && this.goTo(this.chosen));
    over.addEventListener("keydown", (event) => this.#key(event));
  }

  #resize() {
    const { width, height } = this.root.getBoundingClientRect();
    if (width < 120 || height < 80) return;
    const scale = window.devicePixelRatio || 1;
    this.over.width = Math.round(width * scale);
    this.over.height = Math.round(height * scale);
    this.painter.resize(width, height, scale);
    if (this.layer) this.#draw();
  }

  #ask() {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    cancelAnimationFrame(this.asked);
    this.asked = 0;
    if (!this.layer || !this.painter.image) return;
    this.colours ??= palette();
    const isCoarse = this.painter.draw(this.data, this.layer, this.window.now, this.colours, this.isMoving);
    this.isMoving = false;
    clearTimeout(this.rest);
    if (isCoarse) this.rest = setTimeout(() => this.#ask(), REST);
    if (this.pointer && !this.dragged) this.#hover(this.#boxAt(this.pointer), this.pointer); // the map moved below it
    this.#drawOver();
  }

  #drawOver() {
    const { over, painter, layer, colours } = this;
    if (!layer || !painter.view) return;
    const context = over.getContext("2d");
    context.setTransform(painter.scale, 0, 0, painter.scale, 0, 0);
    context.clearRect(0, 0, painter.width, painter.height);
    context.beginPath();
    context.rect(GUTTER.left, painter.top, painter.inside.width, painter.inside.height);
    context.clip();
    for (const [box, colour, width] of [
      [this.hovered, colours.ink, 1.5],
      [this.chosen, colours.accent, 2.5],
    ]) {
      if (box === null) continue;
      const [x, y] = [painter.x(layer.left[box]), painter.y(layer.high[box])];
      context.strokeStyle = colour;
      context.lineWidth = width;
      const [across, up] = [painter.x(layer.right[box]) - x, painter.y(layer.low[box]) - y];
      context.strokeRect(x, y, Math.max(across, 1), Math.max(up, 1));
    }
  }

  #shares(event) {
    const place = this.over.getBoundingClientRect();
    return [
      (event.clientX - place.left - GUTTER.left) / this.painter.inside.width,
      1 - (event.clientY - place.top - this.painter.top) / this.painter.inside.height,
    ];
  }

  #wheel(event) {
    event.preventDefault();
    const turned = (event.deltaY || event.deltaX) * (event.deltaMode === 1 ? 20 : 1);
    const factor = Math.exp(Math.max(Math.min(turned, 200), -200) * 0.002);
    const [x, y] = this.#shares(event).map((share) => Math.min(Math.max(share, 0), 1));
    this.window.zoom(event.altKey ? 1 : factor, event.shiftKey ? 1 : factor, x, y);
  }

  #press(event) {
    if (event.button !== 0) return;
    this.over.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, event);
    this.dragged = this.fingers.size === 1 ? { x: event.clientX, y: event.clientY, far: false } : null;
    if (event.pointerType !== "mouse") this.#hover(this.#boxAt(event)); // a finger does not hover before it presses
  }

  #point(event) {
    const { dragged, painter } = this;
    if (!this.layer || !painter.image) return;
    const before = this.fingers.get(event.pointerId);
    if (before && this.fingers.size === 2) {
      this.#pinch(before, event);
      return;
    }
    if (before) this.fingers.set(event.pointerId, event);
    if (dragged) {
      const [x, y] = [event.clientX - dragged.x, event.clientY - dragged.y];
      if (!dragged.far && Math.hypot(x, y) < 4) return;
      this.over.classList.add("dragging");
      this.#hover(null);
      this.dragged = { x: event.clientX, y: event.clientY, far: true };
      this.window.move(-x / painter.inside.width, y / painter.inside.height);
      return;
    }
    this.pointer = event.pointerType === "mouse" ? event : null;
    if (this.pointer || !before) this.#hover(this.#boxAt(event), event);
  }

  #boxAt(event) {
    const { left, right, low, high } = this.window.now;
    const { width, height } = this.painter.inside;
    const [x, y] = this.#shares(event);
    if (x < 0 || x > 1 || y < 0 || y > 1) return null;
    const near = event.pointerType === "touch" ? FINGER : REACH;
    return this.layer.at(left + (right - left) * x, low + (high - low) * y, (near * (right - left)) / width, (near * (high - low)) / height);
  }

  // Two fingers: what is between them is scaled and moved with them.
  #pinch(before, event) {
    const [other] = [...this.fingers.values()].filter((each) => each.pointerId !== event.pointerId);
    const gap = (one) => Math.max(Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY), 20);
    const middle = (one) => this.#shares({ clientX: (one.clientX + other.clientX) / 2, clientY: (one.clientY + other.clientY) / 2 });
    const [was, is] = [middle(before), middle(event)];
    const factor = gap(before) / gap(event);
    this.fingers.set(event.pointerId, event);
    this.#hover(null);
    this.window.zoom(factor, factor, ...was);
    this.window.move(was[0] - is[0], was[1] - is[1]);
  }

  #release(event) {
    const { dragged } = this;
    this.fingers.delete(event.pointerId);
    this.dragged = null;
    this.over.classList.remove("dragging");
    if (dragged && !dragged.far) this.#choose(this.hovered);
  }

  #hover(box, event) {
    if (box !== this.hovered) {
      this.hovered = box;
      this.#drawOver();
      if (box === null) this.tip.hide();
      else this.tip.show(this.data.describe(this.layer, box));
    }
    if (box !== null && event) this.tip.place(event, this.root.getBoundingClientRect());
  }

  #choose(box, aloud = true) {
    this.chosen = box;
    const about = box === null ? null : this.data.describe(this.layer, box);
    this.dispatchEvent(new CustomEvent("choose", { detail: about }));
    if (aloud && about) {
      this.said.textContent = `${visible(about.id)}, ${bytes(about.size)} at ${about.offset}, live ${about.life ?? "unknown"}`;
    }
    this.#drawOver();
  }

  #key(event) {
    if (!this.layer || event.ctrlKey || event.metaKey) return;
    const step = event.shiftKey ? 5 * STEP : STEP;
    const acts = {
      ArrowLeft: () => this.window.move(-step, 0),
      ArrowRight: () => this.window.move(step, 0),
      ArrowUp: () => this.window.move(0, step),
      ArrowDown: () => this.window.move(0, -step),
      "+": () => this.window.zoom(NEARER, NEARER),
      "=": () => this.window.zoom(NEARER, NEARER),
      "-": () => this.window.zoom(1 / NEARER, 1 / NEARER),
      0: () => this.window.fit(),
      n: () => this.#step(1),
      p: () => this.#step(-1),
      Enter: () => this.chosen !== null && this.goTo(this.chosen),
      Escape: () => this.#choose(null),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  // Goes to the next buffer in time, and scrolls it into view.
  #step(step) {
    const box = this.layer.beside(this.chosen, step);
    if (box === null) return;
    this.#choose(box);
    const { left, right, low, high } = this.window.now;
    const { layer } = this;
    const isSeen = layer.right[box] > left && layer.left[box] < right && layer.high[box] > low && layer.low[box] < high;
    if (!isSeen) this.goTo(box);
  }
}
