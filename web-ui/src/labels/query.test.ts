import { describe, expect, it } from 'vitest';
import { filterText, filtersOf, withFilter, withoutFilter } from './query';

const texts = (query: string) => filtersOf(query).map(filterText);

describe('filters of a query', () => {
  it('are found among the words', () => {
    expect(texts('olive oil site:example.org LANG:el site:.ru')).toEqual([
      'site: example.org',
      'lang: el',
      'site: .ru',
    ]);
    expect(texts('site: website:x')).toEqual([]);
  });

  it('may exclude', () => {
    expect(texts('olive -site:a.org −lang:en-GB')).toEqual([
      'without site: a.org',
      'without lang: en-GB',
    ]);
  });

  it('are not found in phrases', () => {
    expect(texts('"see lang:en here" site:a.org "open lang:el')).toEqual(['site: a.org']);
  });

  it('have a value that the coordinator understands', () => {
    expect(
      texts('lang:esperanto lang:e site:. site:a^b site:https://b\u00fccher.example/x'),
    ).toEqual(['site: https://b\u00fccher.example/x']);
  });
});

describe('a filter that is added', () => {
  it('replaces others of its name and leaves the words alone', () => {
    const site = { name: 'site', value: 'c.org' } as const;
    expect(withFilter('olive site:a.org oil site:b.org', site)).toBe('site:c.org olive oil');
    expect(withFilter('olive lang:el -site:a.c.org', site)).toBe(
      'site:c.org olive lang:el -site:a.c.org',
    );
  });

  it('does not become part of a phrase', () => {
    const lang = { name: 'lang', value: 'en' } as const;
    expect(withFilter('"big  cat', lang)).toBe('lang:en "big  cat');
    expect(withFilter('"see lang:el here"', lang)).toBe('lang:en "see lang:el here"');
  });
});

describe('a filter that is removed', () => {
  it('is the one at its place', () => {
    const query = 'oak site:a.org site:b.org -lang:el';
    expect(withoutFilter(query, 0)).toBe('oak site:b.org -lang:el');
    expect(withoutFilter(query, 1)).toBe('oak site:a.org -lang:el');
    expect(withoutFilter(query, 2)).toBe('oak site:a.org site:b.org');
    expect(withoutFilter(query, 3)).toBe(query);
  });

  it('leaves phrases as they are', () => {
    expect(withoutFilter('"see  lang:en here" lang:en "big  cat', 0)).toBe(
      '"see  lang:en here" "big  cat',
    );
  });

  it('knows the value of a filter after a space, in quotes and behind a wide colon', () => {
    const values = (query: string) => filtersOf(query).map(({ value }) => value);
    expect(values('oak site: a.org -site:"b.org" lang：de')).toEqual(['a.org', 'b.org', 'de']);
    expect(values('dating site: reviews')).toEqual([]);
    expect(values('oak site: lang:de')).toEqual(['de']);
    expect(withFilter('oak site: a.org', { name: 'site', value: 'b.org' })).toBe('site:b.org oak');
  });
});
