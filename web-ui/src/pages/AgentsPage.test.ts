import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import { router } from '../routing/router.svelte';
import { clock } from '../stores/clock.svelte';
import AgentsPage from './AgentsPage.svelte';

it('saves the agents under its filters, in an order that does not move', async () => {
  const calls = fakeCoordinator({
    'GET /agents': () => ({ items: [], next_cursor: null, total: 0 }),
    'GET /join-requests': () => ({ items: [], next_cursor: null }),
    'GET /join-tokens': () => ({ items: [], next_cursor: null }),
  });
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => {});
  router.go('/agents?sort=silent&state=approved', { replace: true });
  render(AgentsPage);
  await fireEvent.click(screen.getByRole('button', { name: 'Save as JSON' }));
  const asked = (limit: string) =>
    calls.find(({ path, query }) => path === '/agents' && query.get('limit') === limit)?.query;
  await vi.waitFor(() => expect(asked('500')?.toString()).toBe('limit=500&state=approved'));
  expect(asked('100')?.get('sort')).toBe('silent');
});

it('loads its lists once, and the agents again every 15 seconds', async () => {
  const calls = fakeCoordinator({
    'GET /agents': () => ({ items: [], next_cursor: null, total: 0 }),
    'GET /join-requests': () => ({ items: [], next_cursor: null }),
    'GET /join-tokens': () => ({ items: [], next_cursor: null }),
  });
  const loads = (limit: string) =>
    calls.filter(({ path, query }) => path === '/agents' && query.get('limit') === limit).length;
  router.go('/agents', { replace: true });
  render(AgentsPage);
  await screen.findByText('No agent has joined yet');
  expect([loads('100'), loads('20')]).toEqual([1, 1]);
  clock.now += 15_000;
  await vi.waitFor(() => expect([loads('100'), loads('20')]).toEqual([2, 1]));
});
