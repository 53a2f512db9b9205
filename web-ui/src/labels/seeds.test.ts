import { expect, it } from 'vitest';
import { urlsIn } from './seeds';

it('finds each URL once, whatever the line ends', () => {
  expect(
    urlsIn(' https://a.example/ \r\n\n# mine\nhttps://b.example/\nhttps://a.example/'),
  ).toEqual(['https://a.example/', 'https://b.example/']);
});
