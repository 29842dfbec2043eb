// A memory map (memplan-map/1) in columns that are fast to scan: one Layer for each pool.

import { part, visible } from "../text.js";
import { changesOf, OFTEN } from "./in_use.js";
import { SHADES } from "./palette.js";

export class MapData {
  constructor(document) {
    this.document = document;
    this.right = Number(document.axis.right);
    this.timedEnd = Number(document.axis.end);
    this.layers = document.pools.map((pool) => new Layer(document, pool));
    this.#markWrong();
    this.steps = new Map(document.steps.time.map((time, at) => [Number(time), document.steps.name[at]]));
    this.untimed = new Set(document.buffers.untimed);
  }

  // A buffer's short name: without the common beginning, and without operators that TensorFlow fused into the first.
  label(buffer) {
    const { folder } = this.document;
    const [name] = String(this.document.buffers.id[buffer]).split(";");
    return visible(name.startsWith(folder) ? part(name, folder.length) : name);
  }

  // Everything known about a buffer's box, with numbers as exact as they came.
  describe(layer, box) {
    const { buffers, axis, kinds, lifetimes } = this.document;
    const buffer = layer.buffer[box];
    const size = buffers.size[buffer];
    const start = BigInt(axis.begin) + BigInt(layer.pool.boxes.start[box]);
    const end = BigInt(axis.begin) + BigInt(layer.pool.boxes.end[box]);
    const offset = BigInt(layer.pool.boxes.offset[box]);
    return {
      id: buffers.id[buffer],
      size,
      kind: kinds[buffers.kind[buffer]].name,
      alignment: buffers.alignment[buffer],
      pool: layer.pool.name,
      offset,
      end: offset + BigInt(size),
      address: layer.pool.base === null ? null : BigInt(layer.pool.base) + offset,
      life: this.untimed.has(buffer) ? null : lifetimes === "inclusive" ? `[${start}, ${end - 1n}]` : `[${start}, ${end})`,
      steps: end - start,
      begins: this.steps.get(layer.left[box]) ?? null,
    };
  }

  // All buffers whose names contain each of the words: the pool's layer, and the first box. The one of that very name comes first, then the order of pools and of
  // buffers in the problem counts.
  named(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const ids = this.document.buffers.id.map(String);
    const isIt = Uint8Array.from(ids, (id) => (id === text ? 2 : contains(id.toLowerCase(), words) ? 1 : 0));
    const hits = this.layers.flatMap((layer) => layer.firstBoxes((buffer) => isIt[buffer]));
    return [2, 1].flatMap((rank) => hits.filter(([, , buffer]) => isIt[buffer] === rank)).map(([layer, box]) => [layer, box]);
  }

  // Marks the buffers that what is wrong with the plan is about.
  #markWrong() {
    const ids = this.document.buffers.id;
    const named = new Set((this.document.wrong ?? []).flatMap((finding) => finding.buffers.map((id) => JSON.stringify(id))));
    if (named.size) for (const layer of this.layers) layer.wrong = Uint8Array.from(layer.buffer, (buffer) => named.has(JSON.stringify(ids[buffer])));
  }

  // Marks the buffers that lie elsewhere in another plan; null: there is none.
  mark(isMoved) {
    const ids = this.document.buffers.id;
    for (const layer of this.layers) layer.moved = isMoved && Uint8Array.from(layer.buffer, (buffer) => isMoved(JSON.stringify(ids[buffer])));
  }

  // The place of each buffer, for comparing plans: "pool offset" by id.
  places() {
    const found = new Map();
    const ids = this.document.buffers.id;
    for (const layer of this.layers) {
      layer.buffer.forEach((buffer, box) => {
        found.set(JSON.stringify(ids[buffer]), `${layer.pool.boxes.offset[box]} ${layer.pool.name}`);
      });
    }
    return found;
  }
}

const contains = (name, words) => words.every((word) => name.includes(word));

