import { expect, it } from 'vitest';
import type { Series } from '../api/model';
import { bucketOf } from './fake';
import { todayAndMonth } from './sums';

it('sums today and this month, in UTC', () => {
  const day = (start: string, pages: number) =>
    bucketOf(start, {
      pages,
      fetches: 2 * pages,
      errors: 1,
      fetched_bytes: 1000 * pages,
      shipped_bytes: 100 * pages,
    });
  const series: Series = {
    step: 'day',
    step_s: 86_400,
    buckets: [
      day('2026-10-31T00:00:00.000Z', 9),
      day('2026-11-01T00:00:00.000Z', 5),
      day('2026-11-24T00:00:00.000Z', 3),
    ],
  };
  const { today, month } = todayAndMonth(series, Date.UTC(2026, 10, 24, 0, 30));
  expect(today).toEqual({
    pages: 3,
    fetches: 6,
    fetched_bytes: 3000,
    shipped_bytes: 300,
  });
  expect([month.pages, month.shipped_bytes]).toEqual([8, 800]);
});
