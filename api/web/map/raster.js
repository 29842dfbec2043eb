// Paints rectangles into pixels. No browser draws 100 000 rectangles between two frames one by one, but setting a million pixels is quick.

const LEAST_BORDERED = 4;
export const FEW = 2000; // so many are all painted, however small; among more, small ones only colour what they cover
export const OUTLINED = 6; // the least width and height with an outline, in pixels of the page
const MOST_FILLED = 0.25; // the greatest share of all that is painted that is filled because it moved

// `view` is the part of time and address in the pixels. Anything smaller than a pixel still gets one; or if there are many, as much colour as it covers of a cell
// of `cover.coverage`. Without `cover`, every one gets a pixel.
export function paint(pixels, width, height, layer, view, colours, background, cover = null) {
  const perTime = width / (view.right - view.left);
  const perByte = height / (view.high - view.low);
  const { left, right, low, high, colour, count, moved } = layer;
  const scale = cover?.coverage.scale ?? 1;
  const isFilled = Boolean(moved) && cover !== null && fills(layer, view, (OUTLINED * scale) / perTime, (OUTLINED * scale) / perByte);
  const isMany = cover !== null && areMany(layer, view);
  const went = cover === null ? 0 : cover.tints.length - 1; // the colour of what moved, beyond those of kinds
  const least = isMany ? scale : 0;
  if (isMany) {
    for (let box = 0; box < count; box += 1) {
      if (right[box] <= view.left || left[box] >= view.right || high[box] <= view.low || low[box] >= view.high) continue;
      const across = (right[box] - left[box]) * perTime;
      const up = (high[box] - low[box]) * perByte;
      if (across >= least && up >= least) continue;
      const x = (left[box] - view.left) * perTime;
      const y = (view.high - high[box]) * perByte;
      const which = isFilled && moved[box] ? went : (colour[box] / cover.shades) | 0;
      cover.coverage.add(which, x / scale, (x + across) / scale, y / scale, (y + up) / scale);
    }
    cover.coverage.paint(pixels, width, height, cover.tints, background);
  } else {
    pixels.fill(background);
  }
  for (let box = 0; box < count; box += 1) {
    if (right[box] <= view.left || left[box] >= view.right || high[box] <= view.low || low[box] >= view.high) continue;
    const across = (right[box] - left[box]) * perTime;
    const up = (high[box] - low[box]) * perByte;
    if (across < least || up < least) continue;
    const [x1, x2] = span((left[box] - view.left) * perTime, (right[box] - view.left) * perTime, width);
    const [y1, y2] = span((view.high - high[box]) * perByte, (view.high - low[box]) * perByte, height);
    const bordered = x2 - x1 >= LEAST_BORDERED && y2 - y1 >= LEAST_BORDERED ? 1 : 0;
    const isMarked = isFilled && moved[box] && Math.min(across, up) < OUTLINED * scale;
    fill(pixels, width, x1, y1, x2 - bordered, y2 - bordered, isMarked ? cover.moved : colours[colour[box]]);
    if (bordered) {
      fill(pixels, width, x2 - 1, y1, x2, y2, background);
      fill(pixels, width, x1, y2 - 1, x2, y2, background);
    }
  }
}

function areMany({ left, right, low, high, count }, view) {
  let seen = 0;
  for (let box = 0; box < count && seen <= FEW; box += 1) {
    if (right[box] > view.left && left[box] < view.right && high[box] > view.low && low[box] < view.high) seen += 1;
  }
  return seen > FEW;
}

// Whether small ones that moved are few enough to be filled: of more the kinds could no longer be seen.
function fills({ left, right, low, high, count, moved }, view, short, thin) {
  let [whole, small] = [0, 0];
  for (let box = 0; box < count; box += 1) {
    if (right[box] <= view.left || left[box] >= view.right || high[box] <= view.low || low[box] >= view.high) continue;
    const area = (right[box] - left[box]) * (high[box] - low[box]);
    whole += area;
    if (moved[box] && (right[box] - left[box] < short || high[box] - low[box] < thin)) small += area;
  }
  return small <= MOST_FILLED * whole;
}

// The pixels from one edge to the other. All edges are rounded alike, so what touches in memory touches here and nothing overlaps.
function span(from, to, most) {
  const first = Math.min(Math.max(Math.round(from), 0), most - 1);
  return [first, Math.min(Math.max(Math.round(to), first + 1), most)];
}

function fill(pixels, width, x1, y1, x2, y2, value) {
  for (let row = y1 * width; row < y2 * width; row += width) {
    if (x2 - x1 > 8) pixels.fill(value, row + x1, row + x2);
    else for (let at = row + x1; at < row + x2; at += 1) pixels[at] = value;
  }
}
