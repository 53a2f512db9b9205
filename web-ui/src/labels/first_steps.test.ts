import { expect, test } from 'vitest';
import type { Overview } from '../api/model';
import { firstSteps } from './first_steps';

const nothing = {
  generation: null,
  agents: { approved: 0 },
  hosts: { known: 0 },
  pages: { indexed: 0 },
} as Overview;

test('a new coordinator has all steps before it', () => {
  expect(firstSteps(nothing).map(({ isDone }) => isDone)).toEqual([false, false, false, false]);
});

test('steps are done in any order, and end with the first page', () => {
  const seeded = { ...nothing, hosts: { known: 3 } } as Overview;
  expect(firstSteps(seeded).map(({ isDone }) => isDone)).toEqual([false, false, true, false]);
  expect(firstSteps({ ...nothing, pages: { indexed: 1 } } as Overview)).toEqual([]);
});
