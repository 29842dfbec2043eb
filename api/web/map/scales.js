// Round marks for the axes: addresses in powers of two, everything else in tens.

import { bytes, grouped, UNITS } from "../text.js";

const MOST_TICKS = 100;
const LONG = 1e8; // from here on a number may be shorter as a power of ten
const MOST_COUNTED = 100_000; // in a label there is room for five digits and a unit

// The distance between numbers that can be told apart as far as this one; and between whole ones: above 2^53 more than 1.
export const spacing = (greatest) => 2 ** (Math.floor(Math.log2(Math.max(greatest, 1))) - 52);
const grain = (greatest) => Math.max(spacing(greatest), 1);

export function addressTicks(low, high, most) {
  let step = grain(high);
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

// Marks of whole numbers.
export function plainTicks(low, high, most) {
  return multiples(low, high, round(Math.max((high - low) / most, grain(high))));
}

// The label of each mark, never rounded: 12 345 678, or 1.2345·10⁹ if that is shorter.
export function plainLabels(ticks) {
  return ticks.map((tick) => {
    if (Math.abs(tick) < LONG) return grouped(tick);
    const digits = String(BigInt(Math.abs(tick)));
    const rest = digits.slice(1).replace(/0+$/, "");
    const power = [...String(digits.length - 1)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");
    const said = [grouped(digits), `${digits[0]}${rest && "."}${rest}·10${power}`];
    return (tick < 0 ? "-" : "") + said.reduce((short, other) => (other.length < short.length ? other : short));
  });
}

// Round times between two that are counted from `begin`, as exact integers: at least two, if there are, since one alone tells no scale.
export function timeTicks(begin, low, high, most) {
  const least = round(grain(high));
  const [first, last] = [begin + BigInt(Math.ceil(low)), begin + BigInt(Math.floor(high))];
  for (let step = Math.max(round((high - low) / most), least); ; step = round(step / 2.5)) {
    const ticks = timesBetween(first, last, BigInt(step));
    if (ticks.length > 1 || round(step / 2.5) < least) return ticks;
  }
}

function timesBetween(first, last, step) {
  const ticks = [];
  let tick = first + (((-first % step) + step) % step);
  for (; tick <= last && ticks.length < MOST_TICKS; tick += step) ticks.push(tick);
  return ticks;
}

// The least of 1, 2 and 5 times a power of ten that is not less, or hardly.
function round(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough * 0.999);
}

function multiples(low, high, step) {
  const ticks = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high && ticks.length < MOST_TICKS; tick += step) ticks.push(tick);
  return ticks;
}
