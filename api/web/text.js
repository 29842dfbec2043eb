// Text for people: names from anybody, numbers, errors, and elements that hold them. Nothing here or anywhere else becomes markup.

const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]|[^\P{Zs} ]/gu;
export const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const LONGEST = 300;
const LEAST_KEPT = 5; // letters of a name that still say which it is

// True if this term of an objective counts bytes, by its name.
export const countsBytes = (term) => /_(peaks?|bytes)$/.test(term);

// A part of a text, without half a character at its ends.
export const part = (text, from, to) => text.slice(from, to).replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");

// The text with everything escaped that is invisible, or would change how others are read.
export function visible(text) {
  const shown = String(text).replace(HIDDEN, (c) => {
    const code = c.codePointAt(0);
    if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
    return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
  });
  return shown.length <= LONGEST ? shown : `${part(shown, 0, LONGEST - 1)}…`;
}

// A name shortened to so many letters: without its front, or, if that leaves no number whole, so that its last one is. So neighbours can be told apart.
// Numbers behind a letter (Conv2D, V3) count only if there are no others.
// A name of which hardly anything would be left is empty.
export function shortName(name, room) {
  if (name.length <= room) return name;
  const short = shortened(name, room);
  return short.replaceAll("…", "").length < LEAST_KEPT ? "" : short;
}

function shortened(name, room) {
  const last = [...name.matchAll(/(?<![A-Za-z0-9])\d+/g)].pop() ?? [...name.matchAll(/\d+/g)].pop();
  const from = name.length - room + 1;
  if (last === undefined || last.index >= from) return `…${part(name, from)}`;
  const stop = last.index + last[0].length;
  return stop < room ? `${part(name, 0, room - 1)}…` : `…${part(name, stop - room + 2, stop)}…`;
}

// An element with properties, attributes (those with a hyphen, and role) and children; strings among them become text.
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "for") made.setAttribute(name, value);
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made[name] = value;
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// A name in its own element, so that its direction of writing does not affect others.
export function name(text, className = "") {
  return element("bdi", { className }, visible(text));
}

// Exact if short: 24 KiB, 3920 B, 1.53 MiB. Numbers too large to be exact come as strings of digits.
export function bytes(size) {
  const value = Number(size);
  let unit = 0;
  while (unit + 1 < UNITS.length) {
    const next = 1024 ** (unit + 1);
    if (value < next || (value % next !== 0 && value < 10_000)) break;
    unit += 1;
  }
  const scaled = value / 1024 ** unit;
  const digits = Number.isInteger(scaled) ? 0 : scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
  return `${scaled.toFixed(digits)} ${UNITS[unit]}`;
}

// 24 528, with spaces that do not break.
export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

// Short, with the exact figure if it differs.
export function exactBytes(size) {
  const short = bytes(size);
  return short.endsWith(" B") ? short : `${short} (${grouped(size)} B)`;
}

export function seconds(value) {
  if (value < 0.001) return `${(value * 1e6).toFixed(0)} µs`;
  if (value < 1) return `${(value * 1e3).toFixed(value < 0.1 ? 1 : 0)} ms`;
  if (value < 120) return `${value.toFixed(value < 10 ? 2 : 1)} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

export function percent(share) {
  if (share >= 10) return `${grouped(Math.round(share * 100))} %`;
  return share === 0 ? "0 %" : share < 0.0001 ? "< 0.01 %" : `${(share * 100).toFixed(share < 0.1 ? 2 : 1)} %`;
}

export function ago(moment) {
  const passed = (Date.now() - Date.parse(moment)) / 1000;
  if (passed < 10) return "now";
  if (passed < 90) return `${Math.round(passed)} s ago`;
  if (passed < 5400) return `${Math.round(passed / 60)} min ago`;
  return passed < 129_600 ? `${Math.round(passed / 3600)} h ago` : `${Math.round(passed / 86_400)} days ago`;
}

export function plural(count, word) {
  return `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;
}

// Shows an error: the sentence, the places in the input, and its code; null clears it.
export function showError(place, error) {
  place.hidden = error === null;
  if (error === null) {
    place.replaceChildren();
    return;
  }
  const found = error.errors ?? [];
  const lines = found.slice(0, 8).map((each) => {
    const where = each.pointer ? element("code", {}, visible(each.pointer)) : null;
    return element("li", {}, where, where ? " " : "", visible(each.message));
  });
  const more = found.length - lines.length + (error.more ?? 0);
  if (more > 0) lines.push(element("li", { className: "soft" }, `and ${more} more`));
  const said = found.length > 1 ? `${plural(found.length + (error.more ?? 0), "thing")} must be put right` : visible(error.message);
  const code = error.code ? element("code", { className: "soft" }, visible(error.code)) : null;
  place.replaceChildren(element("p", {}, said, " ", code ?? ""), ...(found.length > 1 ? [element("ul", {}, ...lines)] : []));
}
