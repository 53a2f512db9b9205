import { expect, test } from 'vitest';
import { costOf, durations, expiryAfter, ruleName, scopeName } from './constraints';

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

test('the cost of a change leaves out what was not measured, and says so', () => {
  const costs = { subnets: 9, unmeasured: 0, cost_before_ms: 14_280, cost_after_ms: 900 };
  expect(costOf(costs)).toBe('The cost per day is 14.28 s before and 900 ms after.');
  expect(costOf({ ...costs, unmeasured: 2 })).toBe(
    'The cost per day is 14.28 s before and 900 ms after, without 2 subnets not measured before or after.',
  );
  expect(costOf({ ...costs, unmeasured: 9 })).toBe(
    'No subnet has a known cost both before and after.',
  );
});

test('the scope of a constraint has the name of its country', () => {
  const country = { scope: { country: 'CY' }, scope_text: 'the subnets in CY' };
  expect(scopeName(country)).toBe('the subnets in Cyprus');
  const range = { scope: { range: '41.0.0.0/16' }, scope_text: '41.0.0.0/16' };
  expect(scopeName(range)).toBe('41.0.0.0/16');
});
