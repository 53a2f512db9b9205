import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import ExplanationPage from './ExplanationPage.svelte';

const explanation = {
  delegation: {
    id: 'dlg_1',
    subnet: '41.0.0.0/16',
    agent: { id: 'agt_1', name: 'agent-1' },
    reason: 'pinned',
    rtt_ms: null,
    fencing_number: 4,
    ended_at: null,
  },
  target: { address: null, host: null },
  chain: [],
  threshold_ms: null,
  strategy: 'threshold',
  opened_at: '2026-11-01T12:00:00Z',
  decided_at: '2026-11-20T12:00:00Z',
  skipped: [],
  trail: [],
  summary: 'An admin pinned the subnet to agent-1.',
};

it.each([
  ['how long a search took', 3_240, 'after 3.24 s'],
  ['no duration where no search decided', null, undefined],
])('shows %s', async (_, took_ms, said) => {
  fakeCoordinator({ 'GET /delegations/dlg_1/explanation': () => ({ ...explanation, took_ms }) });
  render(ExplanationPage, { id: 'dlg_1' });
  await screen.findByText(explanation.summary);
  expect(screen.queryByText(/^after /)?.textContent).toBe(said);
});

it('shows the fencing number of the delegation', async () => {
  fakeCoordinator({ 'GET /delegations/dlg_1/explanation': () => explanation });
  render(ExplanationPage, { id: 'dlg_1' });
  const name = await screen.findByText('Fencing number');
  expect(name.nextElementSibling?.textContent).toBe('4');
  expect(screen.queryByText('Generation')).toBeNull();
});

it.each([
  ['pinned', 0],
  ['predicted', 1],
])('marks the agent of a delegation that is %s as chosen %i times', async (reason, times) => {
  const probe = {
    id: 'prb_1',
    order: 1,
    agent: { id: 'agt_1', name: 'agent-1' },
    phase: 'predicted',
    verdict: 'measured',
    rtt_ms: 12,
    expected_ms: null,
    probability: null,
    samples: 3,
    chosen: true,
    asked_at: '2026-11-20T12:00:00Z',
  };
  const delegation = { ...explanation.delegation, reason };
  fakeCoordinator({
    'GET /delegations/dlg_1/explanation': () => ({ ...explanation, delegation, trail: [probe] }),
  });
  render(ExplanationPage, { id: 'dlg_1' });
  await screen.findByText(/^1 probe,/);
  expect(screen.queryAllByText('Chosen')).toHaveLength(times);
  expect(screen.queryAllByText(/of an earlier search/)).toHaveLength(1 - times);
});

it('says of an ended delegation that its summary is about the time of the decision', async () => {
  const delegation = { ...explanation.delegation, ended_at: '2026-11-21T12:00:00Z' };
  fakeCoordinator({
    'GET /delegations/dlg_1/explanation': () => ({ ...explanation, delegation }),
  });
  render(ExplanationPage, { id: 'dlg_1' });
  await screen.findByText('At the time of the decision:');
  const now = screen.getByRole('link', { name: 'Show which agent crawls 41.0.0.0/16 now' });
  expect(now.getAttribute('href')).toBe('/inspector?q=41.0.0.0%2F16');
});
