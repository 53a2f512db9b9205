import { render, screen, within } from '@testing-library/svelte';
import { afterEach, expect, it } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import type { Overview } from '../api/model';
import { live } from '../stores/live.svelte';
import OverviewPage from './OverviewPage.svelte';

const overview = {
  generation: null,
  agents: {
    pending: 0,
    approved: 9,
    paused: 0,
    revoked: 2,
    awake: 4,
    asleep: 3,
    unreachable: 2,
  },
  delegations: { total: 0, provisional: 0, by_reason: {} },
  delegation_searches: { open: 0, decided: 300 },
  probes: { total: 1_000, homes: 90, per_search_mean: null },
  hosts: { known: 10, resolved: 9, delegated: 8, failed: 1 },
  urls: { pending: 0, routed: 0 },
  packages: { received: 0, ingested: 0, bytes: 0, plain_bytes: 0 },
  pages: { ingested: 5, indexed: 5, bytes_fetched: 0 },
  coordinator: { version: '0.1.0', started_at: '2026-11-20T12:00:00Z', rss_bytes: null },
} as unknown as Overview;

afterEach(() => {
  live.overview = undefined;
});

it('shows what its numbers count, with links to the lists that have the same', () => {
  fakeCoordinator({});
  live.overview = overview;
  render(OverviewPage);
  screen.getByText('3.63');
  screen.getByText('1,000 probes in 300 delegation searches, plus 90 of agents’ homes');
  const agents = within(screen.getByRole('list', { name: 'Approved agents by presence' }));
  const links = agents.getAllByRole('link').map((link) => link.getAttribute('href'));
  expect(links).toEqual([
    '/agents?state=approved&presence=awake',
    '/agents?state=approved&presence=asleep',
  ]);
  agents.getByText('Unreachable or not seen yet');
  screen.getByText('Also: 2 revoked or left.');
  screen.getByText('Has an agent');
});
