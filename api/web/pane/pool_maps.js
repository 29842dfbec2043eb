// The maps of a plan's pools: a tab for each, tools above the map, the meaning of lines and colours below, and the chosen buffer.

import { bytes, element, grouped, name, visible } from "../text.js";
import { FEW } from "../map/raster.js";
import { facts } from "../map/tip.js";
import { MapView } from "../map/view.js";
import { FindBox } from "./find.js";

// Emits "move" when the map's window moves, and "pool" when another one was chosen here.
export class PoolMaps extends EventTarget {
  // `button(text, act, label)` makes a button, which reports if its action fails.
  constructor(button) {
    super();
    this.data = null;
    this.pool = null; // the name of the displayed one
    this.view = new MapView();
    this.view.addEventListener("choose", ({ detail }) => this.#showChosen(detail));
    this.view.addEventListener("move", () => this.dispatchEvent(new Event("move")));
    this.tabs = element("div", { className: "tabs", role: "tablist", "aria-label": "Pools" });
    this.tabs.addEventListener("keydown", (event) => this.#tabKey(event));
    this.find = new FindBox((text) => this.data?.named(text) ?? [], (layer, box) => this.#goTo(layer, box));
    const near = (factor) => () => this.view.window.zoom(factor, factor);
    const tools = element(
      "div",
      { className: "tools" },
      ...this.find.parts,
      button("−", near(1.5), "Zoom out"),
      button("+", near(1 / 1.5), "Zoom in"),
      button("All", () => this.view.window.fit(), "Show all of it"),
    );
    this.legend = element("div", { className: "legend" });
    this.chosen = element("dl", { className: "chosen" });
    this.#showChosen(null);
    const bar = element("div", { className: "bar" }, this.tabs, tools);
    this.root = element("div", { className: "stage", hidden: true }, bar, this.view.root, this.legend, this.chosen);
  }

  close() {
    this.view.close();
  }

  // Redraws in other colours.
  redraw(atOnce = false) {
    this.view.redraw(atOnce);
  }

  // Sets a plan's map: the displayed pool stays, if it exists.
  take(data) {
    this.data = data;
    const pools = data.layers.map((layer) => layer.pool);
    this.tabs.replaceChildren(...pools.map((pool) => this.#tab(pool)));
    for (const part of this.find.parts) part.hidden = !data.layers.some((layer) => layer.count);
    this.root.hidden = !data.layers.some((layer) => layer.count || layer.needed);
    const fullest = data.layers.find((layer) => layer.count) ?? data.layers.find((layer) => layer.isShort) ?? data.layers[0];
    this.select(pools.some((pool) => pool.name === this.pool) ? this.pool : fullest.pool.name);
  }

  // Show a pool.
  select(pool) {
    const layer = this.data?.layers.find((each) => each.pool.name === pool);
    if (!layer) return;
    this.pool = pool;
    for (const tab of this.tabs.children) {
      const isIt = tab.pool === pool;
      tab.setAttribute("aria-selected", String(isIt));
      tab.tabIndex = isIt ? 0 : -1;
      if (isIt) scrollWithin(this.tabs, tab);
    }
    this.view.show(this.data, layer, layer.top);
    this.chosen.hidden = !layer.count;
    this.legend.replaceChildren(...this.#legend(layer));
  }

  // Marks the buffers for which this is true.
  mark(isMoved) {
    this.data?.mark(isMoved);
    if (this.layer) this.legend.replaceChildren(...this.#legend(this.layer));
    this.redraw();
  }

  // Returns the map as PNG, with these lines and the pool's name above it and its legend below.
  picture(heads) {
    const legend = this.#legend(this.layer).map((each) => [each.firstElementChild?.className ?? "", each.textContent]);
    return this.view.picture([...heads, `pool ${visible(this.pool)}`], legend);
  }

  // The displayed layer.
  get layer() {
    return this.data?.layers.find((each) => each.pool.name === this.pool);
  }

  #goTo(layer, box) {
    if (layer.pool.name !== this.pool) this.#choose(layer.pool.name);
    this.view.goTo(box);
  }

  #choose(pool) {
    this.select(pool);
    this.dispatchEvent(new Event("pool"));
  }

  #tab(pool) {
    const { needed } = this.data.layers.find((layer) => layer.pool === pool);
    const use = needed ? `needs ${bytes(needed)}${pool.size === null ? "" : `, has ${bytes(pool.size)}`}` : pool.peak === null ? "empty" : `${bytes(pool.peak)}${pool.size === null ? "" : ` of ${bytes(pool.size)}`}`;
    const tab = element("button", { type: "button", role: "tab", tabIndex: -1 }, name(pool.name), " ", element("small", {}, use));
    tab.pool = pool.name;
    tab.addEventListener("click", () => this.#choose(pool.name));
    return tab;
  }

  #tabKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const tabs = [...this.tabs.children];
    const next = tabs[tabs.indexOf(document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
    next.click();
  }

  #legend(layer) {
    const { kinds, buffers } = this.data.document;
    const entry = (mark, text) => element("span", {}, element("i", { className: mark }), text);
    const used = layer.isBusy ? entry("used", "bytes in use (faint: the most of each pixel, strong: the least)") : entry("line live", layer.needed ? "bytes needed" : "bytes in use");
    const lines = [used];
    if (layer.moved?.includes(1)) lines.push(entry("line moved", "lies elsewhere in the other"));
    if (layer.wrong?.includes(1)) lines.push(entry("line wrong", "named in what is wrong"));
    if (Number(layer.pool.bound)) lines.push(entry("line bound", `proven bound ${bytes(layer.pool.bound)}`));
    if (layer.pool.size !== null) lines.push(entry("line end", `${layer.needed ? "all there is" : "end of the pool"} ${bytes(layer.pool.size)}`));
    if (!layer.count || !kinds.some((kind) => kind.name !== null)) return lines;
    const counts = new Uint32Array(kinds.length);
    if (layer.count > FEW) for (const kind of buffers.kind) counts[kind] += 1; // some may be too small to be seen
    const said = (kind, i) => `${kind.name === null ? "no kind" : visible(kind.name)}${counts[i] ? ` (${grouped(counts[i])})` : ""}`;
    const shares = new Map(); // how many kinds have each colour: for want of more, several may have the grey
    for (const { colour } of kinds) shares.set(colour, (shares.get(colour) ?? 0) + 1);
    const shared = (kind) => kind.name !== null && shares.get(kind.colour) > 1;
    const boxes = kinds.flatMap((kind, i) => (shared(kind) ? [] : [entry(`k${kind.colour}`, said(kind, i))]));
    const more = kinds.filter(shared);
    if (more.length) boxes.push(entry(`k${more[0].colour}`, `${grouped(more.length)} more kinds`));
    return [...lines, ...boxes];
  }

  #showChosen(about) {
    if (about === null) {
      this.chosen.replaceChildren(element("div", { className: "soft" }, "Choose a buffer on the map (by a click, a finger, or the key n) to keep its figures here."));
      return;
    }
    const called = [element("dt", {}, "buffer"), element("dd", {}, name(about.id))];
    this.chosen.replaceChildren(...[called, ...facts(about)].map((pair) => element("div", {}, ...pair)));
  }
}

// Scrolls a part into view within its list, and nothing else.
function scrollWithin(list, part) {
  const [above, below] = [part.offsetTop, part.offsetTop + part.offsetHeight];
  if (above < list.scrollTop) list.scrollTop = above;
  else if (below > list.scrollTop + list.clientHeight) list.scrollTop = below - list.clientHeight;
}
