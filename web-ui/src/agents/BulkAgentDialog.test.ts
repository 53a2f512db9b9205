import { render, screen, within } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { Agent } from '../api/model';
import BulkAgentDialog from './BulkAgentDialog.svelte';

const agents = (count: number, state: Agent['state']) =>
  Array.from({ length: count }, (_, nth) => ({
    id: `agt_${nth}`,
    name: `agent-${nth}`,
    state,
    contact: `https://${nth}.example`,
    key_fingerprint: `fingerprint-${nth}`,
  })) as Agent[];
const listed = () =>
  within(screen.getByRole('list', { name: 'Selected agents', hidden: true }))
    .getAllByRole('listitem', { hidden: true })
    .map((item) => item.textContent?.trim().replaceAll(/\s+/g, ' '));
const close = { onclose: () => {}, ondone: () => {} };

it('shows contact and fingerprint of every agent that would be approved', () => {
  render(BulkAgentDialog, { agents: agents(10, 'pending'), action: 'approve', ...close });
  expect(listed()).toHaveLength(10);
  expect(listed().at(-1)).toBe('agent-9 https://9.example fingerprint-9');
});

it('names the first agents that would be paused', () => {
  render(BulkAgentDialog, { agents: agents(10, 'approved'), action: 'pause', ...close });
  expect(listed().at(-1)).toBe('and 2 more');
  expect(listed()[0]).toBe('agent-0');
});
