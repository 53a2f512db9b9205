import { afterEach, expect, it } from 'vitest';
import { clock } from './clock.svelte';

afterEach(() => {
  clock.now = Date.now();
});

it('tells which times have passed; one that is not set never does', () => {
  clock.now = Date.UTC(2026, 10, 20, 12);
  const times = ['2026-11-20T11:59:59Z', '2026-11-20T12:00:00Z', '2026-11-20T12:00:01Z', null];
  expect(times.map((time) => clock.isPast(time))).toEqual([true, true, false, false]);
});