class Layer {
  constructor(document, pool) {
    const { boxes, profile } = pool;
    const { size, kind } = document.buffers;
    this.pool = pool;
    this.count = boxes.buffer.length;
    this.buffer = Uint32Array.from(boxes.buffer);
    this.left = Float64Array.from(boxes.start, Number);
    this.right = Float64Array.from(boxes.end, Number);
    this.low = Float64Array.from(boxes.offset, Number);
    this.high = Float64Array.from(this.low, (low, box) => low + Number(size[boxes.buffer[box]]));
    this.colour = Uint8Array.from(boxes.buffer, (buffer) => document.kinds[kind[buffer]].colour * SHADES + (buffer % SHADES));
    this.time = Float64Array.from(profile.time, Number);
    this.used = Float64Array.from(profile.bytes, Number);
    this.top = Number(pool.top);
    this.isBusy = this.count > 0 && changesOf(this.used) > OFTEN; // a line of the bytes in use would hide the map
    this.moved = null; // of each box, whether it lies elsewhere in another plan
    this.wrong = null; // and whether it is named in what is wrong with the plan
    // For a pool without contents: its greatest need, and whether that is too much.
    this.needed = this.count ? 0 : this.used.reduce((most, each) => Math.max(most, each), 0);
    this.isShort = pool.size !== null && this.needed > Number(pool.size);
    // The largest first: small ones are painted over them, and labels can stop at the first without room.
    const area = Float64Array.from(this.left, (left, box) => (this.right[box] - left) * (this.high[box] - this.low[box]));
    this.order = Uint32Array.from(area, (_, box) => box).sort((a, b) => area[b] - area[a] || a - b);
    this.#sort();
  }

  // Columns in painting order, so that painting goes through memory sequentially.
  #sort() {
    for (const column of ["buffer", "left", "right", "low", "high", "colour"]) {
      this[column] = this[column].map((_, place) => this[column][this.order[place]]);
    }
    const { boxes } = this.pool;
    this.pool.boxes = Object.fromEntries(
      Object.entries(boxes).map(([column, values]) => [column, Array.from(this.order, (box) => values[box])]),
    );
  }

  // The topmost box at a point, otherwise the nearest within reach, or null.
  at(time, address, reachTime, reachAddress) {
    let near = null;
    let nearest = Infinity;
    for (let box = this.count - 1; box >= 0; box -= 1) {
      if (this.left[box] - reachTime > time || this.right[box] + reachTime < time) continue;
      if (this.low[box] - reachAddress > address || this.high[box] + reachAddress < address) continue;
      if (this.left[box] <= time && time < this.right[box] && this.low[box] <= address && address < this.high[box]) return box;
      const x = Math.max(this.left[box] - time, time - this.right[box], 0) / reachTime;
      const y = Math.max(this.low[box] - address, address - this.high[box], 0) / reachAddress;
      if (Math.hypot(x, y) >= nearest) continue;
      nearest = Math.hypot(x, y);
      near = box;
    }
    return near;
  }

  // The first box in time of each of these buffers, in the problem's order: this layer, the box, the buffer.
  firstBoxes(isOne) {
    const found = new Map();
    this.buffer.forEach((buffer, box) => {
      if (isOne(buffer) && !(this.left[found.get(buffer)] <= this.left[box])) found.set(buffer, box);
    });
    return [...found].sort(([a], [b]) => a - b).map(([buffer, box]) => [this, box, buffer]);
  }

  // The next box in time (1), or the one before (-1); without a current one, the first or last.
  beside(box, step) {
    if (!this.count) return null;
    this.inTime ??= Uint32Array.from(this.left, (_, each) => each).sort(
      (a, b) => this.left[a] - this.left[b] || this.low[a] - this.low[b] || a - b,
    );
    const place = box === null ? (step > 0 ? -1 : this.count) : this.inTime.indexOf(box);
    return this.inTime[Math.min(Math.max(place + step, 0), this.count - 1)];
  }
}
