// The text of a pointer over a buffer: name, size, offset, lifetime, kind.

import { element, exactBytes, grouped, name, visible } from "../text.js";

export class MapTip {
  constructor() {
    this.root = element("div", { className: "tip", hidden: true });
  }

  show(about) {
    const rows = facts(about).flatMap((pair) => pair);
    this.root.replaceChildren(element("strong", {}, name(about.id)), element("dl", {}, ...rows));
    this.root.hidden = false;
  }

  // Beside the pointer, and within the map.
  place(event, map) {
    const [x, y] = [event.clientX - map.left, event.clientY - map.top];
    const { offsetWidth: width, offsetHeight: height } = this.root;
    this.root.style.left = `${x + 16 + width > map.width ? Math.max(x - width - 12, 0) : x + 16}px`;
    this.root.style.top = `${Math.max(Math.min(y + 16, map.height - height - 4), 0)}px`;
  }

  hide() {
    this.root.hidden = true;
  }
}

// The same as pairs of term and value.
export function facts(about) {
  const steps = `${grouped(about.steps)} step${about.steps === 1n ? "" : "s"}`;
  const rows = [
    ["size", exactBytes(about.size)],
    ["offset", `${grouped(about.offset)} to ${grouped(about.end)}`],
    ["hex", `${hex(about.offset)} to ${hex(about.end)}`],
    ["live", about.life === null ? "no lifetime" : `${about.life}, ${steps}`],
  ];
  if (about.begins !== null) rows.push(["from", visible(about.begins)]);
  if (about.address !== null) rows.push(["address", hex(about.address)]);
  if (about.kind !== null) rows.push(["kind", visible(about.kind)]);
  if (about.alignment !== 1) rows.push(["aligned", grouped(about.alignment)]);
  return rows.map(([term, value]) => [element("dt", {}, term), element("dd", {}, value)]);
}

function hex(number) {
  return `0x${number.toString(16)}`;
}
