import { describe, expect, it } from 'vitest';
import { adviceOn } from './search_advice';

describe('advice on a query that found nothing', () => {
  it.each(['oak', '12', '猫', '-elm oak', '"?" oak', '"oak'])('tries other words: %s', (query) => {
    expect(adviceOn(query)[0]).toMatch(/^Check the spelling/);
    expect(adviceOn(query)).toHaveLength(2);
  });

  it.each(['oak site:a.org', 'lang:el', 'oak -site:a.org'])('tries fewer filters: %s', (query) => {
    expect(adviceOn(query)).toContain('Remove a filter to look further.');
  });

  it.each(['-foo', '-"a b" −elm', '-site:a.org', '-foo ???'])(
    'says that exclusions alone find nothing: %s',
    (query) => {
      expect(adviceOn(query)).toEqual([expect.stringMatching(/^Exclusions alone find nothing/)]);
    },
  );

  it.each(['???', '🦉', '""', '-', '-!', '"?! …"', '\u0301'])(
    'says that there is no word: %s',
    (query) => {
      expect(adviceOn(query)).toEqual([expect.stringMatching(/^There is no word/)]);
    },
  );
});
