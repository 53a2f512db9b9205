import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import { toasts } from '../ui/messages.svelte';
import { router } from '../routing/router.svelte';
import ErrorsPage from './ErrorsPage.svelte';

const errorOf = (nth: number) => ({
  host: `hst_${nth}`,
  name: `host-${nth}.example`,
  kind: 'timeout',
  errors: 1,
  agent: { id: 'agt_1', name: 'agent-1' },
  url: `https://host-${nth}.example/`,
  detail: '',
  at: '2026-11-20T12:00:00Z',
});

it.each([
  [499, []],
  [500, ['The file has the first 500 rows.']],
])('says where a file ends before the list does: with %i rows', async (rows, said) => {
  const hosts = Array.from({ length: rows }, (_, nth) => errorOf(nth));
  fakeCoordinator({
    'GET /errors': ({ query }) => ({
      kinds: [],
      agents: [],
      hosts: hosts.slice(0, Number(query.get('limit'))),
    }),
  });
  const saved = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => {});
  render(ErrorsPage);
  await fireEvent.click(screen.getByRole('button', { name: 'Save as CSV' }));
  await screen.findByRole('button', { name: 'Save as CSV' });
  expect(saved).toHaveBeenCalledOnce();
  expect(toasts.list.map(({ text }) => text)).toEqual(said);
});

const agents = Array.from({ length: 10 }, (_, nth) => ({ id: `agt_${nth}`, name: `agent-${nth}` }));

it('shows all agents when they are asked for', async () => {
  fakeCoordinator({
    'GET /agents': () => ({ items: agents, next_cursor: null }),
    'GET /errors': () => ({
      kinds: [{ kind: 'timeout', errors: 10 }],
      agents: agents.map((agent) => ({ agent, errors: 1 })),
      hosts: [],
    }),
  });
  render(ErrorsPage);
  await fireEvent.click(await screen.findByRole('button', { name: 'Show all 10 agents' }));
  screen.getByRole('link', { name: 'agent-9' });
});

it('says which numbers are of the chosen agent, and which of all', async () => {
  fakeCoordinator({
    'GET /agents': () => ({ items: agents, next_cursor: null }),
    'GET /errors': () => ({
      kinds: [{ kind: 'timeout', errors: 1 }],
      agents: [{ agent: agents[7], errors: 1 }],
      hosts: [errorOf(1)],
    }),
  });
  router.go('/errors?agent=agt_7', { replace: true });
  render(ErrorsPage);
  await screen.findByRole('heading', { name: 'By cause, of agent-7' });
  screen.getByRole('columnheader', { name: 'Errors of all agents' });
  screen.getByText(/whose last error agent-7 reported/);
});

it('names the agent of the filter, and keeps the chosen day without it', async () => {
  fakeCoordinator({
    'GET /agents': () => ({ items: agents, next_cursor: null }),
    'GET /errors': () => ({ kinds: [], agents: [], hosts: [] }),
  });
  router.go('/errors?day=2&agent=agt_7', { replace: true });
  render(ErrorsPage);
  await vi.waitFor(() => expect(screen.getByDisplayValue('agent-7')).toBeTruthy());
  screen.getByText(/Numbers are of all agents/);
  const all = screen.getByRole('link', { name: 'Show all errors of this day' });
  expect(all.getAttribute('href')).toBe('/errors?day=2');
});
