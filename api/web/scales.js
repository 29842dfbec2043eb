// Round marks for the axes: addresses in powers of two, everything else in tens.

export function addressTicks(low, high, most) {
  let step = 1;
  while ((high - low) / step > most) step *= 2;
  return multiples(low, high, step);
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
