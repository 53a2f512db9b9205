import { expect, it } from 'vitest';
import { linesLeft, urlsIn } from './seeds';

it('finds each URL once, whatever the line ends', () => {
  expect(
    urlsIn(' https://a.example/ \r\n\n# mine\nhttps://b.example/\nhttps://a.example/'),
  ).toEqual(['https://a.example/', 'https://b.example/']);
});

it('leaves what was typed after the sending, and what was rejected', () => {
  const sent = '# mine\nhttps://a.example/\nbad\n';
  const now = '# mine\nhttps://a.example/\nbad\nhttps://c.example/';
  expect(linesLeft(now, sent, ['bad'])).toBe('bad\nhttps://c.example/');
  expect(linesLeft(sent, sent, [])).toBe('');
});
