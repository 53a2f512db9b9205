import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { fakeCoordinator, refusal, type Call } from '../api/fake';
import AgentChoice from './AgentChoice.svelte';

const agent = (id: string) => ({ id, name: `name of ${id}`, state: 'approved' });
const measured = { agent: agent('far-down'), state: 'approved', subnets: 1, median_ms: 7 };
const props = { id: 'agent', range: '41.0.0.0/16', states: ['approved' as const], value: '' };
const offered = () =>
  [...document.querySelectorAll<HTMLOptionElement>('#agent option')].map(({ value }) => value);

it('offers agents that are not in the first part of the list', async () => {
  const asked: (string | null)[] = [];
  fakeCoordinator({
    'GET /measured-agents': () => ({ items: [measured] }),
    'GET /agents': ({ query }: Call) => {
      asked.push(query.get('q'));
      return query.get('q')
        ? { items: [agent('cape')], next_cursor: null }
        : { items: [agent('first')], next_cursor: 'more' };
    },
  });
  render(AgentChoice, { ...props, proposes: true });
  await vi.waitFor(() => expect(offered()).toEqual(['far-down', 'first']));
  const choice = document.querySelector<HTMLSelectElement>('#agent');
  await vi.waitFor(() => expect(choice?.value).toBe('far-down'));
  await fireEvent.input(screen.getByRole('searchbox'), { target: { value: 'cape' } });
  // The chosen agent stays beside the found one.
  await vi.waitFor(() => expect(offered()).toEqual(['far-down', 'cape']));
  expect(asked.at(-1)).toBe('cape');
  expect(choice?.value).toBe('far-down');
});

it('shows why the agents could not be loaded, and loads them again', async () => {
  let refused = true;
  fakeCoordinator({
    'GET /measured-agents': () => ({ items: [] }),
    'GET /agents': () =>
      refused ? refusal(503, 'Later.') : { items: [agent('first')], next_cursor: null },
  });
  render(AgentChoice, props);
  await screen.findByText('The agents could not be loaded');
  refused = false;
  await fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
  await vi.waitFor(() => expect(offered()).toEqual(['first']));
});
