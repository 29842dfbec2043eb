// A page by itself: one or two plans embedded in it, without a service.

import { Comparison } from "./pane/comparison.js";
import { Pane } from "./pane/pane.js";
import { setUpTheme } from "./theme.js";

class HeldSource {
  constructor(held) {
    this.id = null;
    this.name = held.name;
    this.held = held;
  }

  plan = async () => this.held.plan;
  map = async () => this.held.map;
  picture = async () => new Blob([this.held.picture], { type: "image/svg+xml" });
}

const place = (id) => document.getElementById(id);
const panes = JSON.parse(place("held").textContent).map((held) => new Pane(new HeldSource(held)));
for (const [i, pane] of panes.entries()) {
  pane.away.hidden = true;
  pane.mark(panes.length === 2 ? "AB"[i] : "");
}
place("panes").replaceChildren(...panes.map((pane) => pane.root));
if (panes.length === 2) {
  place("workspace").classList.add("two");
  place("workspace").prepend(new Comparison(...panes).root);
}
setUpTheme((atOnce) => panes.forEach((pane) => pane.redraw(atOnce)));
for (const pane of panes) pane.start();
