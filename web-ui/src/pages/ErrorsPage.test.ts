import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import { toasts } from '../ui/messages.svelte';
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
