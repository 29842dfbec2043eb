// Two plans side by side: their figures in one table, and maps that move together.

import { bytes, countsBytes, element, grouped, name, percent, seconds, visible } from "../text.js";
import { gapOf, termName, termsOf } from "./figures.js";

export class Comparison {
  constructor(first, second) {
    this.panes = [first, second];
    this.link = element("input", { type: "checkbox", checked: true });
    this.table = element("table");
    const linked = element("label", {}, this.link, " Move both maps together");
    this.root = element("section", { className: "comparison", "aria-label": "Comparison" }, this.table, linked);
    this.over = new AbortController();
    const { signal } = this.over;
    for (const [pane, other] of [
      [first, second],
      [second, first],
    ]) {
      pane.maps.addEventListener("move", () => this.link.checked && other.maps.view.window.set(pane.maps.view.window.now, true), { signal });
      pane.maps.addEventListener("pool", () => this.#match(pane.maps, other.maps), { signal });
      pane.addEventListener("map", () => this.#compareMaps(), { signal });
      pane.addEventListener("loaded", () => this.#show(), { signal });
      pane.addEventListener("refused", () => (this.root.hidden = true), { signal });
    }
    this.link.addEventListener("change", () => this.#level(), { signal });
    this.#compareMaps();
    this.#show();
  }

  close() {
    this.over.abort();
    for (const pane of this.panes) pane.maps.mark(null);
    this.root.remove();
  }

  #match(maps, other) {
    if (this.link.checked) other.select(maps.pool);
    this.#level();
  }

  #compareMaps() {
    this.#level();
    if (!this.panes.every((pane) => pane.data)) return;
    const [first, second] = this.panes.map((pane) => pane.data.places());
    for (const pane of this.panes) pane.maps.mark((id) => first.get(id) !== second.get(id));
  }

  // The same scales in both, so that equal bytes and equal times are of equal size. Other pools that move by themselves have their own.
  #level() {
    const maps = this.panes.map((pane) => pane.maps);
    if (!maps.every((each) => each.layer)) return;
    const [right, top] = [Math.max(...maps.map((each) => each.data.right)), Math.max(...maps.map((each) => each.layer.top))];
    const isOne = this.link.checked || maps[0].pool === maps[1].pool;
    const isBusy = maps.some(({ layer }) => layer.isBusy);
    for (const { view, data, layer } of maps) {
      if (isOne) layer.isBusy = isBusy;
      if (isOne) view.window.extend(right, top);
      else view.window.extend(data.right, layer.top);
    }
  }

  #show() {
    const plans = this.panes.map((pane) => pane.plan);
    const rows = [
      ...costs(plans),
      ["peak", plans.map((plan) => plan?.peak ?? null), bytes],
      ["bound", plans.map((plan) => plan?.bound ?? null), bytes],
      ["gap", plans.map((plan) => plan && (aim(plan) ? gapOf(aim(plan)) : plan.gap)), percent],
      ["time", plans.map((plan) => plan?.run.seconds ?? null), seconds],
    ];
    const heads = this.panes.map((pane) => {
      const said = pane.isWrong ? " (wrong)" : "";
      return element("th", { scope: "col" }, `${pane.letter}: `, name(pane.title), said);
    });
    const head = element("tr", {}, element("td"), ...heads, element("th", { scope: "col" }, "difference"));
    const solvers = plans.map((plan) => element("td", {}, plan ? visible(plan.solver ?? "–") : "–"));
    const by = element("tr", {}, element("th", { scope: "row" }, "solver"), ...solvers, element("td"));
    const body = rows.map(([term, values, shown]) => this.#row(term, values, shown));
    this.table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...body, by, ...this.#moved()));
  }

  #row(term, values, shown) {
    const cells = values.map((value) => element("td", {}, value === null ? "–" : shown(value)));
    return element("tr", {}, element("th", { scope: "row" }, term), ...cells, difference(values, shown));
  }

  // Returns how many buffers lie elsewhere in the second plan.
  #moved() {
    if (!this.panes.every((pane) => pane.plan && pane.data)) return [];
    const [first, second] = this.panes.map((pane) => pane.data.places());
    const both = [...first.keys()].filter((id) => second.has(id));
    const moved = both.filter((id) => first.get(id) !== second.get(id)).length;
    const said = both.length ? `${grouped(moved)} of ${grouped(both.length)} lie elsewhere` : "none in common";
    return [element("tr", {}, element("th", { scope: "row" }, "buffers"), element("td", { colSpan: 3 }, said))];
  }
}

// What a plan minimised first, if that is not its memory.
function aim(plan) {
  const [first] = termsOf(plan);
  return first.name === "sum_of_peaks" ? null : first;
}

// Rows of the costs that either plan minimised first.
function costs(plans) {
  const terms = new Set(plans.map((plan) => plan && aim(plan)?.name).filter(Boolean));
  return [...terms].flatMap((term) => {
    const both = plans.map((plan) => plan && termsOf(plan).find((each) => each.name === term));
    const shown = countsBytes(term) ? bytes : grouped;
    return [
      [termName(term), both.map((each) => each?.value ?? null), shown],
      ["bound of it", both.map((each) => each?.bound ?? null), shown],
    ];
  });
}

function difference([first, second], shown) {
  if (first === null || second === null) return element("td", {}, "–");
  if (first === second) return element("td", {}, "none");
  const [sign, className] = second > first ? ["+", "worse"] : ["−", "better"];
  const share = first > 0 && shown === bytes ? ` (${sign}${percent(Math.abs(second - first) / first)})` : "";
  const isBytes = shown === bytes;
  return element("td", { className: isBytes ? className : "" }, `${sign}${shown(Math.abs(second - first))}${share}`);
}
