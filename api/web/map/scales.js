// Round marks for the axes: addresses in powers of two, everything else in tens.

import { bytes } from "../text.js";

export function addressTicks(low, high, most) {
  let step = 1;
  while ((high - low) / step > most) step *= 2;
  return multiples(low, high, step);
}

// The label of each mark: short if all differ, otherwise the exact address.
export function addressLabels(ticks) {
  const short = ticks.map((tick) => (tick === 0 ? "0" : bytes(tick)));
  return new Set(short).size === ticks.length ? short : ticks.map((tick) => `0x${tick.toString(16)}`);
}

export function plainTicks(low, high, most, least = 0) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max([1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough * 0.999), least);
  return multiples(low, high, step);
}

function multiples(low, high, step) {
  const ticks = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high && ticks.length < 100; tick += step) ticks.push(tick);
  return ticks;
}
