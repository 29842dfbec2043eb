// Paints rectangles into pixels. No browser draws 100 000 rectangles between two frames one by one, but setting a million pixels is quick.

const LEAST_BORDERED = 4;

// `view` says what part of time and address the pixels show. What is smaller than a pixel still gets one.
export function paint(pixels, width, height, layer, view, colours, background) {
  pixels.fill(background);
  const perTime = width / (view.right - view.left);
  const perByte = height / (view.high - view.low);
  const { left, right, low, high, colour, count } = layer;
  for (let box = 0; box < count; box += 1) {
    if (right[box] <= view.left || left[box] >= view.right || high[box] <= view.low || low[box] >= view.high) continue;
    const x1 = Math.max(Math.floor((left[box] - view.left) * perTime), 0);
    const x2 = Math.min(Math.max(Math.round((right[box] - view.left) * perTime), x1 + 1), width);
    const y1 = Math.max(Math.floor((view.high - high[box]) * perByte), 0);
    const y2 = Math.min(Math.max(Math.round((view.high - low[box]) * perByte), y1 + 1), height);
    const bordered = x2 - x1 >= LEAST_BORDERED && y2 - y1 >= LEAST_BORDERED ? 1 : 0;
    fill(pixels, width, x1, y1, x2 - bordered, y2 - bordered, colours[colour[box]]);
    if (bordered) {
      fill(pixels, width, x2 - 1, y1, x2, y2, background);
      fill(pixels, width, x1, y2 - 1, x2, y2, background);
    }
  }
}

function fill(pixels, width, x1, y1, x2, y2, value) {
  for (let row = y1 * width; row < y2 * width; row += width) {
    if (x2 - x1 > 8) pixels.fill(value, row + x1, row + x2);
    else for (let at = row + x1; at < row + x2; at += 1) pixels[at] = value;
  }
}
