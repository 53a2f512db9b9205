import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { fakeCoordinator, refusal } from '../api/fake';
import FailedPackagesNotice from './FailedPackagesNotice.svelte';

const failed = (nth: number) => ({
  id: `pkg_${nth}`,
  agent: 'agt_1',
  agent_name: 'agent-1',
  error: 'no space left',
  attempts: nth + 1,
  failed_at: '2025-11-20T12:00:00Z',
  retry_at: '2025-11-20T12:10:00Z',
});

it.each([
  ['all', 7, null, '7 packages could not be ingested', 'and 2 more'],
  ['the newest', 500, 'c2', '500+ packages could not be ingested', 'and more'],
])('counts %s of the packages that failed', async (_, count, next_cursor, title, rest) => {
  const calls = fakeCoordinator({
    'GET /failed-packages': () => ({
      items: Array.from({ length: count }, (_, nth) => failed(nth)),
      next_cursor,
    }),
  });
  render(FailedPackagesNotice);
  await screen.findByText(title);
  screen.getByText(rest);
  expect(calls[0]?.query.get('limit')).toBe('500');
});

it('says that the packages could not be loaded', async () => {
  fakeCoordinator({ 'GET /failed-packages': () => refusal(503, 'The database is away.') });
  render(FailedPackagesNotice);
  await screen.findByText('The failed packages could not be loaded');
  screen.getByText('The database is away.');
});

it.each([
  ['2025-11-20T12:10:00Z', /The next is due\./],
  ['2999-11-20T12:10:00Z', /The next is 2999-11-20\./],
])('says what failed and when it is tried again', async (retry_at, next) => {
  fakeCoordinator({
    'GET /failed-packages': () => ({ items: [{ ...failed(1), retry_at }], next_cursor: null }),
  });
  render(FailedPackagesNotice);
  const line = (await screen.findByText(/no space left/)).textContent?.replaceAll(/\s+/g, ' ');
  expect(line).toContain('no space left. 2 attempts failed, the last one 2025-11-20.');
  expect(line).toMatch(next);
});
