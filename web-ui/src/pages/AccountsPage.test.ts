import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import { session } from '../session/session.svelte';
import AccountsPage from './AccountsPage.svelte';

const account = (nth: number, name: string) => ({
  id: `acc_${nth}`,
  name,
  role: 'admin',
  last_seen_at: null,
  created_at: '2026-11-20T12:00:00Z',
});
const inDialog = { hidden: true };

async function open() {
  session.user = { name: 'ada', role: 'admin' };
  fakeCoordinator({
    'GET /accounts': () => ({ items: [account(1, 'ada'), account(2, 'bob')], next_cursor: null }),
    'GET /api-tokens': () => ({ items: [], next_cursor: null }),
  });
  render(AccountsPage);
  await screen.findByRole('button', { name: 'Remove bob' });
}

it('marks the account of the person who is signed in', async () => {
  await open();
  const names = screen.getAllByRole('rowheader').map((cell) => cell.textContent);
  expect(names.map((name) => name?.includes('(you)'))).toEqual([true, false]);
});

it.each(['Remove', 'Make viewer:', 'New password of'])(
  'says before “%s” whose account it is',
  async (action) => {
    await open();
    for (const [name, own] of [
      ['bob', 0],
      ['ada', 1],
    ] as const) {
      await fireEvent.click(screen.getByRole('button', { name: `${action} ${name}` }));
      expect(screen.queryAllByText(/^This is your own account/)).toHaveLength(own);
      await fireEvent.click(screen.getByRole('button', { name: 'Cancel', ...inDialog }));
    }
  },
);

it('shows a new password while the person wants to see it', async () => {
  await open();
  await fireEvent.click(screen.getByRole('button', { name: 'New account' }));
  const field = screen.getByLabelText<HTMLInputElement>('First password');
  await fireEvent.input(field, { target: { value: 'four random words' } });
  expect(field.type).toBe('password');
  await fireEvent.click(screen.getByRole('checkbox', { name: 'Show password', ...inDialog }));
  expect([field.type, field.value]).toEqual(['text', 'four random words']);
});

it.each([
  [false, 0],
  [true, 1],
])('asks whether a new own password revokes the API tokens: %s', async (revokes, clicks) => {
  await open();
  const calls = fakeCoordinator({
    'PUT /session/password': () => new Response(null, { status: 204 }),
  });
  await fireEvent.click(screen.getByRole('button', { name: 'Change my password' }));
  const texts = { 'Present password': 'three random words', 'New password': 'four random words' };
  for (const [label, value] of Object.entries(texts)) {
    await fireEvent.input(screen.getByLabelText(label), { target: { value } });
  }
  const box = screen.getByRole('checkbox', { name: 'Revoke my API tokens as well', ...inDialog });
  for (let click = 0; click < clicks; click++) await fireEvent.click(box);
  await fireEvent.click(screen.getByRole('button', { name: 'Set password', ...inDialog }));
  const body = {
    current: texts['Present password'],
    new: texts['New password'],
    revoke_api_tokens: revokes,
  };
  await expect.poll(() => calls.map((call) => call.body)).toEqual([body]);
});
