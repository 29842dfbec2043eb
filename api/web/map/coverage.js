// Boxes smaller than pixels: how much of each cell they cover, and in which colour, as planner/drawing/coverage.py does it for pictures.
// This runs for every frame, so it makes no objects and goes through memory sequentially.

const NOTHING = 1e-6; // what is covered less is only touched
const SEEN = 1 / 8; // the least share of the cells that a colour gets in which it is
const LEAST = 1 / 4; // the strength of the palest cell, which shows that something is there
export const LEVELS = 16; // of strength
const [NONE, MIXED] = [-1, -2];

export class Coverage {
  // So many cells, each of `scale` pixels.
  constructor(width, height, scale = 1) {
    this.width = width;
    this.height = height;
    this.scale = scale;
    this.changes = new Map(); // by colour: how the covered share of cells changes along both axes
    this.spare = [];
    this.rows = [];
    this.total = new Float64Array(width); // of the row that is painted: how much of each cell is covered,
    this.only = new Int16Array(width); // by which colour,
    this.cells = new Uint32Array(width); // and what it looks like
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

  // Paints every covered cell in `tints[colour][level]`, and all others in the background. Where several colours share cells, each has as many as its share, and
  // some in any case. What was added is forgotten. Row by row, so that what is worked with stays near the processor.
  paint(pixels, across, down, tints, background = 0) {
    const { width, height, scale } = this;
    const colours = [...this.changes.keys()].sort((a, b) => a - b);
    const changes = colours.map((colour) => this.changes.get(colour));
    const shares = colours.map((_, i) => (this.rows[i] ??= new Float64Array(width + 1)).fill(0)); // of each colour in the row
    const tintOf = colours.map((colour) => tints[colour]);
    const { total, only, cells } = this;
    let y = 0;
    for (let row = 0; row < height; row += 1) {
      total.fill(0);
      only.fill(NONE);
      for (let i = 0; i < colours.length; i += 1) addRow(changes[i], row * (width + 1), shares[i], i, total, only);
      const screen = (row & 7) << 3;
      for (let x = 0; x < width; x += 1) {
        let which = only[x];
        if (which === NONE) {
          cells[x] = background;
          continue;
        }
        const sum = total[x];
        if (which === MIXED) which = chosen(shares, x, sum, SCREEN[screen | (x & 7)]);
        cells[x] = tintOf[which][Math.ceil((sum < LEAST ? LEAST : sum > 1 ? 1 : sum) * LEVELS)];
      }
      const begin = y * across;
      for (; y < down && (row + 1 === height || Math.floor(y / scale) <= row); y += 1) {
        if (y * across > begin) pixels.copyWithin(y * across, begin, begin + across);
        else enlarge(cells, width, pixels, begin, across, scale);
      }
    }
    this.spare.push(...changes); // empty but for what lies beyond the right and lower edges, which is never read
    this.changes.clear();
  }
}

// Adds up a row of changes, which becomes empty, to the shares of a colour in the row above; tells which cells one colour covers, and which several.
function addRow(changes, from, shares, colour, total, only) {
  let along = 0;
  for (let x = 0; x < total.length; x += 1) {
    const change = changes[from + x];
    if (change) {
      along += change;
      changes[from + x] = 0;
    }
    const share = (shares[x] += along);
    if (share > NOTHING) {
      total[x] += share;
      only[x] = only[x] === NONE ? colour : MIXED;
    }
  }
}

// A row of cells as pixels, each `scale` wide.
function enlarge(cells, width, pixels, begin, across, scale) {
  if (scale === 1) pixels.set(across === width ? cells : cells.subarray(0, across), begin);
  else for (let x = 0; x < across; x += 1) pixels[begin + x] = cells[Math.min((x / scale) | 0, width - 1)];
}

// The colour in whose part of the whole a threshold from 0 to 1 lies.
function chosen(shares, at, total, threshold) {
  const least = SEEN * total;
  let whole = 0;
  for (let i = 0; i < shares.length; i += 1) {
    const share = shares[i][at];
    if (share > NOTHING) whole += share > least ? share : least;
  }
  const wanted = threshold * whole;
  let reached = 0;
  let last = 0;
  for (let i = 0; i < shares.length; i += 1) {
    const share = shares[i][at];
    if (share <= NOTHING) continue;
    reached += share > least ? share : least;
    last = i;
    if (reached > wanted) return i;
  }
  return last;
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
