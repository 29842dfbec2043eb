// The bytes in use over time: a line over the map, or above the map if it changes so often that its line would hide it.

export const STRIP = { height: 44, gap: 8 };
export const OFTEN = 250; // changes: more would hide the map
export const STRENGTH = { most: 0.25, least: 0.4 };

// A step at each change; those within one column of pixels become one stroke from the least to the most.
export function drawLine(painter, layer) {
  const { context, view, colours } = painter;
  const { time, used } = layer;
  if (!time.length) return;
  let at = Math.max(lowerBound(time, view.left) - 1, 0);
  context.strokeStyle = colours.live;
  context.lineWidth = 1.1;
  context.beginPath();
  let before = time[at] > view.left || at === 0 ? 0 : used[at];
  context.moveTo(painter.x(time[at]), painter.y(before));
  while (at < time.length && time[at] <= view.right) {
    const x = painter.x(time[at]);
    let [least, most] = [Math.min(before, used[at]), Math.max(before, used[at])];
    let last = used[at];
    for (at += 1; at < time.length && painter.x(time[at]) - x < 0.5; at += 1) {
      last = used[at];
      least = Math.min(least, last);
      most = Math.max(most, last);
    }
    context.lineTo(x, painter.y(before));
    if (least < Math.min(before, last)) context.lineTo(x, painter.y(least));
    if (most > Math.max(before, last)) context.lineTo(x, painter.y(most));
    context.lineTo(x, painter.y(last));
    before = last;
  }
  const end = painter.x(Math.min(view.right, time[time.length - 1]));
  context.lineTo(end, painter.y(before));
  context.stroke();
  if (!layer.count) fillNeeded(painter, end);
  context.lineWidth = 1;
}

// If nothing fits, there are no boxes: the need is an area below its line, against the end of the pool.
function fillNeeded(painter, end) {
  const { context, colours } = painter;
  context.lineTo(end, painter.y(0));
  context.lineTo(painter.x(0), painter.y(0));
  context.globalAlpha = 0.35;
  context.fillStyle = colours.soft;
  context.fill();
  context.globalAlpha = 1;
}

// For each of so many columns of the window the least and the most bytes in use.
export function byColumn({ time, used }, view, count) {
  const [least, most] = [new Float64Array(count), new Float64Array(count)];
  let at = lowerBound(time, view.left) - 1;
  const per = (view.right - view.left) / count;
  for (let column = 0; column < count; column += 1) {
    const end = view.left + (column + 1) * per;
    let now = at < 0 ? 0 : used[at];
    while (at + 1 < time.length && time[at + 1] <= view.left + column * per) now = used[(at += 1)];
    least[column] = most[column] = now;
    while (at + 1 < time.length && time[at + 1] < end) {
      now = used[(at += 1)];
      least[column] = Math.min(least[column], now);
      most[column] = Math.max(most[column], now);
    }
  }
  return { least, most };
}

// The strip above the map: faint the most of each column, strong the least.
export function drawStrip(painter, layer, { left, top, width }) {
  const { context, colours, view } = painter;
  const y = (bytes) => top + STRIP.height * (1 - bytes / layer.top);
  const columns = byColumn(layer, view, Math.round(width));
  context.fillStyle = colours.field;
  context.fillRect(left, top, width, STRIP.height);
  context.fillStyle = colours.ink;
  for (const [name, strength] of Object.entries(STRENGTH)) {
    context.globalAlpha = strength;
    context.beginPath();
    context.moveTo(left, top + STRIP.height);
    columns[name].forEach((bytes, column) => {
      context.lineTo(left + column, y(bytes));
      context.lineTo(left + column + 1, y(bytes));
    });
    context.lineTo(left + columns[name].length, top + STRIP.height);
    context.fill();
  }
  context.globalAlpha = 1;
  context.fillStyle = colours.soft;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillText("in use", left - 8, top + STRIP.height / 2);
  if (Number(layer.pool.bound)) painter.line(left, y(Number(layer.pool.bound)), left + width, y(Number(layer.pool.bound)), [7, 4], colours.bound, 1.5);
}

// How often the bytes in use change.
export function changesOf(used) {
  let count = 0;
  for (let at = 1; at < used.length; at += 1) if (used[at] !== used[at - 1]) count += 1;
  return count;
}

function lowerBound(values, wanted) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
