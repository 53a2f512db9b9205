import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { fakeCoordinator, refusal, type Call } from '../api/fake';
import JoinRequests from '../joining/JoinRequests.svelte';
import { session } from '../session/session.svelte';

const request = (nth: number, state: string) => ({
  id: `jrq_${nth}`,
  name: `Partner ${nth}`,
  contact: 'a@example.org',
  place: '',
  spans: [],
  zone: 'UTC',
  message: '',
  state,
  agent: null,
  opened_at: null,
});
const parts: Record<string, object> = {
  '': { items: [request(9, 'waiting'), request(8, 'declined')], next_cursor: 'c2' },
  c2: { items: [request(2, 'declined'), request(1, 'waiting')], next_cursor: null },
};
const waiting = { items: [request(9, 'waiting'), request(1, 'waiting')], next_cursor: null };
const names = () => screen.getAllByRole('rowheader').map((cell) => cell.firstChild?.textContent);

it('shows requests that wait first, and the rest of the list when it is asked for', async () => {
  session.user = { name: 'admin', role: 'admin' };
  fakeCoordinator({
    'GET /join-requests': ({ query }: Call) =>
      query.get('state') === 'waiting' ? waiting : parts[query.get('cursor') ?? ''],
  });
  render(JoinRequests);
  await screen.findByRole('button', { name: 'Accept Partner 1' });
  expect(names().map((name) => name?.trim())).toEqual(['Partner 9', 'Partner 1', 'Partner 8']);
  await fireEvent.click(screen.getByRole('button', { name: 'Show more join requests' }));
  await screen.findByText(/Partner 2/);
  expect(names()).toHaveLength(4);
  expect(screen.queryByRole('button', { name: 'Show more join requests' })).toBeNull();
});

it('keeps what it shows when more cannot be loaded', async () => {
  session.user = { name: 'admin', role: 'admin' };
  fakeCoordinator({
    'GET /join-requests': ({ query }: Call) =>
      query.get('state') === 'waiting'
        ? waiting
        : query.has('cursor')
          ? refusal(503, 'The database is away.')
          : parts[''],
  });
  render(JoinRequests);
  await fireEvent.click(await screen.findByRole('button', { name: 'Show more join requests' }));
  await screen.findByText('The join requests could not be loaded');
  expect(names()).toHaveLength(3);
});
