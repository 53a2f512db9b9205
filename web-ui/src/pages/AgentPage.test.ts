import { render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import { bucketOf } from '../charts/fake';
import AgentPage from './AgentPage.svelte';

// The tests have no canvas.
vi.mock('../charts/TimeChart.svelte', () => ({ default: () => {} }));

const bucket = bucketOf('2026-11-20T12:00:00Z');
const agent = {
  id: 'agt_1',
  name: 'cape',
  presence: 'awake',
  capacity_pages_per_day: 100,
  spans: [],
  zone: 'UTC',
  clock_off_s: null,
  latitude: null,
  delegations: 0,
  drain: null,
  reports: { level: 'new', finding: null, contradictions: [], examinations_judged: 0 },
};

it.each([
  ['approved', 1, 'New: the delegation searches that it wins are checked'],
  ['revoked', 0, 'New'],
])('says when an agent that is %s works, and who changed it', async (state, times, trust) => {
  fakeCoordinator({
    'GET /agents/agt_1': () => ({ ...agent, state }),
    'GET /series': () => ({ step: 'minute', step_s: 60, buckets: [bucket] }),
  });
  render(AgentPage, { id: 'agt_1' });
  const link = await screen.findByRole('link', { name: 'Show in the audit log' });
  expect(link.getAttribute('href')).toBe('/audit?subject=agt_1');
  await screen.findByRole('button', { name: 'Show as a table' });
  expect(screen.queryAllByText(/^It may work/)).toHaveLength(times);
  screen.getByText(trust);
});
