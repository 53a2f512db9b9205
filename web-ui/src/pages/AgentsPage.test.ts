import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import { router } from '../routing/router.svelte';
import { session } from '../session/session.svelte';
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

it('is sorted by a choice, too', async () => {
  const calls = fakeCoordinator({});
  router.go('/agents?q=a', { replace: true });
  render(AgentsPage);
  const order = screen.getByLabelText<HTMLSelectElement>('Order');
  expect(order.value).toBe('newest');
  await fireEvent.change(order, { target: { value: 'pages' } });
  expect(router.here).toBe('/agents?sort=pages&q=a');
  await vi.waitFor(() => expect(calls.at(-1)?.query.get('sort')).toBe('pages'));
  await fireEvent.change(order, { target: { value: 'newest' } });
  expect(router.here).toBe('/agents?q=a');
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

const waiting = (nth: number) => ({
  id: `agt_${nth}`,
  name: `agent-${nth}`,
  state: 'pending',
  spans: [],
  zone: 'UTC',
  capacity_pages_per_day: 1,
});

it('says how many more agents wait for approval than it shows', async () => {
  session.user = { name: 'vera', role: 'viewer' };
  fakeCoordinator({
    'GET /agents': ({ query }) =>
      query.get('state') === 'pending'
        ? { items: Array.from({ length: 20 }, (_, nth) => waiting(nth)), total: 27 }
        : { items: [], next_cursor: null, total: 0 },
  });
  router.go('/agents', { replace: true });
  render(AgentsPage);
  await screen.findByText(/^and 7 more\./);
  const all = screen.getByRole('link', { name: 'Show all that wait' });
  expect(all.getAttribute('href')).toBe('/agents?state=pending');
  screen.getByText(/An admin makes a join token/);
});
