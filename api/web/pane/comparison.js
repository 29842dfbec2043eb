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
    const claims = [
      ...costs(this.panes),
      ["peak", this.#each((plan) => plan.peak), bytes, true],
      ["bound", this.#each((plan) => plan.bound), bytes],
      ["gap", this.#each((plan, pane) => (aim(plan, pane) ? gapOf(aim(plan, pane)) : plan.gap)), percent],
    ];
    const heads = this.panes.map((pane) => {
      const said = pane.isWrong ? " (wrong)" : "";
      return element("th", { scope: "col" }, `${pane.letter}: `, name(pane.title), said);
    });
    const head = element("tr", {}, element("td"), ...heads, element("th", { scope: "col" }, "difference"));
    const solvers = this.panes.map(({ plan }) => element("td", {}, plan ? visible(plan.solver ?? "–") : "–"));
    const by = element("tr", {}, element("th", { scope: "row" }, "solver"), ...solvers, element("td"));
    const body = claims.map(([term, values, shown, isBetterLow]) => this.#row(term, values, shown, true, isBetterLow));
    const time = this.#row("time", this.#each((plan) => plan.run.seconds), seconds);
    this.table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...body, time, by, ...this.#moved()));
  }

  // What is said of each pane's plan; null where there is none.
  #each(said) {
    return this.panes.map((pane) => (pane.plan ? said(pane.plan, pane) : null));
  }

  // What a wrong plan claims of itself is no better or worse than anything.
  #row(term, values, shown, isClaim = false, isBetterLow = false) {
    const isFalse = this.panes.map((pane) => isClaim && pane.isWrong);
    const cells = values.map((value, i) => element("td", {}, value === null ? "–" : `${shown(value)}${isFalse[i] ? " (claimed)" : ""}`));
    return element("tr", {}, element("th", { scope: "row" }, term), ...cells, difference(isFalse.includes(true) ? [null, null] : values, shown, isBetterLow));
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
function aim(plan, pane) {
  const [first] = termsOf(plan, pane.data);
  return first.name === "sum_of_peaks" ? null : first;
}

// Rows of the costs that either plan minimised first.
function costs(panes) {
  const planned = panes.filter(({ plan }) => plan);
  const terms = new Set(planned.map((pane) => aim(pane.plan, pane)?.name).filter(Boolean));
  return [...terms].flatMap((term) => {
    const both = panes.map(({ plan, data }) => plan && termsOf(plan, data).find((each) => each.name === term));
    const shown = countsBytes(term) ? bytes : grouped;
    return [
      [termName(term), both.map((each) => each?.value ?? null), shown, true],
      ["bound of it", both.map((each) => each?.bound ?? null), shown],
    ];
  });
}

function difference([first, second], shown, isBetterLow) {
  if (first === null || second === null) return element("td", {}, "–");
  if (first === second) return element("td", {}, "none");
  const [sign, className] = second > first ? ["+", "worse"] : ["−", "better"];
  const share = first > 0 && shown === bytes ? ` (${sign}${percent(Math.abs(second - first) / first)})` : "";
  return element("td", { className: isBetterLow ? className : "" }, `${sign}${shown(Math.abs(second - first))}${share}`);
}
