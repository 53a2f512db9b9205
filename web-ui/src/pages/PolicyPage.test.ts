import { fireEvent, render, screen } from '@testing-library/svelte';
import { beforeEach, expect, it, vi } from 'vitest';
import { fakeCoordinator, held, type Answers } from '../api/fake';
import { groups } from '../labels/policy';
import { session } from '../session/session.svelte';
import PolicyPage from './PolicyPage.svelte';

beforeEach(() => {
  session.user = { name: 'ada', role: 'admin' };
});

const amounts = groups.flatMap(({ settings }) => settings.map(({ key, min }) => [key, min]));
const policy = {
  ...Object.fromEntries(amounts),
  preset: 'default',
  strategy: 'predictive',
  balance_rule: 'cheapest',
  balance_pass: 'optimal',
};

/** The page, loaded from a coordinator that answers changes as given; what it was asked to change. */
async function loaded(change: Answers[string]) {
  const calls = fakeCoordinator({
    'GET /policy': () => policy,
    'GET /policy/defaults': () => policy,
    'GET /audit/entries': () => ({ items: [], next_cursor: null }),
    'PUT /policy': change,
  });
  render(PolicyPage);
  await screen.findByLabelText('Samples per probe');
  const sent = () => calls.filter(({ method }) => method === 'PUT').map(({ body }) => body);
  return { sent };
}

const field = (name: string) => screen.getByLabelText<HTMLInputElement>(name);
const type = (name: string, value: number) =>
  fireEvent.input(field(name), { target: { value: String(value) } });
const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }));

it('takes no changes of somebody who may only read', async () => {
  session.user = { name: 'vera', role: 'viewer' };
  await loaded(() => policy);
  expect(screen.getByRole('group', { name: 'Settings' }).hasAttribute('disabled')).toBe(true);
  expect(screen.getByText(/may read, but not change/)).toBeTruthy();
});

it('marks the default of the strategy', async () => {
  await loaded(() => policy);
  await screen.findByRole('radio', { name: 'Predictive (default)' });
  screen.getByRole('radio', { name: 'Threshold' });
});

it('sends the edited settings alone, and shows what another admin changed meanwhile', async () => {
  const { sent } = await loaded(({ body }) => ({
    ...policy,
    samples_per_probe: 5,
    ...(body as object),
  }));
  await type('Probes per day in total', 70);
  await press('Save');
  await vi.waitFor(() => expect(field('Samples per probe').value).toBe('5'));
  expect(sent()).toEqual([{ probes_total: 70 }]);
  expect(field('Probes per day in total').value).toBe('70');
  expect(screen.queryByRole('button', { name: 'Undo changes' })).toBeNull();
});

it('sends the shortest age of revisits', async () => {
  const { sent } = await loaded(({ body }) => ({ ...policy, ...(body as object) }));
  await type('Shortest revisit interval', 3_600);
  await press('Save');
  await vi.waitFor(() => expect(sent()).toEqual([{ revisit_least_s: 3_600 }]));
  expect(field('Revisit interval').value).toBe('0');
});

it('keeps what is typed while an earlier edit is being saved', async () => {
  const saving = held<unknown>();
  const { sent } = await loaded(() => saving.answer);
  await type('Probes per day in total', 70);
  await press('Save');
  await type('Samples per probe', 7);
  saving.give({ ...policy, probes_total: 70 });
  const save = screen.getByRole<HTMLButtonElement>('button', { name: 'Save' });
  await vi.waitFor(() => expect(save.disabled).toBe(false));
  expect(field('Samples per probe').value).toBe('7');
  await press('Save');
  await vi.waitFor(() => expect(sent()).toEqual([{ probes_total: 70 }, { samples_per_probe: 7 }]));
});

it('keeps edits that are not saved when a preset is chosen', async () => {
  const { sent } = await loaded(() => ({ ...policy, preset: 'paper', strategy: 'threshold' }));
  await type('Samples per probe', 7);
  await press('As in the paper');
  const question = document.querySelector('dialog form');
  if (!question) throw new Error('Nothing was asked.');
  expect(sent()).toEqual([]);
  await fireEvent.submit(question);
  await screen.findByRole('button', { name: 'As in the paper: in use' });
  expect(sent()).toEqual([{ preset: 'paper' }]);
  expect(field('Samples per probe').value).toBe('7');
  expect(screen.getByRole<HTMLInputElement>('radio', { name: 'Threshold' }).checked).toBe(true);
  expect(screen.queryByRole('button', { name: 'Undo changes' })).not.toBeNull();
});
