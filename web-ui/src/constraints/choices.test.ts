import { expect, it } from 'vitest';
import { choicesOf } from './choices';

const listed = (id: string) => ({ id, name: id, state: 'approved' as const });
const measured = (id: string) => ({
  agent: { id, name: id },
  state: 'approved' as const,
  subnets: 1,
  median_ms: 7,
});
const everyone = () => true;

it('offers the nearest agents also where the list ends before them', () => {
  const { nearest, others } = choicesOf({
    measured: [measured('far-down'), measured('a')],
    found: [listed('a'), listed('b')],
    text: '',
    may: everyone,
  });
  expect(nearest.map(({ agent }) => agent.id)).toEqual(['far-down', 'a']);
  expect(others.map(({ id }) => id)).toEqual(['b']);
});

it('offers what was looked for, and nobody who may not be chosen', () => {
  const { nearest, others } = choicesOf({
    measured: [measured('other'), measured('cape-1'), measured('cape-2')],
    found: [listed('cape-1'), listed('cape-2'), listed('cape-3')],
    text: 'cape',
    may: ({ id }) => id !== 'cape-2',
  });
  expect(nearest.map(({ agent }) => agent.id)).toEqual(['cape-1']);
  expect(others.map(({ id }) => id)).toEqual(['cape-3']);
});
