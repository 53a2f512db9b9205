import { expect, test } from 'vitest';
import { pages } from '../routing/pages';
import { commandsFor } from './commands';

const now = Date.parse('2026-03-01T00:30:00Z');
const names = (text: string) => commandsFor(text, pages, now).map((command) => command.name);

test('without a text all pages and questions are offered', () => {
  expect(names('').slice(0, 2)).toEqual(['Overview', 'Inspector']);
  expect(names('').length).toBeGreaterThan(pages.length);
});

test('words select commands in any order, and the inspector is the last', () => {
  expect(names('hosts slow')).toEqual(['The slowest hosts', 'Inspect “hosts slow”']);
  expect(names(' http://example.org/a ')).toEqual(['Inspect “http://example.org/a”']);
  expect(commandsFor('192.0.2.1', pages, now).at(-1)?.href).toBe('/inspector?q=192.0.2.1');
});

test('incidents are found by their name, which no page has', () => {
  const [command] = commandsFor('incidents', pages, now);
  expect(command?.href).toBe('/constraints');
});

test('the changes of yesterday are those of the day before today, in UTC', () => {
  const [command] = commandsFor('changed yesterday', pages, now);
  expect(command?.href).toBe('/audit?from=2026-02-28&until=2026-03-01');
});

test('each command has a name of its own', () => {
  const all = names('');
  expect(new Set(all).size).toBe(all.length);
});
