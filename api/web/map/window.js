// The part of time and address that a map shows: zooming and moving it within the limits.

import { spacing } from "./scales.js";

const LEAST_SPACINGS = 2048; // what is rounded is off by less than a pixel
const LEAST_TIME = 2;
const LEAST_BYTES = 16;

export class MapWindow extends EventTarget {
  constructor(right, top) {
    super();
    this.full = { left: 0, right, low: 0, high: top };
    this.now = { ...this.full };
  }

  get isFull() {
    return Object.entries(this.full).every(([edge, value]) => this.now[edge] === value);
  }

  // Sets another extent; the window stays if it did not show all. Quietly: other maps have extents of their own.
  extend(right, top) {
    const wasFull = this.isFull;
    this.full = { left: 0, right, low: 0, high: top };
    this.set(wasFull ? this.full : this.now, true);
  }

  // `quietly`: no other map moves along.
  set({ left, right, low, high }, quietly = false) {
    const { full } = this;
    [left, right] = within(left, right, full.left, full.right, Math.max(LEAST_TIME, LEAST_SPACINGS * spacing(full.right)));
    [low, high] = within(low, high, full.low, full.high, Math.max(LEAST_BYTES, LEAST_SPACINGS * spacing(full.high)));
    this.now = { left, right, low, high };
    this.dispatchEvent(new CustomEvent("change", { detail: { quietly } }));
  }

  fit() {
    this.set(this.full);
  }

  // Factors below 1 zoom in; the point at these shares of width and height stays in place.
  zoom(timeFactor, addressFactor, x = 0.5, y = 0.5) {
    const { left, right, low, high } = this.now;
    const time = left + (right - left) * x;
    const address = low + (high - low) * y;
    this.set({
      left: time - (time - left) * timeFactor,
      right: time + (right - time) * timeFactor,
      low: address - (address - low) * addressFactor,
      high: address + (high - address) * addressFactor,
    });
  }

  // Moves by shares of the window.
  move(x, y) {
    const { left, right, low, high } = this.now;
    const time = (right - left) * x;
    const address = (high - low) * y;
    this.set({ left: left + time, right: right + time, low: low + address, high: high + address });
  }

  // Centres a box, with its surroundings.
  show(left, right, low, high) {
    const time = Math.max(right - left, LEAST_TIME);
    const address = Math.max(high - low, LEAST_BYTES);
    this.set({ left: left - time, right: right + time, low: low - address, high: high + address });
  }
}

function within(low, high, least, most, smallest) {
  const span = Math.min(Math.max(high - low, smallest), most - least);
  const middle = (low + high) / 2;
  const start = Math.min(Math.max(high - low < smallest ? middle - span / 2 : low, least), most - span);
  return [start, start + span];
}
