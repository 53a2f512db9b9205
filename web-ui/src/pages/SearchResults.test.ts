import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { SearchResponse } from '../api/model';
import { Resource } from '../stores/resource.svelte';
import SearchResults from './SearchResults.svelte';

/** Shows the answer that nothing was found. */
async function show(query: string) {
  const found = new Resource<SearchResponse>();
  await found.load(async () => ({ query, total: 0, took_ms: 1, items: [], next_cursor: null }));
  render(SearchResults, { query, found });
}

it('removes one filter of several, and says which exclude', async () => {
  await show('oak site:a.org site:b.org -site:c.org');
  const links = screen.getAllByRole('link', { name: /Remove this filter$/ });
  const shown = links.map((link) => [
    link.textContent?.replace(/\s+/g, ' ').trim(),
    new URLSearchParams(link.getAttribute('href')?.slice(2)).get('q'),
  ]);
  expect(shown).toEqual([
    ['site: a.org Remove this filter', 'oak site:b.org -site:c.org'],
    ['site: b.org Remove this filter', 'oak site:a.org -site:c.org'],
    ['without site: c.org Remove this filter', 'oak site:a.org site:b.org'],
  ]);
});

it('says why exclusions alone find nothing', async () => {
  await show('-foo');
  expect(screen.getAllByRole('listitem').map((item) => item.textContent)).toEqual([
    expect.stringMatching(/^Exclusions alone find nothing/),
  ]);
});
