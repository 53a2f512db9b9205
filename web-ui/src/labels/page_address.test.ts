import { describe, expect, it } from 'vitest';
import { safeHref, trail, unescaped } from './page_address';

describe('an address from a page', () => {
  it('is clickable only when it is of the web', () => {
    expect(safeHref('https://example.org/a')).toBe('https://example.org/a');
    expect(safeHref('javascript:alert(1)')).toBeNull();
    expect(safeHref('data:text/html,x')).toBeNull();
    expect(safeHref('no address')).toBeNull();
  });

  it('is shown in its own letters, with what would change its meaning escaped', () => {
    expect(unescaped('https://example.org/%CE%B5%CE%BB%CE%B9%CE%AC?a=%26')).toBe(
      'https://example.org/ελιά?a=%26',
    );
    expect(unescaped('http://example.org/%E0%A4%A')).toBe('http://example.org/%E0%A4%A');
  });

  it('keeps what is invisible or changes the direction escaped', () => {
    const marks = ['%E2%80%AE', '%E2%81%A6', '%E2%80%8F', '%D8%9C', '%E2%80%8B', '%EF%BB%BF'];
    for (const mark of [...marks, '%00', '%0A', '%7F', '%C2%85']) {
      const url = `https://example.org/a${mark}b?c${mark}`;
      expect(unescaped(url)).toBe(url);
      expect(trail(url)).toEqual({ steps: ['example.org', `a${mark}b`], search: `?c${mark}` });
    }
    // A joiner without width is part of the spelling of Persian words.
    expect(unescaped('http://example.org/%D9%85%DB%8C%E2%80%8C%D8%B1')).toBe(
      'http://example.org/می\u200Cر',
    );
  });

  it('escapes marks of direction that came as they are', () => {
    expect(unescaped('no\u202Eaddress%')).toBe('no%E2%80%AEaddress%');
    expect(trail('no\u202Eaddress')).toEqual({ steps: ['no%E2%80%AEaddress'], search: '' });
  });

  it('reads as a trail', () => {
    expect(trail('https://example.org/')).toEqual({ steps: ['example.org'], search: '' });
    expect(trail('http://example.org:8080/a%20b/c?x=1')).toEqual({
      steps: ['example.org:8080', 'a b', 'c'],
      search: '?x=1',
    });
    expect(trail('http://example.org/%E0%A4%A').steps).toEqual(['example.org', '%E0%A4%A']);
  });
});
