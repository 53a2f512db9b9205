import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import type { Role } from '../api/model';
import { session } from '../session/session.svelte';
import ConstraintsPanel from './ConstraintsPanel.svelte';

it.each<[Role, RegExp]>([
  ['admin', /^Open a delegation to create one\.$/],
  ['viewer', /^Admins create them on the page of a delegation\.$/],
])('tells an %s where pins come from', async (role, said) => {
  session.user = { name: 'ada', role };
  fakeCoordinator({ 'GET /pins': () => ({ items: [], next_cursor: null }) });
  render(ConstraintsPanel, { kind: 'pin' });
  const link = await screen.findByRole('link', { name: 'delegation' });
  expect(link.parentElement?.textContent?.trim().replaceAll(/\s+/g, ' ')).toMatch(said);
});
