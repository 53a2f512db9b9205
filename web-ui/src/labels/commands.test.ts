import { expect, test } from 'vitest';
import { pages } from '../routing/pages';
import { commandsFor } from './commands';

const names = (text: string) => commandsFor(text, pages).map((command) => command.name);

test('without a text all pages and questions are offered', () => {
  expect(names('').slice(0, 2)).toEqual(['Overview', 'Inspector']);
  expect(names('').length).toBeGreaterThan(pages.length);
});

test('words select commands in any order, and the inspector is the last', () => {
  expect(names('hosts slow')).toEqual(['The slowest hosts', 'Inspect “hosts slow”']);
  expect(names(' http://example.org/a ')).toEqual(['Inspect “http://example.org/a”']);
  expect(commandsFor('192.0.2.1', pages).at(-1)?.href).toBe('/inspector?q=192.0.2.1');
});
