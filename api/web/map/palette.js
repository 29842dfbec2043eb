// The colours of the style sheet for canvases: as CSS writes them, and as pixels.

import { LEVELS } from "./coverage.js";

export const SHADES = 3; // of each colour, to distinguish neighbours
const OPACITY = [1, 0.86, 0.72];
const NAMES = ["field", "ink", "soft", "rule", "live", "bound", "end", "wrong", "accent", "page", "moved"];

export function palette() {
  const probe = document.createElement("span");
  document.body.append(probe);
  const read = (variable) => {
    probe.style.color = `var(--${variable})`;
    return getComputedStyle(probe).color;
  };
  const found = Object.fromEntries(NAMES.map((name) => [name, read(name)]));
  found.kinds = [];
  const field = channels(found.field);
  found.fieldPixel = pixel(field);
  const style = getComputedStyle(document.documentElement);
  let count = 0;
  while (style.getPropertyValue(`--k${count}`)) count += 1;
  found.boxPixels = new Uint32Array(count * SHADES);
  found.boxes = []; // the same in CSS
  for (let colour = 0; colour < count; colour += 1) {
    found.kinds.push(read(`k${colour}`));
    const full = channels(found.kinds[colour]);
    OPACITY.forEach((share, shade) => {
      const mixed = mix(full, field, share);
      found.boxPixels[colour * SHADES + shade] = pixel(mixed);
      found.boxes[colour * SHADES + shade] = `rgb(${mixed})`;
    });
  }
  // Of each colour and of what moved, mixed with the field: how strong a cell is that is partly covered.
  found.movedPixel = pixel(channels(found.moved));
  found.tints = [...found.kinds, found.moved].map((colour) =>
    Uint32Array.from({ length: LEVELS + 1 }, (_, level) => pixel(mix(channels(colour), field, level / LEVELS))),
  );
  probe.remove();
  return found;
}

function mix(colour, other, share) {
  return colour.map((c, i) => Math.round(c * share + other[i] * (1 - share)));
}

function channels(colour) {
  return colour.match(/[\d.]+/g).slice(0, 3).map(Number);
}

// Four bytes in the order of all current machines: alpha, blue, green, red.
function pixel([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
