import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { fakeCoordinator, refusal } from '../api/fake';
import { session } from '../session/session.svelte';
import HiddenPage from './HiddenPage.svelte';

const hidden = (nth: number, target: string) => ({
  id: `hid_${nth}`,
  kind: 'site',
  target,
  reason: 'a court order',
  hidden_by: 'ada',
  hidden_at: '2026-11-20T10:00:00Z',
});
const inDialog = { hidden: true };

it('hides a site and shows it again', async () => {
  session.user = { name: 'ada', role: 'admin' };
  let items = [hidden(1, 'old.example')];
  const answers = [
    () => refusal(422, 'target: this is neither a domain nor a URL.'),
    () => {
      items = [hidden(2, 'new.example'), ...items];
      return items[0];
    },
  ];
  const calls = fakeCoordinator({
    'GET /hidden': () => ({ items, next_cursor: null }),
    'POST /hidden': () => answers.shift()?.(),
    'DELETE /hidden/hid_1': () => {
      items = items.filter((item) => item.id !== 'hid_1');
      return new Response(null, { status: 204 });
    },
  });
  const { container } = render(HiddenPage);
  await screen.findByRole('button', { name: 'Show again: old.example' });

  await fireEvent.click(screen.getByRole('button', { name: 'Hide a site or page' }));
  const type = (label: string | RegExp, value: string) =>
    fireEvent.input(screen.getByLabelText(label), { target: { value } });
  await type(/^Domain/, ' new.example ');
  await type('Reason', 'a court order');
  const form = container.ownerDocument.querySelector('dialog form');
  if (!form) throw new Error('The dialog has no form.');
  await fireEvent.submit(form);
  await screen.findByText(/neither a domain nor a URL/);
  await fireEvent.submit(form);
  await screen.findByRole('button', { name: 'Show again: new.example', ...inDialog });
  const body = { target: 'new.example', reason: 'a court order' };
  expect(calls.filter(({ method }) => method === 'POST').at(-1)?.body).toEqual(body);
  await vi.waitFor(() => expect(container.querySelector('dialog')).toBeNull());

  await fireEvent.click(screen.getByRole('button', { name: 'Show again: old.example' }));
  await screen.findByText(/a court order”/);
  const question = container.ownerDocument.querySelector('dialog form');
  if (!question) throw new Error('Nothing was asked.');
  await fireEvent.submit(question);
  await vi.waitFor(() => expect(screen.queryByText('old.example')).toBeNull());
});

it('lets viewers read and change nothing', async () => {
  session.user = { name: 'vera', role: 'viewer' };
  fakeCoordinator({
    'GET /hidden': () => ({ items: [hidden(1, 'old.example')], next_cursor: null }),
  });
  render(HiddenPage);
  await screen.findByText('old.example');
  expect(screen.queryByRole('button', { name: /Hide|again/ })).toBeNull();
});

it('says that nothing is hidden', async () => {
  session.user = { name: 'vera', role: 'viewer' };
  fakeCoordinator({ 'GET /hidden': () => ({ items: [], next_cursor: null }) });
  render(HiddenPage);
  await screen.findByText('No hidden sites and pages');
});
