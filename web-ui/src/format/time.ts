/** Times as people read them: relative in the text, exact in UTC behind it. */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** The exact time in UTC: `2026-11-20 15:43:12 UTC`. What is not a time is returned as it came. */
export function exact(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** The date alone, in UTC: `2026-11-20`. */
export function date(iso: string): string {
  return exact(iso).slice(0, 10);
}

/** How long, in the one or two largest units: `4 min`, `2 h 5 min`, `3 d 4 h`. Negative counts as none. */
export function duration(ms: number): string {
  const span = Math.max(0, ms);
  if (span < minute) return `${Math.floor(span / second)} s`;
  if (span < hour) return `${Math.floor(span / minute)} min`;
  if (span < day) return twoUnits(span, hour, 'h', minute, 'min');
  return twoUnits(span, day, 'd', hour, 'h');
}

function twoUnits(span: number, large: number, name: string, small: number, rest: string): string {
  const first = Math.floor(span / large);
  const second = Math.floor((span % large) / small);
  return second === 0 ? `${first} ${name}` : `${first} ${name} ${second} ${rest}`;
}

/** A time seen from `now`: `just now`, `4 min ago`, `in 2 h 5 min`; beyond thirty days the date. */
export function relative(iso: string, now: number): string {
  const at = new Date(iso).getTime();
  if (Number.isNaN(at)) return iso;
  const passed = now - at;
  if (Math.abs(passed) >= 30 * day) return date(iso);
  if (Math.abs(passed) < 5 * second) return 'just now';
  return passed > 0 ? `${duration(passed)} ago` : `in ${duration(-passed)}`;
}

/** The day (UTC) that was so many days before `now`, as a date. */
export function dayAgo(days: number, now: number): string {
  return new Date(now - days * 86_400_000).toISOString().slice(0, 10);
}
