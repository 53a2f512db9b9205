/** Numbers as people read them. One locale throughout, so that screenshots and tests agree. */

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const oneDigit = new Intl.NumberFormat('en', {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const upToTwo = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });

/** A count of things: `12,345`. */
export function count(value: number): string {
  return whole.format(value);
}

/** A count with its noun, in the singular where that is right: `1 agent`, `1,200 agents`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A count that may end at a bound. */
export interface Bounded {
  count: number;
  /** Whether there are more. */
  more: boolean;
}

/** A number that was counted up to 10,001 at most: `10,000+`. */
export function upTo10000(value: number): string {
  return bounded({ count: Math.min(value, 10_000), more: value > 10_000 });
}

/** A count that may end at a bound: `10,000+`. */
export function bounded(value: Bounded): string {
  return value.more ? `${count(value.count)}+` : count(value.count);
}

/** As `counted`, where the count may end at a bound: `500+ packages`. */
export function boundedOf(value: Bounded, one: string, many = `${one}s`): string {
  return value.more ? `${bounded(value)} ${many}` : counted(value.count, one, many);
}

/** A mean or a factor, two digits at most: `2.66`. */
export function decimal(value: number): string {
  return upToTwo.format(value);
}

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** Bytes in decimal units: `1.4 MB`. Bytes themselves have no fraction. */
export function bytes(value: number): string {
  let scaled = value;
  let unit = 0;
  while (scaled >= 999.5 && unit < units.length - 1) {
    scaled /= 1000;
    unit += 1;
  }
  const text = unit === 0 || scaled >= 99.95 ? whole.format(scaled) : oneDigit.format(scaled);
  return `${text} ${units[unit]}`;
}

/** A time in milliseconds, with as many digits as a measurement of that size deserves. */
export function milliseconds(value: number): string {
  if (value >= 1000) return `${upToTwo.format(value / 1000)} s`;
  if (value >= 100) return `${whole.format(value)} ms`;
  if (value >= 1 && !Number.isInteger(value)) return `${oneDigit.format(value)} ms`;
  return `${upToTwo.format(value)} ms`;
}

/** A part of a whole: `34 %`; something that is not nothing never reads as 0 %. */
export function share(part: number, total: number): string {
  if (total <= 0) return '0 %';
  const percent = (100 * part) / total;
  if (percent > 0 && percent < 0.5) return '< 1 %';
  if (percent < 100 && percent > 99.5) return '> 99 %';
  return `${whole.format(percent)} %`;
}

/** How many times smaller `after` is than `before`: `21 : 1`; nothing to compare is a dash. */
export function shrink(before: number, after: number): string {
  if (before <= 0 || after <= 0) return '–';
  const factor = before / after;
  return `${factor >= 10 ? whole.format(factor) : oneDigit.format(factor)} : 1`;
}
