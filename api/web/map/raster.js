// Paints rectangles into pixels. No browser draws 100 000 rectangles between two frames one by one, but setting a million pixels is quick.

const LEAST_BORDERED = 4;

// `view` is the part of time and address in the pixels. Anything smaller than a pixel still gets one.
export function paint(pixels, width, height, layer, view, colours, background) {
  pixels.fill(background);
  const perTime = width / (view.right - view.left);
  const perByte = height / (view.high - view.low);
  const { left, right, low, high, colour, count } = layer;
  for (let box = 0; box < count; box += 1) {
    if (right[box] <= view.left || left[box] >= view.right || high[box] <= view.low || low[box] >= view.high) continue;
    const [x1, x2] = span((left[box] - view.left) * perTime, (right[box] - view.left) * perTime, width);
    const [y1, y2] = span((view.high - high[box]) * perByte, (view.high - low[box]) * perByte, height);
    const bordered = x2 - x1 >= LEAST_BORDERED && y2 - y1 >= LEAST_BORDERED ? 1 : 0;
    fill(pixels, width, x1, y1, x2 - bordered, y2 - bordered, colours[colour[box]]);
    if (bordered) {
      fill(pixels, width, x2 - 1, y1, x2, y2, background);
      fill(pixels, width, x1, y2 - 1, x2, y2, background);
    }
  }
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
