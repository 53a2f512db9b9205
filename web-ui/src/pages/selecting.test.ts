import { fireEvent, render, screen, within } from '@testing-library/svelte';
import { beforeEach, expect, it, vi } from 'vitest';
import { fakeCoordinator, type Call } from '../api/fake';
import { router } from '../routing/router.svelte';
import { session } from '../session/session.svelte';
import { live } from '../stores/live.svelte';
import AgentsPage from './AgentsPage.svelte';
import DelegationsPage from './DelegationsPage.svelte';

beforeEach(() => {
  session.user = { name: 'admin', role: 'admin' };
});

const agent = (nth: number, state: string) => ({
  id: `agt_${nth}`,
  name: `agent-${nth}`,
  state,
  presence: 'active',
  drain: null,
  delegations: 0,
  pages: 0,
  bytes_fetched: 0,
  bytes_shipped: 0,
});
const delegation = (nth: number, by: { id: string; name: string }) => ({
  id: `dlg_${nth}_${by.id}`,
  subnet: `41.${nth}.0.0/16`,
  agent: by,
  reason: 'nearest',
  probes: 0,
  hosts: 0,
  rtt_ms: null,
  ended_at: null,
});
const list = (items: object[]) => ({ items, next_cursor: null, total: items.length });

/** Agents 1 and 2 on two pages of the list; agent 3, which is revoked, under a filter. */
function agentsOf({ query }: Call) {
  if (query.get('state') === 'pending') return list([]);
  if (query.get('state') === 'revoked') return list([agent(3, 'revoked')]);
  return list([query.get('cursor') === 'c2' ? agent(2, 'paused') : agent(1, 'approved')]);
}

const select = async (name: string) =>
  fireEvent.click(await screen.findByRole('checkbox', { name: `Select ${name}` }));
const bar = () => within(screen.getByRole('toolbar'));
const press = (name: string) => fireEvent.click(bar().getByRole('button', { name }));
const named = () =>
  within(screen.getByRole('list', { name: /^Selected /, hidden: true }))
    .getAllByRole('listitem', { hidden: true })
    .map((item) => item.textContent);

it('acts on the selected agents of all pages and filters', async () => {
  const calls = fakeCoordinator({
    'GET /agents': agentsOf,
    'GET /join-requests': () => list([]),
    'GET /join-tokens': () => list([]),
    'POST /agents/agt_1/pause': () => ({}),
  });
  router.go('/agents', { replace: true });
  render(AgentsPage);
  await select('agent-1');
  router.go('/agents?cursor=c2');
  await select('agent-2');
  router.go('/agents?state=revoked');
  await select('agent-3');
  expect(bar().getByRole('status').textContent).toBe('3 agents selected');
  await press('Pause');
  expect(named()).toEqual(['agent-1']);
  screen.getByText('2 of the selected agents are in a state that does not allow it.');
  await fireEvent.click(screen.getByRole('button', { name: 'Pause 1', hidden: true }));
  await vi.waitFor(() => expect(calls.some(({ method }) => method === 'POST')).toBe(true));
});

it('offers no action that none of the selected agents allows', async () => {
  fakeCoordinator({
    'GET /agents': agentsOf,
    'GET /join-requests': () => list([]),
    'GET /join-tokens': () => list([]),
  });
  router.go('/agents?state=revoked', { replace: true });
  render(AgentsPage);
  await select('agent-3');
  const offered = () =>
    bar()
      .getAllByRole('button')
      .map((button) => button.textContent?.trim());
  expect(offered()).toEqual(['Clear']);
  router.go('/agents?cursor=c2');
  await select('agent-2');
  expect(offered()).toEqual(['Resume', 'Clear']);
});

it('refuses to pin a subnet to the agent that it had when its page was loaded', async () => {
  const now = [delegation(1, agent(1, 'approved')), delegation(2, agent(1, 'approved'))] as const;
  const reassigned = { ...now[0], ended_at: '2026-11-20T12:00:00Z' };
  const calls = fakeCoordinator({
    'GET /agents': () => list([]),
    'GET /delegations': ({ query }) => list([query.get('cursor') === 'c2' ? now[1] : now[0]]),
    [`GET /delegations/${now[0].id}`]: () => reassigned,
    [`GET /delegations/${now[1].id}`]: () => now[1],
    'POST /pins': () => ({}),
  });
  router.go('/delegations', { replace: true });
  render(DelegationsPage);
  await select('41.1.0.0/16');
  router.go('/delegations?cursor=c2');
  await select('41.2.0.0/16');
  await press('Pin');
  const reason = screen.getByLabelText('Reason', { selector: 'input' });
  await fireEvent.input(reason, { target: { value: 'contract' } });
  await fireEvent.click(screen.getByRole('button', { name: 'Pin 2', hidden: true }));
  await screen.findByText('The subnet was reassigned meanwhile. Select it again.');
  const pinned = calls.filter(({ method }) => method === 'POST').map(({ body }) => body);
  expect(pinned).toMatchObject([{ scope: { range: '41.2.0.0/16' }, agent: 'agt_1' }]);
  expect(bar().getByRole('status').textContent).toBe('1 subnet selected');
});

it('acts on the selected subnets of all pages, each with the agent that has it now', async () => {
  const agents = [agent(1, 'approved'), agent(2, 'approved')] as const;
  let owner: { id: string; name: string } = agents[0];
  fakeCoordinator({
    'GET /agents': () => list([...agents]),
    'GET /delegations': ({ query }) =>
      list([query.get('cursor') === 'c2' ? delegation(2, owner) : delegation(1, agents[0])]),
  });
  router.go('/delegations', { replace: true });
  render(DelegationsPage);
  await select('41.1.0.0/16');
  router.go('/delegations?cursor=c2');
  await select('41.2.0.0/16');
  owner = agents[1];
  live.delegations += 1;
  await screen.findByRole('link', { name: 'agent-2' });
  expect(bar().getByRole('status').textContent).toBe('2 subnets selected');
  await press('Pin');
  expect(named()).toEqual(['41.1.0.0/16: agent-1', '41.2.0.0/16: agent-2']);
});

it('selects all rows of the page, and says when only some are selected', async () => {
  fakeCoordinator({
    'GET /agents': ({ query }) =>
      list(query.get('state') === 'pending' ? [] : [agent(1, 'approved'), agent(2, 'paused')]),
    'GET /join-requests': () => list([]),
    'GET /join-tokens': () => list([]),
  });
  router.go('/agents', { replace: true });
  render(AgentsPage);
  await select('agent-1');
  const all = screen.getByLabelText<HTMLInputElement>('Select all agents of this page');
  expect([all.checked, all.indeterminate]).toEqual([false, true]);
  await fireEvent.click(all);
  expect([all.checked, all.indeterminate]).toEqual([true, false]);
  expect(bar().getByRole('status').textContent).toBe('2 agents selected');
  await press('Clear');
  expect(document.activeElement).toBe(all);
});
