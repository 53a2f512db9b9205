import { describe, expect, it } from 'vitest';
import type { Progress } from '../api/model';
import { endOf, reasonOf } from './progress';

const now = Date.UTC(2026, 0, 1);
const shrinking: Progress = {
  state: 'shrinking',
  fetched: 12_000,
  queued: 500,
  fetches_per_s: 2.5,
  queue_growth_per_s: -1,
  expected_end: new Date(now + 7_500_000).toISOString(),
};

describe('the progress of a crawl', () => {
  it('names the expected end', () => {
    expect(endOf(shrinking, now)).toBe('in 2 h 5 min');
    expect(reasonOf(shrinking)).toBe('500 URLs wait, 2.5 fetches a second');
  });

  it('promises nothing while the queue grows', () => {
    const growing: Progress = { ...shrinking, state: 'growing', expected_end: null };
    expect(endOf(growing, now)).toBe('not in sight');
    expect(reasonOf(growing)).toBe('500 URLs wait; as many are found as fetched');
  });
});
