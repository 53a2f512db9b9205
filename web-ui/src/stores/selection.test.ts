import { expect, test } from 'vitest';
import { Selection } from './selection.svelte';

const rows = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];

test('rows are selected one by one', () => {
  const selection = new Selection();
  selection.toggle('a');
  selection.toggle('c');
  selection.toggle('a');
  expect(selection.of(rows)).toEqual([{ id: 'c' }]);
  selection.clear();
  expect(selection.size).toBe(0);
});

test('all rows are selected, and then none', () => {
  const selection = new Selection();
  selection.toggle('b');
  selection.toggleAll(['a', 'b', 'c']);
  expect(selection.size).toBe(3);
  selection.toggleAll(['a', 'b']);
  expect(selection.of(rows)).toEqual([{ id: 'c' }]);
});
