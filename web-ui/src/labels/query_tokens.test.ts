import { expect, it } from 'vitest';
import { tokensOf } from './query_tokens';

/** The tokens as text: excluded ones with a hyphen, quoted ones in straight quotes. */
const split = (query: string) =>
  tokensOf(query).map(
    ({ text, quoted, excluded }) => (excluded ? '-' : '') + (quoted ? `"${text}"` : text),
  );

it.each([
  ['', []],
  ['  oak \u3000 elm ', ['oak', 'elm']],
  ['oak -elm - ash −fir', ['oak', '-elm', '-', 'ash', '-fir']],
  ['"big  cat" -"a b"', ['"big  cat"', '-"a b"']],
  ['"see lang:en here"', ['"see lang:en here"']],
  ['„big cat“ «a b» 「東京」', ['"big cat"', '"a b"', '"東京"']],
  ['""', ['""']],
])('splits %s at spaces and quotes', (query, tokens) => {
  expect(split(query)).toEqual(tokens);
});

it.each([
  ['"big cat', ['"big cat"']],
  ['oak -"', ['oak', '-""']],
  ['oak "', ['oak', '""']],
])('lets a phrase that is not closed reach to the end: %s', (query, tokens) => {
  expect(split(query)).toEqual(tokens);
});

it.each([
  ['12" pipe site:a.org', ['12"', 'pipe', 'site:a.org']],
  ['צה"ל חיפה', ['צה"ל', 'חיפה']],
  ['"דובר צה"ל" חיפה', ['"דובר צה"ל"', 'חיפה']],
  ['("big cat")', ['(', '"big cat"', ')']],
  ['猫「東京」', ['猫', '"東京"']],
  ['「東京」都', ['"東京"', '都']],
])('takes a quote behind a letter as a part of the word: %s', (query, tokens) => {
  expect(split(query)).toEqual(tokens);
});

it('knows where each token is', () => {
  const query = ' oak  -"big cat"  「東京';
  expect(tokensOf(query).map(({ start, end }) => query.slice(start, end))).toEqual([
    'oak',
    '-"big cat"',
    '「東京',
  ]);
});
