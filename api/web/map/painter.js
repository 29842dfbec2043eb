// Draws a map's window on a canvas: boxes and their names, the bytes in use, the bound, the axes.

import { grouped, part, shortName, visible } from "../text.js";
import { paint } from "./raster.js";
import { addressLabels, addressTicks, timeTicks } from "./scales.js";

export const GUTTER = { left: 68, right: 12, top: 8, bottom: 24 };
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const LABELS = 400;
const MOST_LETTERS = 14;
const LABEL = { width: 34, height: 14, letter: 6.4 };

export class MapPainter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.image = null;
  }

  resize(width, height, scale) {
    this.width = width;
    this.height = height;
    this.scale = scale;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    const inside = [width - GUTTER.left - GUTTER.right, height - GUTTER.top - GUTTER.bottom];
    const [across, up] = inside.map((length) => Math.max(Math.round(length * scale), 1));
    this.image = this.context.createImageData(across, up);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  get inside() {
    return { width: this.width - GUTTER.left - GUTTER.right, height: this.height - GUTTER.top - GUTTER.bottom };
  }

  x(time) {
    return GUTTER.left + ((time - this.view.left) / (this.view.right - this.view.left)) * this.inside.width;
  }

  y(address) {
    return GUTTER.top + ((this.view.high - address) / (this.view.high - this.view.low)) * this.inside.height;
  }

  draw(data, layer, view, colours) {
    const { context, scale } = this;
    this.view = view;
    this.colours = colours;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = colours.page;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    paint(this.pixels, this.image.width, this.image.height, layer, view, colours.boxPixels, colours.fieldPixel);
    context.putImageData(this.image, Math.round(GUTTER.left * scale), Math.round(GUTTER.top * scale));
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = `11px ${FONT}`;
    context.lineWidth = 1;
    this.#axes(data);
    context.save();
    context.beginPath();
    context.rect(GUTTER.left, GUTTER.top, this.inside.width, this.inside.height);
    context.clip();
    this.#reserved(layer);
    this.#profile(layer);
    this.#labels(data, layer);
    this.#limits(layer);
    context.restore();
  }

  #axes(data) {
    const { context, view, colours, inside } = this;
    const bottom = GUTTER.top + inside.height;
    context.fillStyle = colours.soft;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const ticks = addressTicks(view.low, view.high, Math.max(inside.height / 46, 2));
    addressLabels(ticks).forEach((said, place) => {
      const y = this.y(ticks[place]);
      context.fillText(said, GUTTER.left - 8, y, GUTTER.left - 10);
      this.#tick(GUTTER.left - 4, y, GUTTER.left, y);
    });
    context.textAlign = "center";
    context.textBaseline = "top";
    const begin = BigInt(data.document.axis.begin);
    for (const tick of timeTicks(begin, view.left, view.right, Math.max(inside.width / 90, 2))) {
      const time = Number(tick - begin);
      if (time > data.timedEnd) break;
      const said = this.#moment(data, tick, time);
      const x = Math.min(this.x(time), this.width - context.measureText(said).width / 2 - 1);
      context.fillText(said, x, bottom + 7);
      this.#tick(this.x(time), bottom, this.x(time), bottom + 4);
    }
    if (data.untimed.size && view.right > data.timedEnd) {
      context.textAlign = "right";
      context.fillText("without lifetimes, a column each", this.width - GUTTER.right, bottom + 7);
    }
  }

  // A time, and the name of what happens then, if any.
  #moment(data, tick, time) {
    const happens = data.steps.get(time);
    const name = happens === undefined ? "" : ` ${visible(happens)}`;
    return grouped(tick) + (name.length > MOST_LETTERS ? `${part(name, 0, MOST_LETTERS - 1)}…` : name);
  }

  #tick(x1, y1, x2, y2) {
    this.context.strokeStyle = this.colours.soft;
    this.#line(x1, y1, x2, y2, []);
  }

  #line(x1, y1, x2, y2, dashes) {
    const { context } = this;
    context.setLineDash(dashes);
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
    context.setLineDash([]);
  }

  #reserved(layer) {
    this.context.fillStyle = this.colours.rule;
    for (const [start, end] of layer.pool.reserved) {
      const [top, bottom] = [this.y(Number(end)), this.y(Number(start))];
      this.context.fillRect(GUTTER.left, top, this.inside.width, bottom - top);
    }
  }

  // Names of boxes with room for them; a box that continues to the left has its name where it becomes visible.
  // The smallest come first, which lie over larger ones: names of these end before them. A name covers the line below it.
  #labels(data, layer) {
    const { context, colours } = this;
    const taken = [];
    context.textAlign = "left";
    context.textBaseline = "middle";
    for (const { box, x, y, width } of this.#rooms(layer).reverse()) {
      const beside = taken.filter((other) => Math.abs(other.y - y) < LABEL.height && other.end > x).map((other) => other.x);
      const room = Math.min(width, ...beside.map((begin) => begin - x)) - 8;
      if (room < LABEL.width - 8) continue;
      const shown = shortName(visible(data.document.buffers.id[layer.buffer[box]]), Math.floor(room / LABEL.letter));
      const end = x + 4 + Math.min(context.measureText(shown).width, room + 2);
      context.globalAlpha = 0.8;
      context.fillStyle = colours.boxes[layer.colour[box]];
      context.fillRect(x + 3, y - 6, end - x - 2, 12);
      context.globalAlpha = 1;
      context.fillStyle = colours.ink;
      context.fillText(shown, x + 4, y, room + 2);
      taken.push({ x, y, end });
    }
  }

  // Places for names, the largest boxes first.
  #rooms(layer) {
    const { view, inside } = this;
    const perTime = inside.width / (view.right - view.left);
    const perByte = inside.height / (view.high - view.low);
    const least = (LABEL.width * LABEL.height) / perTime / perByte;
    const rooms = [];
    for (let box = 0; box < layer.count && rooms.length < LABELS; box += 1) {
      const [left, right] = [Math.max(layer.left[box], view.left), Math.min(layer.right[box], view.right)];
      const [low, high] = [Math.max(layer.low[box], view.low), Math.min(layer.high[box], view.high)];
      if ((layer.right[box] - layer.left[box]) * (layer.high[box] - layer.low[box]) < least) break;
      const width = (right - left) * perTime;
      const height = (high - low) * perByte;
      if (width < LABEL.width || height < LABEL.height) continue;
      rooms.push({ box, x: this.x(left), y: this.y(high) + Math.min(height / 2, 9), width });
    }
    return rooms;
  }

  // A step at each change; those within one column of pixels become one stroke from the least to the most.
  #profile(layer) {
    const { context, view, colours } = this;
    const { time, used } = layer;
    if (!time.length) return;
    let at = Math.max(lowerBound(time, view.left) - 1, 0);
    // If it changes at nearly every pixel, it would cover everything: it is fainter there.
    const changes = lowerBound(time, view.right) - at;
    context.globalAlpha = Math.min(Math.max((3 * this.inside.width) / (10 * Math.max(changes, 1)), 0.25), 1);
    context.strokeStyle = colours.live;
    context.lineWidth = 1.1;
    context.beginPath();
    let before = time[at] > view.left || at === 0 ? 0 : used[at];
    context.moveTo(this.x(time[at]), this.y(before));
    while (at < time.length && time[at] <= view.right) {
      const x = this.x(time[at]);
      let [least, most] = [Math.min(before, used[at]), Math.max(before, used[at])];
      let last = used[at];
      for (at += 1; at < time.length && this.x(time[at]) - x < 0.5; at += 1) {
        last = used[at];
        least = Math.min(least, last);
        most = Math.max(most, last);
      }
      context.lineTo(x, this.y(before));
      if (least < Math.min(before, last)) context.lineTo(x, this.y(least));
      if (most > Math.max(before, last)) context.lineTo(x, this.y(most));
      context.lineTo(x, this.y(last));
      before = last;
    }
    const end = this.x(Math.min(view.right, time[time.length - 1]));
    context.lineTo(end, this.y(before));
    context.stroke();
    if (!layer.count) this.#fillNeeded(end);
    context.globalAlpha = 1;
    context.lineWidth = 1;
  }

  // If nothing fits, there are no boxes: the need is an area below its line, against the end of the pool.
  #fillNeeded(end) {
    const { context, colours } = this;
    context.lineTo(end, this.y(0));
    context.lineTo(this.x(0), this.y(0));
    context.globalAlpha = 0.35;
    context.fillStyle = colours.soft;
    context.fill();
  }

  #limits(layer) {
    const { pool } = layer;
    const lines = [[Number(pool.bound), "bound", [7, 4]]];
    if (pool.size !== null) lines.push([Number(pool.size), "end", [2, 3]]);
    for (const [address, colour, dashes] of lines) {
      if (!address || address < this.view.low || address > this.view.high) continue;
      const y = Math.round(this.y(address)) + 0.5;
      this.context.strokeStyle = this.colours[colour];
      this.context.lineWidth = 1.5;
      this.#line(GUTTER.left, y, GUTTER.left + this.inside.width, y, dashes);
      this.context.lineWidth = 1;
    }
  }
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
