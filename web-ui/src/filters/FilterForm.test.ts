import { fireEvent, render, screen } from '@testing-library/svelte';
import { createRawSnippet } from 'svelte';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import FilterForm from './FilterForm.svelte';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The form of a list whose address has the text; the texts that it filters by. */
function form(text: string) {
  const found: string[] = [];
  const children = createRawSnippet(() => ({ render: () => '<span></span>' }));
  const onfind = (text: string) => found.push(text);
  const { rerender, unmount } = render(FilterForm, { name: 'Hosts', text, onfind, children });
  const input = screen.getByLabelText<HTMLInputElement>('Find');
  const type = (value: string) => fireEvent.input(input, { target: { value } });
  return { found, input, type, rerender, unmount };
}

it('keeps the space at the end of what is typed when the list is filtered by it', async () => {
  const { found, input, type, rerender } = form('');
  await type('deutsche ');
  vi.runAllTimers();
  expect(found).toEqual(['deutsche']);
  await rerender({ text: 'deutsche' });
  expect(input.value).toBe('deutsche ');
});

it('shows the text of another address, and no longer filters by what was typed before', async () => {
  const { found, input, type, rerender } = form('deutsche');
  expect(input.value).toBe('deutsche');
  await type('deutsche bahn');
  await rerender({ text: 'telekom' });
  expect(input.value).toBe('telekom');
  vi.runAllTimers();
  expect(found).toEqual([]);
});

it('does not filter a list that has been left', async () => {
  const { found, type, unmount } = form('');
  await type('deutsche');
  unmount();
  vi.runAllTimers();
  expect(found).toEqual([]);
});
