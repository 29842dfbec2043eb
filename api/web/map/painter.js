// Draws a map's window on a canvas: boxes and their names, the bytes in use, the bound, the axes.

import { grouped, shortName, visible } from "../text.js";
import { Coverage } from "./coverage.js";
import { drawLine, drawStrip, STRIP } from "./in_use.js";
import { drawLabels } from "./labels.js";
import { SHADES } from "./palette.js";
import { OUTLINED, paint } from "./raster.js";
import { addressLabels, addressTicks, timeTicks } from "./scales.js";

export const GUTTER = { left: 68, right: 12, top: 8, bottom: 24 };
const QUICK = 20; // milliseconds that a frame may take for what is smaller than pixels, while the map moves
const COARSEST = 3; // pixels of the page
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

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
    this.strip = 0;
    this.#makeImage();
  }

  #makeImage() {
    const { width, height } = this.inside;
    const [across, up] = [width, height].map((length) => Math.max(Math.round(length * this.scale), 1));
    this.image = this.context.createImageData(across, up);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.coverages = []; // by the size of their cells in pixels of the page
    this.took = 0; // milliseconds for the last frame that was not coarse
  }

  // Cells of one pixel of the page; while the map moves, of as many as it takes to follow the hand.
  #coverage(isMoving) {
    const size = isMoving ? Math.min(Math.ceil(Math.sqrt(this.took / QUICK)) || 1, COARSEST) : 1;
    const [across, up] = [this.image.width, this.image.height].map((length) => Math.max(Math.ceil(length / (this.scale * size)), 1));
    return (this.coverages[size] ??= new Coverage(across, up, this.scale * size));
  }

  // The upper edge of the map, below the strip with the bytes in use if there is one.
  get top() {
    return GUTTER.top + this.strip;
  }

  get left() {
    return GUTTER.left;
  }

  get inside() {
    return { width: this.width - GUTTER.left - GUTTER.right, height: this.height - this.top - GUTTER.bottom };
  }

  x(time) {
    return GUTTER.left + ((time - this.view.left) / (this.view.right - this.view.left)) * this.inside.width;
  }

  y(address) {
    return this.top + ((this.view.high - address) / (this.view.high - this.view.low)) * this.inside.height;
  }

  // Returns true if it is coarser than it would be at rest.
  draw(data, layer, view, colours, isMoving = false) {
    const { context, scale } = this;
    this.view = view;
    this.colours = colours;
    const strip = layer.isBusy ? STRIP.height + STRIP.gap : 0;
    if (strip !== this.strip) {
      this.strip = strip;
      this.#makeImage();
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = colours.page;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const coverage = this.#coverage(isMoving);
    const begun = performance.now();
    const cover = { coverage, tints: colours.tints, moved: colours.movedPixel, shades: SHADES };
    paint(this.pixels, this.image.width, this.image.height, layer, view, colours.boxPixels, colours.fieldPixel, cover);
    const isCoarse = coverage.scale > scale;
    if (!isCoarse) this.took = performance.now() - begun;
    context.putImageData(this.image, Math.round(GUTTER.left * scale), Math.round(this.top * scale));
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = `11px ${FONT}`;
    context.lineWidth = 1;
    this.#axes(data);
    if (strip) drawStrip(this, layer, { left: GUTTER.left, top: GUTTER.top, width: this.inside.width });
    context.save();
    context.beginPath();
    context.rect(GUTTER.left, this.top, this.inside.width, this.inside.height);
    context.clip();
    this.#reserved(layer);
    if (layer.moved) this.#outlines(layer, layer.moved, colours.moved);
    if (layer.wrong) this.#outlines(layer, layer.wrong, colours.wrong);
    if (!strip) drawLine(this, layer);
    drawLabels(this, data, layer);
    this.#limits(layer);
    context.restore();
    return isCoarse;
  }

  #axes(data) {
    const { context, view, colours, inside } = this;
    const bottom = this.top + inside.height;
    context.fillStyle = colours.soft;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const addresses = addressTicks(view.low, view.high, Math.max(inside.height / 46, 2));
    addressLabels(addresses).forEach((said, place) => {
      const y = this.y(addresses[place]);
      context.fillText(said, GUTTER.left - 8, y, GUTTER.left - 10);
      this.line(GUTTER.left - 4, y, GUTTER.left, y, [], colours.soft, 1);
    });
    context.textAlign = "center";
    context.textBaseline = "top";
    const begin = BigInt(data.document.axis.begin);
    const times = timeTicks(begin, view.left, view.right, Math.max(inside.width / (data.steps.size ? 130 : 90), 2)).filter((tick) => Number(tick - begin) <= data.timedEnd);
    const spacing = times.length > 1 ? this.x(Number(times[1] - begin)) - this.x(Number(times[0] - begin)) : inside.width;
    for (const tick of times) {
      const time = Number(tick - begin);
      const x = this.x(time);
      const said = this.#moment(data, tick, time, Math.min(spacing / 2 - 4, x, this.width - x) + spacing / 2 - 6);
      const half = context.measureText(said).width / 2 + 1;
      context.fillText(said, Math.min(Math.max(x, half), this.width - half), bottom + 7);
      this.line(x, bottom, x, bottom + 4, [], colours.soft, 1);
    }
    if (data.untimed.size && view.right > data.timedEnd) {
      context.textAlign = "right";
      context.fillText("without lifetimes, a column each", this.width - GUTTER.right, bottom + 7);
    }
  }

  // A time, and in the room beside it the name of what happens then, if any.
  #moment(data, tick, time, room) {
    const said = grouped(tick);
    const happens = data.steps.get(time);
    if (happens === undefined) return said;
    const name = visible(happens);
    const measured = (text) => this.context.measureText(text).width;
    const letters = Math.floor((room - measured(`${said} `)) / (measured(name) / name.length));
    return `${said} ${shortName(name, letters)}`.trimEnd();
  }

  line(x1, y1, x2, y2, dashes, colour, width) {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dashes);
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
    context.setLineDash([]);
    context.lineWidth = 1;
  }

  #reserved(layer) {
    this.context.fillStyle = this.colours.rule;
    for (const [start, end] of layer.pool.reserved) {
      const [top, bottom] = [this.y(Number(end)), this.y(Number(start))];
      this.context.fillRect(GUTTER.left, top, this.inside.width, bottom - top);
    }
  }

  // Outlines in a colour around the boxes that are marked.
  #outlines({ count, left, right, low, high }, marked, colour) {
    const { context, view } = this;
    context.beginPath();
    for (let box = 0; box < count; box += 1) {
      if (!marked[box] || right[box] <= view.left || left[box] >= view.right || high[box] <= view.low || low[box] >= view.high) continue;
      const [x, y] = [this.x(left[box]), this.y(high[box])];
      const [across, up] = [this.x(right[box]) - x, this.y(low[box]) - y];
      if (Math.min(across, up) >= OUTLINED) context.rect(x + 0.5, y + 0.5, across - 2, up - 2);
    }
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.stroke();
    context.lineWidth = 1;
  }

  #limits(layer) {
    const { pool } = layer;
    const lines = [[Number(pool.bound), "bound", [7, 4]]];
    if (pool.size !== null) lines.push([Number(pool.size), "end", [2, 3]]);
    for (const [address, colour, dashes] of lines) {
      if (!address || address < this.view.low || address > this.view.high) continue;
      const y = Math.round(this.y(address)) + 0.5;
      this.line(GUTTER.left, y, GUTTER.left + this.inside.width, y, dashes, this.colours[colour], 1.5);
    }
  }
}
