import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import { router } from '../routing/router.svelte';
import HostsPage from './HostsPage.svelte';

it('counts the hosts that seeds named, and leads from them to all hosts', async () => {
  fakeCoordinator({
    'GET /agents': () => ({ items: [], next_cursor: null }),
    'GET /hosts': () => ({
      items: [],
      next_cursor: null,
      counts: { total: { count: 1, more: false }, states: [] },
    }),
  });
  router.go('/hosts?state=failed&seeded=true', { replace: true });
  render(HostsPage);
  const link = await screen.findByRole('link', { name: 'Show others, too' });
  expect(link.closest('p')?.textContent).toMatch(/^1 host that seeds named\s+Show others, too/);
  expect(link.getAttribute('href')).toBe('/hosts?state=failed');
});
