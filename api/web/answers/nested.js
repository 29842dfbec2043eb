// Nested arenas, one below the other, the innermost function first, each with its map; a called function is a workspace in it.

import { MapData } from "../map/data.js";
import { MapView } from "../map/view.js";
import { bytes, element, name, plural } from "../text.js";

const NEXT = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

export class NestedArenas extends EventTarget {
  static names = ["Arenas", "all arenas"];

  constructor(source) {
    super();
    this.source = source;
    this.points = [];
    this.chosen = null;
    this.warnings = [];
    this.rows = new Map();
    this.list = element("div", { className: "arenas", role: "radiogroup", "aria-label": "Arenas" });
    this.said = element("p", { className: "soft", role: "status" });
    this.root = element("div", { className: "nested" }, this.said, this.list);
    this.over = new AbortController();
    // Maps are loaded when they become visible: there may be hundreds of functions.
    this.sight = new IntersectionObserver((seen) => {
      for (const { isIntersecting, target } of seen) if (isIntersecting) this.#draw(target);
    });
    this.list.addEventListener("keydown", (event) => this.#key(event));
  }

  close() {
    this.over.abort();
    this.sight.disconnect();
    for (const { view } of this.rows.values()) view.close();
  }

  add(point) {
    this.#take([...this.points.filter((each) => each.part !== point.part), point]);
    this.#tell("more functions are planned");
    return point.part;
  }

  replace(document) {
    this.warnings = document.warnings;
    this.#take(document.arenas.map((arena) => ({ ...arena, part: arena.function })));
    this.#tell(document.peak === null ? "not all could be planned" : `together ${bytes(document.peak)}`);
  }

  get first() {
    return this.points.at(-1)?.part;
  }

  has(part) {
    return this.rows.has(part);
  }

  called() {
    return "the arena";
  }

  figures() {
    return this.chosen === null ? [] : [["arena of", this.chosen]];
  }

  choose(part) {
    this.chosen = part;
    const reached = this.has(part) ? part : this.points[0]?.part;
    for (const [each, { button }] of this.rows) {
      button.setAttribute("aria-checked", String(each === part));
      button.tabIndex = each === reached ? 0 : -1;
    }
  }

  redraw(atOnce) {
    for (const { view } of this.rows.values()) view.redraw(atOnce);
  }

  #tell(text) {
    this.said.textContent = `${plural(this.points.length, "arena")} · ${text}`;
  }

  #take(points) {
    this.points = points;
    for (const point of points) {
      if (!this.rows.has(point.part)) this.#add(point);
      const peak = point.peak === null ? point.status : bytes(point.peak);
      this.rows.get(point.part).button.replaceChildren(name(point.part), " ", element("small", { className: "soft" }, `${peak} · ${point.status}`));
    }
    this.choose(this.chosen);
  }

  #add(point) {
    const button = element("button", { type: "button", role: "radio", className: "arena" });
    const view = new MapView();
    view.over.tabIndex = -1; // keys move through it in the large map
    const root = element("section", { className: "row-of-arena" }, button, view.root);
    button.addEventListener("click", () => this.#pick(point.part));
    view.over.addEventListener("click", () => this.#pick(point.part));
    this.rows.set(point.part, { button, view, root, part: point.part });
    this.list.append(root);
    this.sight.observe(root);
  }

  async #draw(root) {
    this.sight.unobserve(root);
    const row = [...this.rows.values()].find((each) => each.root === root);
    try {
      const data = new MapData(await this.source.mapOf(row.part, this.over.signal));
      row.view.show(data, data.layers.find((layer) => layer.count) ?? data.layers[0]);
    } catch (error) {
      if (!this.over.signal.aborted) row.view.root.replaceWith(element("p", { className: "soft" }, error.message));
    }
  }

  #pick(part) {
    this.choose(part);
    this.dispatchEvent(new CustomEvent("choose", { detail: part }));
  }

  #key(event) {
    const parts = this.points.map((point) => point.part);
    const at = parts.findIndex((part) => this.rows.get(part).button === event.target);
    const next = parts[at + (NEXT[event.key] ?? 0)];
    if (at < 0 || !NEXT[event.key] || next === undefined) return;
    event.preventDefault();
    this.rows.get(next).button.focus();
    this.#pick(next);
  }
}
