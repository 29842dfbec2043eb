// A field for parts of names: Enter goes to the next buffer whose name contains them all, Shift+Enter to the one before.

import { element, grouped } from "../text.js";

export class FindBox {
  // `named(text)` gives layers and boxes; `goTo(layer, box)` shows one of them.
  constructor(named, goTo) {
    Object.assign(this, { named, goTo, hits: null });
    this.field = element("input", { type: "search", placeholder: "Find a buffer", "aria-label": "Find a buffer by its name" });
    this.said = element("output", { className: "soft", "aria-live": "polite" });
    this.field.addEventListener("input", () => this.#forget());
    this.field.addEventListener("change", () => this.#next(0));
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.#next(this.hits ? (event.shiftKey ? -1 : 1) : 0);
    });
  }

  get parts() {
    return [this.field, this.said];
  }

  #forget() {
    this.hits = null;
    this.said.value = "";
    this.field.setAttribute("aria-invalid", "false");
  }

  // The next one in any pool (1), the one before (-1), or the first (0).
  #next(step) {
    const text = this.field.value;
    if (!text.trim()) return this.#forget();
    if (this.hits?.text !== text) this.hits = { text, boxes: this.named(text), at: 0 };
    const { boxes } = this.hits;
    this.field.setAttribute("aria-invalid", String(!boxes.length));
    this.hits.at = (this.hits.at + step + boxes.length) % Math.max(boxes.length, 1);
    this.said.value = boxes.length ? `${grouped(this.hits.at + 1)} of ${grouped(boxes.length)}` : "none on the map";
    if (!boxes.length) return undefined;
    return this.goTo(...boxes[this.hits.at]);
  }
}
