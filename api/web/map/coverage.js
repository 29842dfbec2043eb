// Boxes smaller than pixels: how much of each cell they cover, and in which colour, as planner/drawing/coverage.py does it for pictures.
// This runs for every frame, so it makes no objects and goes through memory sequentially.

const NOTHING = 1e-6; // what is covered less is only touched
const SEEN = 1 / 8; // the least share of the cells that a colour gets in which it is
const LEAST = 1 / 4; // the strength of the palest cell, which shows that something is there
export const LEVELS = 16; // of strength

export class Coverage {
  // So many cells, each of `scale` pixels.
  constructor(width, height, scale = 1) {
    this.width = width;
    this.height = height;
    this.scale = scale;
    this.changes = new Map(); // by colour: how the covered share of cells changes along both axes
    this.spare = [];
  }

  clear() {
    for (const changes of this.changes.values()) this.spare.push(changes.fill(0));
    this.changes.clear();
  }

  // A box, by its edges in cells.
  add(colour, left, right, upper, lower) {
    let changes = this.changes.get(colour);
    if (changes === undefined) {
      changes = this.spare.pop() ?? new Float64Array((this.width + 1) * (this.height + 1));
      this.changes.set(colour, changes);
    }
    const wide = this.width;
    const high = this.height;
    const from = Math.min(Math.max(left, 0), wide);
    const to = Math.min(Math.max(right, 0), wide);
    const top = Math.min(Math.max(upper, 0), high);
    const bottom = Math.min(Math.max(lower, 0), high);
    const first = Math.min(from | 0, wide - 1);
    const last = Math.min(to | 0, wide - 1);
    const highest = Math.min(top | 0, high - 1);
    const lowest = Math.min(bottom | 0, high - 1);
    if (first === last) this.#columns(changes, first, to - from, from - to, highest, top - highest, lowest, bottom - lowest);
    else {
      this.#columns(changes, first, 1 - from + first, from - first, highest, top - highest, lowest, bottom - lowest);
      this.#columns(changes, last, to - last - 1, last - to, highest, top - highest, lowest, bottom - lowest);
    }
  }

  // How the shares of a column and of the next one change, from an upper row and a part of it to a lower one.
  #columns(changes, column, here, next, highest, above, lowest, below) {
    const wide = this.width + 1;
    const at = highest * wide + column;
    if (highest === lowest) {
      const part = below - above;
      changes[at] += part * here;
      changes[at + 1] += part * next;
      changes[at + wide] -= part * here;
      changes[at + wide + 1] -= part * next;
      return;
    }
    const end = lowest * wide + column;
    changes[at] += (1 - above) * here;
    changes[at + 1] += (1 - above) * next;
    changes[at + wide] += above * here;
    changes[at + wide + 1] += above * next;
    changes[end] -= (1 - below) * here;
    changes[end + 1] -= (1 - below) * next;
    changes[end + wide] -= below * here;
    changes[end + wide + 1] -= below * next;
  }

  // Paints every covered cell in `tints[colour][level]`. Where several colours share cells, each has as many as its share, and some in any case.
  paint(pixels, across, down, tints) {
    const { width, height, scale } = this;
    const colours = [...this.changes.keys()].sort((a, b) => a - b);
    const shares = colours.map((colour) => this.#summed(this.changes.get(colour)));
    const tintOf = colours.map((colour) => tints[colour]);
    const cells = scale === 1 ? pixels : (this.cells ??= new Uint32Array(width * height)).fill(0);
    const count = shares.length;
    for (let y = 0, at = 0; y < height; y += 1, at += 1) {
      for (let x = 0; x < width; x += 1, at += 1) {
        let total = 0;
        let only = -1;
        let mixed = false;
        for (let i = 0; i < count; i += 1) {
          const share = shares[i][at];
          if (share <= NOTHING) continue;
          total += share;
          mixed = only >= 0;
          only = i;
        }
        if (only < 0) continue;
        const which = mixed ? chosen(shares, at, total, SCREEN[((y & 7) << 3) | (x & 7)]) : only;
        cells[y * width + x] = tintOf[which][Math.ceil((total < LEAST ? LEAST : total > 1 ? 1 : total) * LEVELS)];
      }
    }
    if (cells !== pixels) enlarge(cells, width, pixels, across, down, scale);
  }

  // The covered share of each cell, from the changes along both axes.
  #summed(changes) {
    const wide = this.width + 1;
    for (let y = 0; y < this.height; y += 1) {
      let row = 0;
      for (let at = y * wide; at < (y + 1) * wide; at += 1) {
        row += changes[at];
        changes[at] = y ? changes[at - wide] + row : row;
      }
    }
    return changes;
  }
}

// Paints cells that are not empty, each `scale` pixels wide and high.
function enlarge(cells, width, pixels, across, down, scale) {
  const column = Uint32Array.from({ length: across }, (_, x) => Math.min(Math.floor(x / scale), width - 1));
  for (let y = 0; y < down; y += 1) {
    const row = Math.floor(y / scale) * width;
    for (let x = 0; x < across; x += 1) {
      const value = cells[row + column[x]];
      if (value) pixels[y * across + x] = value;
    }
  }
}

// The colour in whose part of the whole a threshold from 0 to 1 lies.
function chosen(shares, at, total, threshold) {
  const weight = (share) => (share[at] > NOTHING ? Math.max(share[at], SEEN * total) : 0);
  const wanted = threshold * shares.reduce((sum, share) => sum + weight(share), 0);
  let reached = 0;
  return shares.findIndex((share) => (reached += weight(share)) > wanted);
}

// Thresholds for 8 x 8 cells, as printers use them: those of neighbours are far apart.
const SCREEN = screen();

function screen() {
  let order = [[0]];
  while (order.length < 8) {
    const [four, size] = [order.map((row) => row.map((each) => 4 * each)), order.length];
    order = Array.from({ length: 2 * size }, (_, y) =>
      Array.from({ length: 2 * size }, (_, x) => four[y % size][x % size] + (y < size ? (x < size ? 0 : 2) : x < size ? 3 : 1)),
    );
  }
  return Float64Array.from(order.flat(), (each) => (each + 0.5) / 64);
}
