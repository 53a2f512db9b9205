import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { held } from '../api/fake';
import SaveButtons from './SaveButtons.svelte';

interface Query {
  q: string;
  cursor?: string;
}

/** The texts of the files that are saved until the test ends. */
function savedFiles(): Promise<string>[] {
  const files: Promise<string>[] = [];
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => {});
  vi.spyOn(URL, 'createObjectURL').mockImplementation((file) => {
    files.push((file as Blob).text());
    return 'blob:file';
  });
  return files;
}

it('saves no row twice that moved to the next part meanwhile', async () => {
  const files = savedFiles();
  const first = { items: [{ id: 'a' }, { id: 'b' }], next_cursor: 'c2' };
  const last = { items: [{ id: 'b' }, { id: 'c' }], next_cursor: null };
  const load = (query: Query) => Promise.resolve(query.cursor ? last : first);
  render(SaveButtons<Query>, { name: 'agents', load, query: { q: '' } });
  await fireEvent.click(screen.getByRole('button', { name: 'Save as JSON' }));
  await vi.waitFor(() => expect(files).toHaveLength(1));
  expect(JSON.parse((await files[0]) ?? '')).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
});

it('saves all parts with the filter of the first', async () => {
  const files = savedFiles();
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
  expect(files).toHaveLength(1);
});
