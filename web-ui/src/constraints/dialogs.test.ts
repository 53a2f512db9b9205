import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { fakeCoordinator, held, refusal, type Call } from '../api/fake';
import type { Delegation } from '../api/model';
import ConstraintDialog from './ConstraintDialog.svelte';
import PrefixDialog from './PrefixDialog.svelte';

const agent = { id: 'agt_1', name: 'agent-1', state: 'approved' };
const delegation = {
  id: 'dlg_1',
  subnet: '41.0.0.0/16',
  agent: { id: agent.id, name: agent.name },
} as Delegation;
const answerWith = (subnets: number) => ({
  pin: null,
  preview: { subnets, hosts: 1, pages_per_day: 1, reassignments: [], agents: [] },
});
const close = { onclose: () => {}, ondone: () => {} };

const dialogs = [
  [
    'of a delegation',
    () => render(ConstraintDialog, { action: 'pin', delegation, ...close }).container,
  ],
  ['of a prefix', () => render(PrefixDialog, { action: 'pin', ...close }).container],
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
    // The refusal comes after the old answer, which therefore has arrived when it is shown.
    answers[2]?.(refusal(409, 'It is pinned.'));
    await screen.findByText('Pin failed');
    expect(shown()?.textContent).toContain('5 subnets');
  },
);
