import { render, screen, within } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { TrailProbe } from '../api/model';
import ProbeTable from './ProbeTable.svelte';

function probe(order: number, change: Partial<TrailProbe>): TrailProbe {
  return {
    id: `prb_${order}`,
    order,
    agent: { id: `agt_${order}`, name: `agent-${order}` },
    phase: 'sibling',
    level: '60.0.0.0/8',
    method: 'icmp',
    rtt_ms: 80,
    samples: 3,
    threshold_ms: 50,
    expected_ms: null,
    deviation_ms: null,
    probability: null,
    verdict: 'too_slow',
    chosen: false,
    asked_at: '2026-11-20T12:00:00Z',
    answered_at: '2026-11-20T12:00:01Z',
    error: null,
    ...change,
  };
}

it('tells every probe in the order of asking, by stages, and marks the one that decided', () => {
  const probes = [
    probe(1, { phase: 'company', level: null }),
    probe(2, {
      rtt_ms: null,
      samples: null,
      method: null,
      verdict: 'unreachable',
      error: 'no route',
    }),
    probe(3, { rtt_ms: 12.34, verdict: 'satisfies', chosen: true }),
  ];
  const { container } = render(ProbeTable, { probes, threshold: 50 });

  const stages = [...container.querySelectorAll('tr.stage')].map((row) => row.textContent?.trim());
  expect(stages).toEqual([
    'Agents of the same company',
    'Agents of neighbouring subnets, under 60.0.0.0/8',
  ]);
  const said = [...container.querySelectorAll('tr.probe')].map((row) =>
    [...row.children].map((cell) => cell.textContent?.trim().replaceAll(/\s+/g, ' ')),
  );
  expect(said.map((cells) => cells.slice(0, 3))).toEqual([
    ['1', 'agent-1', '80 ms'],
    ['2', 'agent-2', '–'],
    ['3', 'agent-3 Chosen', '12.3 ms'],
  ]);
  expect(said.map((cells) => cells[4])).toEqual(['Too slow', 'No answer no route', 'Good enough']);
  const chosen = container.querySelector<HTMLElement>('tr.chosen');
  expect(chosen && within(chosen).getByText('Chosen')).toBeTruthy();
  expect(screen.getByRole('table').querySelector('caption')?.textContent).toContain('50 ms');
});

it('draws no threshold for a search that does not stop at one', () => {
  const probes = [probe(1, { verdict: 'measured', threshold_ms: 50 })];
  const { container } = render(ProbeTable, { probes, threshold: null });
  expect(container.querySelector('caption')?.textContent).not.toContain('threshold');
  expect(container.querySelector('.limit')).toBeNull();
  expect(container.querySelector('.bar.good')).toBeNull();
});

it('marks no agent where no search chose it', () => {
  const probes = [probe(1, { chosen: true })];
  const { container } = render(ProbeTable, { probes, threshold: 50, decided: false });
  expect(container.querySelector('.chosen')).toBeNull();
  expect(screen.queryByText('Chosen')).toBeNull();
});

it('shows what was expected of a predicted probe, and how certain that was', () => {
  const predicted = { phase: 'predicted', expected_ms: 14, deviation_ms: 3 } as const;
  const probes = [
    probe(1, { ...predicted, probability: 0.91 }),
    probe(2, { ...predicted, probability: 0.002 }),
  ];
  const { container } = render(ProbeTable, { probes, threshold: null });
  const times = [...container.querySelectorAll('td.time')].map((cell) =>
    cell.textContent?.trim().replaceAll(/\s+/g, ' '),
  );
  expect(times).toEqual([
    '80 ms 14 ms ± 3 ms expected 91 % likely nearest',
    '80 ms 14 ms ± 3 ms expected < 1 % likely nearer',
  ]);
});
