import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { fakeCoordinator, held, refusal, type Call } from '../api/fake';
import type { Agent, Constraint, Delegation } from '../api/model';
import ConstraintDialog from './ConstraintDialog.svelte';
import DrainDialog from '../agents/DrainDialog.svelte';
import RangeDialog from './RangeDialog.svelte';
import RemoveConstraintDialog from './RemoveConstraintDialog.svelte';

const agent = { id: 'agt_1', name: 'agent-1', state: 'approved' };
const delegation = {
  id: 'dlg_1',
  subnet: '41.0.0.0/16',
  agent: { id: agent.id, name: agent.name },
} as Delegation;
const answerWith = (subnets: number) => ({
  pin: null,
  preview: {
    subnets,
    hosts: 1,
    pages_per_day: 1,
    cost_before_ms: 400,
    cost_after_ms: 900,
    unmeasured: 0,
    lent: 0,
    reassignments: [],
    agents: [],
  },
});
const close = { onclose: () => {}, ondone: () => {} };

const dialogs = [
  [
    'of a delegation',
    () => render(ConstraintDialog, { action: 'pin', delegation, ...close }).container,
  ],
  ['of a range', () => render(RangeDialog, { action: 'pin', ...close }).container],
] as const;

it.each(dialogs)(
  'the dialog %s shows no preview of values that were edited since',
  async (_, open) => {
    const answers: ((answer: unknown) => void)[] = [];
    const pins: Call[] = [];
    fakeCoordinator({
      'GET /agents': () => ({ items: [agent], next_cursor: null }),
      'GET /measured-agents': () => ({ items: [] }),
      'POST /pins': (call) => {
        const { answer, give } = held<unknown>();
        pins.push(call);
        answers.push(give);
        return answer;
      },
    });
    const form = open().querySelector('form');
    if (!form) throw new Error('The dialog has no form.');
    const shown = () => screen.queryByRole('region', { name: 'Preview', hidden: true });
    const askFor = async (reason: string) => {
      await fireEvent.input(screen.getByLabelText('Reason'), { target: { value: reason } });
      await fireEvent.submit(form);
      await vi.waitFor(() => expect(pins.at(-1)?.body).toMatchObject({ reason }));
    };

    await askFor('old');
    await askFor('new');
    answers[1]?.(answerWith(5));
    await vi.waitFor(() => expect(shown()?.textContent).toContain('5 subnets'));
    answers[0]?.(answerWith(3));
    await fireEvent.click(screen.getByRole('button', { name: 'Pin', hidden: true }));
    await vi.waitFor(() => expect(pins).toHaveLength(3));
    const cancel = screen.getByRole<HTMLButtonElement>('button', { name: 'Cancel', hidden: true });
    expect(cancel.disabled).toBe(true);
    // The refusal comes after the old answer, which therefore has arrived when it is shown.
    answers[2]?.(refusal(409, 'It is pinned.'));
    await screen.findByText('Pin failed');
    expect(cancel.disabled).toBe(false);
    expect(shown()?.textContent).toContain('5 subnets');
  },
);

const removed: Partial<Constraint> = {
  id: 'pin_1',
  agent,
  scope: { range: '41.0.0.0/16' },
  scope_text: '41.0.0.0/16',
  reason: 'old',
};
const confirmed = [
  [
    'the removal of a pin',
    'DELETE /pins/pin_1',
    () =>
      render(RemoveConstraintDialog, {
        item: removed as Constraint,
        kind: 'pin',
        ...close,
      }),
  ],
  [
    'a drain',
    'POST /agents/agt_1/drain',
    () => render(DrainDialog, { agent: agent as Agent, ...close }),
  ],
] as const;

it.each(confirmed)('%s cannot be confirmed before its preview is shown', async (_, call, open) => {
  const { answer, give } = held<unknown>();
  let made = 0;
  const change = ({ query }: Call) => (query.get('dry_run') === 'true' ? answer : (made += 1));
  fakeCoordinator({ 'GET /agents/agt_1/takeover': () => answer, [call]: change });
  open();
  const form = document.querySelector('dialog form');
  const button = document.querySelector<HTMLButtonElement>('dialog button[form]');
  if (!form || !button) throw new Error('The dialog has no form.');
  await fireEvent.submit(form);
  expect([made, button.disabled]).toEqual([0, true]);
  give({ held: 5, ...answerWith(5) });
  await screen.findByText(/The cost per day is 400 ms before and 900 ms after\./);
  await vi.waitFor(() => expect(button.disabled).toBe(false));
  await fireEvent.submit(form);
  await vi.waitFor(() => expect(made).toBe(1));
});

it('a change that is being sent cannot be cancelled', async () => {
  const { answer, give } = held<unknown>();
  fakeCoordinator({
    'DELETE /pins/pin_1': ({ query }) => (query.get('dry_run') === 'true' ? answerWith(5) : answer),
  });
  let closed = 0;
  render(RemoveConstraintDialog, {
    item: removed as Constraint,
    kind: 'pin',
    onclose: () => (closed += 1),
    ondone: () => {},
  });
  await screen.findByText(/The cost per day is/);
  const form = document.querySelector('dialog form');
  const cancel = screen.getByRole<HTMLButtonElement>('button', { name: 'Cancel', hidden: true });
  if (!form) throw new Error('The dialog has no form.');
  await fireEvent.submit(form);
  expect(cancel.disabled).toBe(true);
  await fireEvent(form.closest('dialog') ?? form, new Event('cancel'));
  expect(closed).toBe(0);
  give(answerWith(5));
  await vi.waitFor(() => expect(closed).toBe(1));
});

it('moves the focus from Preview, which goes, to the button that takes its place', async () => {
  fakeCoordinator({
    'GET /agents': () => ({ items: [agent], next_cursor: null }),
    'GET /measured-agents': () => ({ items: [] }),
    'POST /pins': () => answerWith(5),
  });
  const { container } = render(ConstraintDialog, { action: 'pin', delegation, ...close });
  screen.getByRole('button', { name: 'Preview', hidden: true }).focus();
  await fireEvent.submit(container.querySelector('form') ?? container);
  const pin = await screen.findByRole('button', { name: 'Pin', hidden: true });
  await vi.waitFor(() => expect(document.activeElement).toBe(pin));
});
