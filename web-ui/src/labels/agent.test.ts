import { expect, test } from 'vitest';
import { actionsIn, bulkActionsOf, clockOff, reportLevelName } from './agent';

test('several agents are offered the actions that one of them allows', () => {
  expect(bulkActionsOf([])).toEqual([]);
  expect(bulkActionsOf([{ state: 'revoked' }])).toEqual([]);
  expect(bulkActionsOf([{ state: 'paused' }, { state: 'pending' }, { state: 'paused' }])).toEqual([
    'approve',
    'resume',
  ]);
});

test('an agent that leaves is not resumed', () => {
  const leaving = { state: 'paused', leaving_at: '2026-11-20T12:00:00Z' } as const;
  expect(actionsIn(leaving)).toEqual(['revoke']);
});

test('a wrong clock is behind or ahead', () => {
  expect(clockOff(-7_800)).toBe('2 h 10 min behind');
  expect(clockOff(660)).toBe('11 min ahead');
});

test('reports are checked only while the agent works', () => {
  expect(reportLevelName('new', true)).toBe(
    'New: the delegation searches that it wins are checked',
  );
  expect(reportLevelName('new', false)).toBe('New');
  expect(reportLevelName('forging', true)).toBe('Its reports are forged');
});
