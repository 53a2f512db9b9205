import { describe, expect, it } from 'vitest';
import { filtersOf, withFilter, withoutFilter } from './query';

describe('filters of a query', () => {
  it('are found among the words', () => {
    expect(filtersOf('olive oil site:example.org LANG:el')).toEqual([
      { name: 'site', value: 'example.org' },
      { name: 'lang', value: 'el' },
    ]);
    expect(filtersOf('site: website:x')).toEqual([]);
  });

  it('replace their own kind and leave the words alone', () => {
    expect(withFilter('olive site:a.org oil', { name: 'site', value: 'b.org' })).toBe(
      'olive oil site:b.org',
    );
    expect(withoutFilter('olive site:a.org lang:el', 'site')).toBe('olive lang:el');
  });
});
