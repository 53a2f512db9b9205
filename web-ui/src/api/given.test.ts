import { expect, it } from 'vitest';
import { given } from './given';

it('leaves out what is empty, and nothing else', () => {
  const query = {
    q: '',
    agent: 'agt_1',
    sort: undefined,
    cursor: null,
    days_ago: 0,
    seeded: false,
  };
  expect(Object.entries(given(query))).toEqual([
    ['agent', 'agt_1'],
    ['days_ago', 0],
    ['seeded', false],
  ]);
});
