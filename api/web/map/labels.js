// The names of boxes: inside where there is room, and beside them if few boxes are shown. A name that says too little is left out.

import { shortName } from "../text.js";

const MOST = 400; // names inside
const MOST_BESIDE = 60; // boxes with names beside them
const LONGEST_BESIDE = 28; // letters
const LABEL = { width: 34, height: 14, letter: 6.4 };

// The smallest come first, which lie over larger ones: names of these end before them. A name covers the line below it.
export function drawLabels(painter, data, layer) {
  const { context, colours } = painter;
  const taken = [];
  context.textAlign = "left";
  context.textBaseline = "middle";
  const write = ({ box, x, y, room, shown }, isInside) => {
    const end = x + 4 + Math.min(context.measureText(shown).width, room + 2);
    context.globalAlpha = 0.8;
    context.fillStyle = isInside ? colours.boxes[layer.colour[box]] : colours.field;
    context.fillRect(x + 3, y - 6, end - x - 2, 12);
    context.globalAlpha = 1;
    context.fillStyle = colours.ink;
    context.fillText(shown, x + 4, y, room + 2);
  };
  const inside = [];
  for (const { box, x, y, width } of rooms(painter, layer).reverse()) {
    const beside = taken.filter((other) => Math.abs(other.y - y) < LABEL.height && other.end > x).map((other) => other.x);
    const room = Math.min(width, ...beside.map((begin) => begin - x)) - 8;
    if (room < LABEL.width - 8) continue;
    const shown = shortName(data.label(layer.buffer[box]), Math.floor(room / LABEL.letter));
    if (!shown) continue;
    inside.push({ box, x, y, room, shown });
    taken.push({ x, y, end: x + 4 + Math.min(context.measureText(shown).width, room + 2) });
  }
  const telling = inside.filter(isTelling(data, layer));
  for (const name of telling) write(name, true);
  for (const name of besides(painter, data, layer, new Set(telling.map(({ box }) => layer.buffer[box])))) write(name, false);
}

// Whether no other buffer's name was shortened to the same.
function isTelling(data, layer) {
  return ({ box, shown }, _, all) =>
    shown === data.label(layer.buffer[box]) || all.every((other) => other.shown !== shown || layer.buffer[other.box] === layer.buffer[box]);
}

// Places for names, the largest boxes first; a box that continues to the left has its name where it becomes visible.
function rooms(painter, layer) {
  const { view, inside } = painter;
  const perTime = inside.width / (view.right - view.left);
  const perByte = inside.height / (view.high - view.low);
  const least = (LABEL.width * LABEL.height) / perTime / perByte;
  const found = [];
  for (let box = 0; box < layer.count && found.length < MOST; box += 1) {
    const [left, right] = [Math.max(layer.left[box], view.left), Math.min(layer.right[box], view.right)];
    const [low, high] = [Math.max(layer.low[box], view.low), Math.min(layer.high[box], view.high)];
    if ((layer.right[box] - layer.left[box]) * (layer.high[box] - layer.low[box]) < least) break;
    const width = (right - left) * perTime;
    const height = (high - low) * perByte;
    if (width < LABEL.width || height < LABEL.height) continue;
    found.push({ box, x: painter.x(left), y: painter.y(high) + Math.min(height / 2, 9), width });
  }
  return found;
}

// Names in the free room right or left of their boxes, above or below them.
function besides(painter, data, layer, named) {
  const taken = shownBoxes(painter, layer);
  if (taken.length > MOST_BESIDE) return [];
  const { context, left, top, inside } = painter;
  const wanted = taken
    .filter(({ box }) => !named.has(layer.buffer[box]))
    .map((area) => ({ ...area, shown: shortName(data.label(layer.buffer[area.box]), LONGEST_BESIDE) }));
  const lines = [layer.pool.bound, layer.pool.size].filter((address) => address !== null).map((address) => painter.y(Number(address)));
  const found = [];
  for (const { box, shown, ...area } of wanted.filter(({ shown }) => shown).filter(isTelling(data, layer))) {
    if (named.has(layer.buffer[box])) continue;
    const width = context.measureText(shown).width + 8;
    const [most, lowest] = [left + inside.width - width, top + inside.height - LABEL.height];
    const y = Math.min(Math.max((area.upper + area.lower - LABEL.height) / 2, top), lowest);
    const x = Math.min(area.left, most);
    const free = [[area.right, y], [area.left - width, y], [x, area.upper - LABEL.height], [x, area.lower]]
      .filter(([at, upper]) => left <= at && at <= most && top <= upper && upper <= lowest)
      .map(([at, upper]) => ({ left: at, right: at + width, upper, lower: upper + LABEL.height }))
      .filter((place) => !taken.some((other) => meet(place, other)));
    const place = free.find(({ upper, lower }) => !lines.some((line) => upper < line && line < lower)) ?? free[0];
    if (place === undefined) continue;
    taken.push(place);
    named.add(layer.buffer[box]);
    found.push({ box, shown, x: place.left, y: place.upper + LABEL.height / 2, room: width });
  }
  return found;
}

function shownBoxes(painter, layer) {
  const { view } = painter;
  const found = [];
  for (let box = 0; box < layer.count && found.length <= MOST_BESIDE; box += 1) {
    if (layer.right[box] <= view.left || layer.left[box] >= view.right || layer.high[box] <= view.low || layer.low[box] >= view.high) continue;
    const [left, right] = [painter.x(layer.left[box]), painter.x(layer.right[box])];
    found.push({ box, left, right, upper: painter.y(layer.high[box]), lower: painter.y(layer.low[box]) });
  }
  return found;
}

function meet(one, other) {
  return one.left < other.right && other.left < one.right && one.upper < other.lower && other.upper < one.lower;
}
