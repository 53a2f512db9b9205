import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import type { Role } from '../api/model';
import { session } from '../session/session.svelte';
import ConstraintsPanel from './ConstraintsPanel.svelte';

it.each<[Role, RegExp]>([
  ['admin', /^Create one for a range above, or on the page of a delegation\.$/],
  ['viewer', /^Admins create them on the page of a delegation\.$/],
])('tells an %s where pins come from', async (role, said) => {
  session.user = { name: 'ada', role };
  fakeCoordinator({ 'GET /pins': () => ({ items: [], next_cursor: null }) });
  render(ConstraintsPanel, { kind: 'pin' });
  const link = await screen.findByRole('link', { name: 'delegation' });
  expect(link.parentElement?.textContent?.trim().replaceAll(/\s+/g, ' ')).toMatch(said);
});

it('leads from a range to its explanation', async () => {
  const pin = { id: 'pin_1', agent: { id: 'agt_1', name: 'agent-1' }, reason: 'contract' };
  const scope = { scope: { range: '41.0.0.0/16' }, scope_text: '41.0.0.0/16' };
  fakeCoordinator({ 'GET /pins': () => ({ items: [{ ...pin, ...scope }], next_cursor: null }) });
  render(ConstraintsPanel, { kind: 'pin' });
  const link = await screen.findByRole('link', { name: '41.0.0.0/16' });
  expect(link.getAttribute('href')).toBe('/inspector?q=41.0.0.0%2F16');
});
