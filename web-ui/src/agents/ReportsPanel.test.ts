import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import type { ReportTrust } from '../api/model';
import ReportsPanel from './ReportsPanel.svelte';

const contradicted = (witness: string, judged_at: string) => ({
  reported_ms: 2,
  least_ms: 14,
  target: '192.0.2.1',
  witness,
  witness_ms: 20,
  apart_ms: 6,
  judged_at,
});
const reports = {
  level: 'doubted',
  finding: null,
  examinations_judged: 0,
  contradictions: [
    contradicted('agt_2', '2025-11-19T12:00:00Z'),
    contradicted('agt_3', '2025-11-20T12:00:00Z'),
    contradicted('agt_2', '2025-11-21T12:00:00Z'),
  ],
} as unknown as ReportTrust;

it('says when a report was contradicted, and by whom, by name where that is known', async () => {
  const calls = fakeCoordinator({ 'GET /agents/agt_2': () => ({ id: 'agt_2', name: 'cape' }) });
  render(ReportsPanel, { reports, works: true });
  await screen.findAllByRole('link', { name: 'cape' });
  const lines = screen
    .getAllByRole('listitem')
    .map((line) => line.textContent?.trim().replaceAll(/\s+/g, ' '));
  expect(lines[0]).toBe(
    '2025-11-21: 2 ms to 192.0.2.1, where at least 14 ms are plausible; cape measured 20 ms',
  );
  expect(lines[1]).toContain('agt_3 measured 20 ms');
  const link = screen.getByRole('link', { name: 'agt_3' });
  expect(link.getAttribute('href')).toBe('/agents/agt_3');
  expect(calls.map(({ path }) => path)).toEqual(['/agents/agt_2', '/agents/agt_3']);
});
