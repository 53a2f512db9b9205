import { expect, test } from 'vitest';
import { durations, expiryAfter, ruleName } from './constraints';

test('every duration is longer than the one before, and the last has no end', () => {
  const lengths = durations.map(([, ms]) => ms);
  expect(lengths.at(-1)).toBe(0);
  const finite = lengths.slice(0, -1);
  expect(finite.toSorted((a, b) => a - b)).toEqual(finite);
});

test('a rule of a newer coordinator is shown as it comes', () => {
  expect(ruleName('optimal')).toBe('Towards the cheapest plan');
  expect(ruleName('tea_leaves')).toBe('tea_leaves');
});

test('a constraint expires after its duration, or never', () => {
  expect(expiryAfter(86_400_000, 0)).toBe('1970-01-02T00:00:00.000Z');
  expect(expiryAfter(0, 0)).toBeNull();
});
