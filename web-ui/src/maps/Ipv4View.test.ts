import { render, screen, within } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import Ipv4View from './Ipv4View.svelte';

it('names the agents of a square when the pointer is over it', async () => {
  const agents = Array.from({ length: 10 }, (_, n) => ({
    agent: { id: `agt_${n}`, name: `agent-${n}` },
    addresses: 10 - n,
  }));
  const runs = agents.map((_, agent) => ({ first: agent * 20, cells: 20 - agent, agent }));
  const map = { prefix: '0.0.0.0/0', cell_length: 12, subnets: 10, agents, delegations: [], runs };
  fakeCoordinator({ 'GET /maps/ipv4': () => map });
  render(Ipv4View, { prefix: '' });
  const square = await screen.findByRole('link', { name: 'Enlarge 0.0.0.0/4' });
  expect(square.querySelector('title')?.textContent).toBe(
    'agent-0, agent-1, agent-2, agent-3, agent-4, agent-5, agent-6, agent-7 and 2 more',
  );
  const empty = screen.getByRole('link', { name: 'Enlarge 240.0.0.0/4' });
  expect(empty.querySelector('title')?.textContent).toBe('Nothing is delegated here');
});

it('leads to the subnet of a row itself, and to its agent', async () => {
  const agents = [{ agent: { id: 'agt_3', name: 'agent-3' }, addresses: 256 }];
  const delegations = [{ subnet: '192.0.2.0/24', agent: 0 }];
  const map = {
    prefix: '192.0.2.0/24',
    cell_length: 36,
    subnets: 1,
    agents,
    delegations,
    runs: [],
  };
  fakeCoordinator({ 'GET /maps/ipv4': () => map });
  render(Ipv4View, { prefix: '192.0.2.0/24' });
  const row = within(await screen.findByRole('row', { name: '192.0.2.0/24 agent-3' }));
  const places = row.getAllByRole('link').map((link) => link.getAttribute('href'));
  expect(places).toEqual(['/inspector?q=192.0.2.0%2F24', '/agents/agt_3']);
});
