import { expect, it } from 'vitest';
import { savedBy } from './locality';

const nothing = { fetches: 0, spent_s: null, random_s: null, agents_without_place: 0 };

it('says why there is no comparison', () => {
  expect(savedBy(nothing).note).toBe('nothing fetched yet');
  expect(savedBy({ ...nothing, fetches: 7 }).note).toContain('two agents');
  expect(savedBy({ ...nothing, agents_without_place: 1 }).note).toBe('1 agent has no known place');
});

it('compares with random agents', () => {
  const saved = savedBy({ ...nothing, fetches: 7, spent_s: 2, random_s: 5 });
  expect(saved.value).toBe('2.5× less');
  const compared = (spent_s: number, random_s: number) =>
    savedBy({ ...nothing, fetches: 7, spent_s, random_s }).value;
  expect(compared(5, 0)).toBe('more');
  expect(compared(5, 4)).toBe('1.3× more');
  expect(compared(5, 5.1)).toBe('no difference');
});
