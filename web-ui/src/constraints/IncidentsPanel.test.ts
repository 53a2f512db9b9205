import { fireEvent, render, screen, within } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { fakeCoordinator, type Call } from '../api/fake';
import { incidentState } from '../labels/incidents';
import IncidentsPanel from './IncidentsPanel.svelte';

const incident = (id: number, change: object) => ({
  id,
  subnet: `41.${id}.0.0/16`,
  agent: { id: 'agt_1', name: 'cape' },
  slowdown_ratio: 2.64,
  url: null,
  state: 'checking',
  control_agent: null,
  control_before_ms: null,
  control_now_ms: null,
  next_agent: null,
  opened_at: '2025-11-20T12:00:00Z',
  moved_at: null,
  returned_at: null,
  closed_at: null,
  summary: `Incident ${id} in plain sentences.`,
  ...change,
});
const moved = {
  state: 'moved',
  url: 'http://a.example/',
  next_agent: { id: 'agt_2', name: 'nile' },
  control_agent: { id: 'agt_3', name: 'delta' },
  closed_at: '2025-11-21T12:00:00Z',
};
const parts: Record<string, object> = {
  '': { items: [incident(9, {}), incident(8, moved)], next_cursor: '8' },
  '8': { items: [incident(7, { state: 'server' })], next_cursor: null },
};
const cells = () =>
  screen
    .getAllByRole('row')
    .slice(1)
    .map((row) =>
      [...row.children].map((cell) => cell.textContent?.trim().replaceAll(/\s+/g, ' ')),
    );

it('lists what became slower, with its state in words', async () => {
  fakeCoordinator({ 'GET /incidents': ({ query }: Call) => parts[query.get('cursor') ?? ''] });
  render(IncidentsPanel);
  await screen.findByText('Incident 9 in plain sentences.');
  expect(cells()).toEqual([
    [
      '41.9.0.0/16 incident 9',
      'Checking the cause',
      'cape',
      'path, 2.64 times',
      'Incident 9 in plain sentences.',
      '2025-11-20',
    ],
    [
      '41.8.0.0/16 incident 8',
      'Moved',
      'cape moved to nile checked by delta',
      'pages of http://a.example/, 2.64 times',
      'Incident 8 in plain sentences.',
      '2025-11-20 closed 2025-11-21',
    ],
  ]);
  await fireEvent.click(screen.getByRole('button', { name: 'Show more incidents' }));
  await screen.findByText('Slow server');
  expect(cells()).toHaveLength(3);
});

it('leads to the explanation of the subnet and the page, and to the agents', async () => {
  fakeCoordinator({ 'GET /incidents': () => ({ items: [incident(8, moved)], next_cursor: null }) });
  render(IncidentsPanel);
  const row = within((await screen.findByText('41.8.0.0/16')).closest('tr') as HTMLElement);
  const links = row.getAllByRole('link').map((link) => link.getAttribute('href'));
  expect(links).toEqual([
    '/inspector?q=41.8.0.0%2F16',
    '/agents/agt_1',
    '/agents/agt_2',
    '/agents/agt_3',
    '/inspector?q=http%3A%2F%2Fa.example%2F',
  ]);
});

it('says that nothing became slower', async () => {
  fakeCoordinator({ 'GET /incidents': () => ({ items: [], next_cursor: null }) });
  render(IncidentsPanel);
  await screen.findByText('No incidents');
});

it('shows a state of a newer coordinator as it comes', () => {
  expect(incidentState('resting' as 'moved').text).toBe('resting');
});
