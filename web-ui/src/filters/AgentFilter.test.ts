import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { fakeCoordinator, type Call } from '../api/fake';
import AgentFilter from './AgentFilter.svelte';

const agent = (id: string) => ({ id, name: `name of ${id}`, state: 'approved' });
const offered = () => screen.getAllByRole('option').map((option) => option.textContent);

it('keeps the chosen agent and the box while another agent is looked for', async () => {
  fakeCoordinator({
    'GET /agents': ({ query }: Call) =>
      query.get('q')
        ? { items: [agent('cape')], next_cursor: null }
        : { items: [agent('first')], next_cursor: 'more' },
  });
  const onchoose = vi.fn();
  const { rerender } = render(AgentFilter, { value: '', onchoose });
  const box = await screen.findByRole('searchbox');
  await fireEvent.input(box, { target: { value: 'cape' } });
  await vi.waitFor(() => expect(offered()).toEqual(['All agents', 'name of cape']));
  await rerender({ value: 'cape', onchoose });
  await fireEvent.input(box, { target: { value: '' } });
  await vi.waitFor(() =>
    expect(offered()).toEqual(['All agents', 'name of cape', 'name of first']),
  );
  expect(screen.getByRole('searchbox')).toBe(box);
});
