/** Sums over the days of a time series, by the calendar in UTC. Pure. */
import type { Series } from '../api/model';

interface Sums {
  pages: number;
  fetches: number;
  fetched_bytes: number;
  shipped_bytes: number;
}

/** What happened on the day of `now`, and in its month. */
export function todayAndMonth(series: Series, now: number): { today: Sums; month: Sums } {
  const date = new Date(now).toISOString();
  return { today: sums(series, date.slice(0, 10)), month: sums(series, date.slice(0, 7)) };
}

function sums(series: Series, begin: string): Sums {
  const all: Sums = { pages: 0, fetches: 0, fetched_bytes: 0, shipped_bytes: 0 };
  for (const bucket of series.buckets) {
    if (!bucket.start.startsWith(begin)) continue;
    all.pages += bucket.pages;
    all.fetches += bucket.fetches;
    all.fetched_bytes += bucket.fetched_bytes;
    all.shipped_bytes += bucket.shipped_bytes;
  }
  return all;
}
