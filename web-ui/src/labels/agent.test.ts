import { expect, test } from 'vitest';
import { bulkActionsOf } from './agent';

test('several agents are offered the actions that one of them allows', () => {
  expect(bulkActionsOf([])).toEqual([]);
  expect(bulkActionsOf([{ state: 'revoked' }])).toEqual([]);
  expect(bulkActionsOf([{ state: 'paused' }, { state: 'pending' }, { state: 'paused' }])).toEqual([
    'approve',
    'resume',
  ]);
});
