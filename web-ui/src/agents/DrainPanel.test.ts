import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import type { Agent, Drain } from '../api/model';
import { session } from '../session/session.svelte';
import DrainPanel from './DrainPanel.svelte';

const drain: Drain = {
  state: 'draining',
  requested_by: 'ada',
  requested_at: '2026-11-20T12:00:00Z',
  deadline_at: null,
  drained_at: null,
  subnets_at_request: 4,
  hosts_at_request: 8,
};
const agent = { id: 'agt_1', name: 'cape', delegations: 2, hosts: 4, drain } as Agent;

it('changes the deadline of a drain', async () => {
  session.user = { name: 'ada', role: 'admin' };
  const calls = fakeCoordinator({ 'POST /agents/agt_1/drain': () => agent });
  const ondone = vi.fn();
  render(DrainPanel, { agent, drain, ondone });
  await fireEvent.click(screen.getByRole('button', { name: 'Change deadline' }));
  await fireEvent.change(screen.getByLabelText('Deadline, from now'), { target: { value: 3600 } });
  const form = document.querySelector('dialog form');
  if (!form) throw new Error('The dialog has no form.');
  await fireEvent.submit(form);
  await vi.waitFor(() => expect(ondone).toHaveBeenCalledOnce());
  expect(calls.map(({ path, body }) => [path, body])).toEqual([
    ['/agents/agt_1/drain', { deadline_after_s: 3600 }],
  ]);
});

it('lets viewers change nothing', () => {
  session.user = { name: 'vera', role: 'viewer' };
  render(DrainPanel, { agent, drain, ondone: () => {} });
  expect(screen.queryByRole('button')).toBeNull();
});
