import { expect, test } from 'vitest';
import { Selection } from './selection.svelte';

const a = { id: 'a', state: 'pending' };
const b = { id: 'b', state: 'pending' };
const c = { id: 'c', state: 'pending' };

const selectionOfNone = () => new Selection<typeof a>(({ id }) => id);

test('rows are selected one by one', () => {
  const selection = selectionOfNone();
  selection.toggle(a);
  selection.toggle(c);
  selection.toggle(a);
  expect(selection.rows).toEqual([c]);
  selection.clear();
  expect(selection.size).toBe(0);
});

test('rows that failed stay selected', () => {
  const selection = selectionOfNone();
  selection.toggleAll([a, b]);
  selection.keep([b, c]);
  expect(selection.rows).toEqual([b]);
});

test('all rows are selected, and then none', () => {
  const selection = selectionOfNone();
  selection.toggle(b);
  selection.toggleAll([a, b, c]);
  expect(selection.size).toBe(3);
  selection.toggleAll([a, b]);
  expect(selection.rows).toEqual([c]);
});

test('a selected row is as it was loaded last, also when its page is not shown any more', () => {
  const selection = selectionOfNone();
  selection.toggle(a);
  const approved = { id: 'a', state: 'approved' };
  selection.update([approved, b]);
  selection.update([c]);
  expect(selection.rows).toEqual([approved]);
});
