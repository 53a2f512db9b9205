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

  it('reads as a trail', () => {
    expect(trail('https://example.org/')).toBe('example.org');
    expect(trail('http://example.org:8080/a%20b/c?x=1')).toBe('example.org:8080 › a b › c?x=1');
    expect(trail('http://example.org/%E0%A4%A')).toBe('example.org › %E0%A4%A');
  });
});
