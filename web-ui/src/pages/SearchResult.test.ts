import { render } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import SearchResult from './SearchResult.svelte';

const item = {
  url: 'https://example.org/a%20b',
  copies: [] as string[],
  title: 'A <img src=x onerror=alert(1)> title',
  host: 'example.org',
  lang: 'el',
  snippet: [
    { text: 'before <script>alert(1)</script> ', hit: false },
    { text: '<b>olive</b>', hit: true },
    { text: ' after', hit: false },
  ],
  fetched_at: '2026-11-20T12:00:00Z',
  score: 1,
};

it('shows what strangers wrote as text, with the hits marked', () => {
  const { container } = render(SearchResult, { item, query: 'olive' });
  expect(container.querySelector('img, script, b')).toBeNull();
  expect(container.querySelector('h2')?.textContent?.trim()).toBe(item.title);
  expect(container.querySelector('.snippet')?.textContent?.trim()).toBe(
    'before <script>alert(1)</script> <b>olive</b> after',
  );
  expect(container.querySelector('mark')?.textContent).toBe('<b>olive</b>');
});

it('makes no link of an address that is not of the web', () => {
  const { container } = render(SearchResult, {
    item: { ...item, url: 'javascript:alert(1)', title: '' },
    query: 'olive',
  });
  expect(container.querySelector('h2 a')).toBeNull();
  expect(container.querySelector('h2')?.textContent?.trim()).toBe('javascript:alert(1)');
});

it('offers to narrow the search', () => {
  const { container } = render(SearchResult, { item, query: 'olive lang:en' });
  const links = [...container.querySelectorAll('.about a')].map((a) => a.getAttribute('href'));
  expect(links).toEqual(['/?q=lang%3Ael+olive', '/?q=site%3Aexample.org+olive+lang%3Aen']);
});

it('names the copies of a page, with links to those of the web', () => {
  const copies = ['http://example.org/a', 'javascript:alert(1)'];
  const { container } = render(SearchResult, { item: { ...item, copies }, query: 'olive' });
  const last = [...container.querySelectorAll('.about')].at(-1);
  expect(last?.textContent).toMatch(
    /Same text at\s+http:\/\/example.org\/a\s*javascript:alert\(1\)/,
  );
  expect([...(last?.querySelectorAll('a') ?? [])].map((a) => a.getAttribute('href'))).toEqual([
    'http://example.org/a',
  ]);
});

it('isolates the direction of each part of the address', () => {
  const url = 'https://example.org/%D7%90/%D7%91?x=%E2%80%AE';
  const { container } = render(SearchResult, { item: { ...item, url, title: '' }, query: 'olive' });
  const trail = container.querySelector('.trail');
  expect(trail?.textContent?.trim()).toBe('example.org › א › ב?x=%E2%80%AE');
  expect([...(trail?.querySelectorAll('bdi') ?? [])].map((part) => part.textContent)).toEqual([
    'example.org',
    'א',
    'ב',
    '?x=%E2%80%AE',
  ]);
  expect(container.querySelector('h2')?.textContent?.trim()).toBe(
    'https://example.org/א/ב?x=%E2%80%AE',
  );
});

it('dates the text, not the last visit', () => {
  const { container } = render(SearchResult, { item, query: 'olive' });
  const about = container.querySelector('.about');
  expect(about?.firstElementChild?.textContent).toMatch(/^text from /);
  expect(about?.querySelector('time')?.dateTime).toBe(item.fetched_at);
});
