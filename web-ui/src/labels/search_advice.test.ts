import { describe, expect, it } from 'vitest';
import { adviceOn, lengthProblem } from './search_advice';

describe('the length of a query', () => {
  it('counts as UTF-8 text', () => {
    expect(lengthProblem('a'.repeat(1000))).toBeUndefined();
    expect(lengthProblem('猫'.repeat(333))).toBeUndefined();
    expect(lengthProblem('猫'.repeat(334))).toMatch(/1,002 bytes of at most 1,000/);
    expect(lengthProblem('a'.repeat(1001))).toMatch(/1,001 bytes/);
  });
});

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
