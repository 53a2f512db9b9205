import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { ReportTrust } from '../api/model';
import ReportsPanel from './ReportsPanel.svelte';

const contradicted = (id: string, name: string, judged_at: string) => ({
  reported_ms: 2,
  least_ms: 14,
  target: '192.0.2.1',
  witness: { id, name },
  witness_ms: 20,
  apart_ms: 6,
  judged_at,
});
const reports = {
  level: 'doubted',
  finding: null,
  examinations_judged: 0,
  contradictions: [
    contradicted('agt_2', 'cape', '2025-11-19T12:00:00Z'),
    contradicted('agt_3', 'nile', '2025-11-20T12:00:00Z'),
    contradicted('agt_2', 'cape', '2025-11-21T12:00:00Z'),
  ],
} as unknown as ReportTrust;

it('says when a report was contradicted, and by whom', () => {
  render(ReportsPanel, { reports, works: true });
  const lines = screen
    .getAllByRole('listitem')
    .map((line) => line.textContent?.trim().replaceAll(/\s+/g, ' '));
  expect(lines[0]).toBe(
    '2025-11-21: 2 ms to 192.0.2.1, where at least 14 ms are plausible; cape measured 20 ms',
  );
  expect(lines[1]).toContain('nile measured 20 ms');
  const link = screen.getByRole('link', { name: 'nile' });
  expect(link.getAttribute('href')).toBe('/agents/agt_3');
});
