// Round marks for the axes: addresses in powers of two, everything else in tens.

import { bytes, grouped, UNITS } from "../text.js";

const MOST_COUNTED = 100_000; // in a label there is room for five digits and a unit

export function addressTicks(low, high, most) {
  let step = 1;
  while ((high - low) / step > most) step *= 2;
  return multiples(low, high, step);
}

// The label of each mark, never rounded: short if that is exact, otherwise in the greatest unit of which all are multiples, or in hexadecimal.
export function addressLabels(ticks) {
  const short = ticks.map((tick) => (tick === 0 ? "0" : bytes(tick)));
  if (short.every((text, i) => text === "0" || inBytes(text) === ticks[i])) return short;
  const unit = UNITS.findLastIndex((_, power) => ticks.every((tick) => tick % 1024 ** power === 0));
  const counts = ticks.map((tick) => tick / 1024 ** unit);
  if (Math.max(...counts) < MOST_COUNTED) return counts.map((count) => (count === 0 ? "0" : `${grouped(count)} ${UNITS[unit]}`));
  return ticks.map((tick) => `0x${tick.toString(16)}`);
}

function inBytes(text) {
  const [figure, unit] = text.split(" ");
  return Number(figure) * 1024 ** UNITS.indexOf(unit);
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
