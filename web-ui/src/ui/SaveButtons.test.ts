import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { held } from '../api/fake';
import SaveButtons from './SaveButtons.svelte';

interface Query {
  q: string;
  cursor?: string;
}

it('saves all parts with the filter of the first', async () => {
  // The test has no use for the file.
  const saved = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => {});
  const first = held<{ items: object[]; next_cursor: string | null }>();
  const asked: Query[] = [];
  const load = (query: Query) => {
    asked.push(query);
    return query.cursor ? Promise.resolve({ items: [], next_cursor: null }) : first.answer;
  };
  const { rerender } = render(SaveButtons<Query>, { name: 'hosts', load, query: { q: 'old' } });
  await fireEvent.click(screen.getByRole('button', { name: 'Save as CSV' }));
  await rerender({ query: { q: 'new' } });
  first.give({ items: [{ id: 1 }], next_cursor: 'c2' });
  await screen.findByRole('button', { name: 'Save as CSV' });
  expect(asked).toEqual([{ q: 'old' }, { q: 'old', cursor: 'c2' }]);
  expect(saved).toHaveBeenCalledOnce();
  saved.mockRestore();
});
