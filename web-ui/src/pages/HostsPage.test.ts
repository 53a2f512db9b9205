import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import { router } from '../routing/router.svelte';
import HostsPage from './HostsPage.svelte';

it.each([
  ['seeded=true', ' that seeds named'],
  ['subnet=192.0.2.0%2F24', ' of the subnet 192.0.2.0/24'],
])('counts the hosts of %s, and leads from them to all hosts', async (filter, which) => {
  const calls = fakeCoordinator({
    'GET /agents': () => ({ items: [], next_cursor: null }),
    'GET /hosts': () => ({
      items: [],
      next_cursor: null,
      counts: { total: { count: 1, more: false }, states: [] },
    }),
  });
  router.go(`/hosts?state=failed&${filter}`, { replace: true });
  render(HostsPage);
  const link = await screen.findByRole('link', { name: 'Show others, too' });
  const note = link.closest('p')?.textContent?.replaceAll(/\s+/g, ' ');
  expect(note).toBe(`1 host${which} Show others, too`);
  const asked = calls.find((call) => call.path === '/hosts')?.query.toString();
  expect(asked).toContain(filter);
  expect(link.getAttribute('href')).toBe('/hosts?state=failed');
});
