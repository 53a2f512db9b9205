import { render, screen } from '@testing-library/svelte';
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
