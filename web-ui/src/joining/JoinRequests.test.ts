import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { fakeCoordinator, refusal } from '../api/fake';
import { session } from '../session/session.svelte';
import JoinRequests from './JoinRequests.svelte';

const accepted = {
  id: 'jrq_1',
  name: 'Library',
  contact: 'a@example.org',
  place: '',
  spans: [],
  zone: 'UTC',
  message: '',
  network: '192.0.2.7',
  state: 'accepted',
  agent: null,
  opened_at: null,
  created_at: '2026-11-20T12:00:00Z',
  decided_at: '2026-11-21T12:00:00Z',
  decided_by: 'ada',
  invitation_expires_at: '2026-12-01T12:00:00Z',
};
const inDialog = { hidden: true };

function open(answers: Record<string, () => unknown>) {
  session.user = { name: 'admin', role: 'admin' };
  const calls = fakeCoordinator({
    'GET /join-requests': () => ({ items: [accepted], next_cursor: null }),
    ...answers,
  });
  render(JoinRequests);
  return () => calls.filter(({ method }) => method === 'POST').map(({ path }) => path);
}

async function press(name: string) {
  await fireEvent.click(await screen.findByRole('button', { name }));
}

async function confirm() {
  const form = document.querySelector('dialog form');
  if (!form) throw new Error('Nothing was asked.');
  await fireEvent.submit(form);
}

it('makes a new link after a question, and shows it once', async () => {
  const made = open({
    'POST /join-requests/jrq_1/accept': () => ({ request: accepted, path: '/invitation#secret' }),
  });
  await press('New link for Library');
  screen.getByText(/Earlier links become worthless/);
  expect(made()).toEqual([]);
  await fireEvent.click(screen.getByRole('button', { name: 'Cancel', ...inDialog }));
  expect(document.querySelector('dialog')).toBeNull();

  await press('New link for Library');
  await confirm();
  await screen.findByText(/\/invitation#secret$/);
  expect(made()).toEqual(['/join-requests/jrq_1/accept']);
  expect(document.querySelectorAll('dialog')).toHaveLength(1);
});

it('declines after a question, which stays while it is refused', async () => {
  const answers = [refusal(409, 'Somebody else decided.'), accepted];
  const made = open({ 'POST /join-requests/jrq_1/decline': () => answers.shift() });
  await press('Decline Library');
  expect(made()).toEqual([]);
  await confirm();
  await screen.findByText('Somebody else decided.');
  await confirm();
  await vi.waitFor(() => expect(document.querySelector('dialog')).toBeNull());
  expect(made()).toHaveLength(2);
});

it.each([
  ['2025-12-01T12:00:00Z', 'link expired 2025-12-01'],
  ['2999-12-01T12:00:00Z', 'link expires 2999-12-01'],
])('says whether the link can still be used', async (invitation_expires_at, said) => {
  const item = { ...accepted, invitation_expires_at };
  open({ 'GET /join-requests': () => ({ items: [item], next_cursor: null }) });
  const line = (await screen.findByText(/^link expire/)).textContent?.replaceAll(/\s+/g, ' ');
  expect(line?.trim()).toBe(said);
  screen.getByText(/^accepted by ada/);
});
