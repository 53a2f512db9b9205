import { describe, expect, it } from 'vitest';
import {
  bounded,
  boundedOf,
  bytes,
  count,
  counted,
  milliseconds,
  share,
  shrink,
  upTo10000,
} from './number';
import { company, country, language, registry } from './registration';
import { duration, exact, relative } from './time';

const now = Date.parse('2026-11-20T12:00:00Z');

describe('numbers', () => {
  it('group thousands and know the singular', () => {
    expect(count(1234567)).toBe('1,234,567');
    expect(counted(1, 'agent')).toBe('1 agent');
    expect(counted(0, 'agent')).toBe('0 agents');
    expect(counted(2, 'company', 'companies')).toBe('2 companies');
  });

  it('show bytes in decimal units and never "1000 kB"', () => {
    expect(bytes(0)).toBe('0 B');
    expect(bytes(999)).toBe('999 B');
    expect(bytes(1000)).toBe('1.0 kB');
    expect(bytes(999_960)).toBe('1.0 MB');
    expect(bytes(123_456_789)).toBe('123 MB');
  });

  it('give a measurement the digits it deserves', () => {
    expect(milliseconds(0)).toBe('0 ms');
    expect(milliseconds(0.042)).toBe('0.04 ms');
    expect(milliseconds(4.26)).toBe('4.3 ms');
    expect(milliseconds(412.7)).toBe('413 ms');
    expect(milliseconds(50)).toBe('50 ms');
    expect(milliseconds(12_300)).toBe('12.3 s');
  });

  it('never call something nothing, or not quite everything everything', () => {
    expect(share(1, 1000)).toBe('< 1 %');
    expect(share(999, 1000)).toBe('> 99 %');
    expect(share(1000, 1000)).toBe('100 %');
    expect(share(0, 0)).toBe('0 %');
  });

  it('say how much smaller, or that there is nothing to compare', () => {
    expect(shrink(2_100, 100)).toBe('21 : 1');
    expect(shrink(450, 100)).toBe('4.5 : 1');
    expect(shrink(0, 0)).toBe('–');
  });
});

describe('times', () => {
  it('are relative to the given moment, past and future', () => {
    expect(relative('2026-11-20T11:59:58Z', now)).toBe('just now');
    expect(relative('2026-11-20T11:59:30Z', now)).toBe('30 s ago');
    expect(relative('2026-11-20T11:56:00Z', now)).toBe('4 min ago');
    expect(relative('2026-11-20T14:05:00Z', now)).toBe('in 2 h 5 min');
    expect(relative('2026-11-17T08:00:00Z', now)).toBe('3 d 4 h ago');
    expect(relative('2026-01-02T08:00:00Z', now)).toBe('2026-01-02');
  });

  it('have an exact form in UTC and let nonsense through unchanged', () => {
    expect(exact('2026-11-20T13:00:00+02:00')).toBe('2026-11-20 11:00:00 UTC');
    expect(exact('soon')).toBe('soon');
    expect(relative('soon', now)).toBe('soon');
  });

  it('drop the small unit when it is zero', () => {
    expect(duration(2 * 3_600_000)).toBe('2 h');
    expect(duration(-5)).toBe('0 s');
  });
});

describe('places', () => {
  it('have names, also where a code is no country', () => {
    expect(country('cy')).toBe('Cyprus');
    expect(country('ZZ')).toBe('no country recorded');
    expect(country(null)).toBe('no country recorded');
    expect(country('not a code')).toBe('NOT A CODE');
    expect(language('el')).toBe('Greek');
    expect(registry('ripencc')).toBe('RIPE NCC');
    expect(registry(null)).toBe('–');
    expect(company('d91963c1-e981-4483-bba3-eb5060e0bdb2')).toBe('company d91963c1…');
    expect(company('A91A7381')).toBe('company A91A7381');
    expect(company('Studio 54 Ltd')).toBe('Studio 54 Ltd');
    expect(company('University of Cyprus')).toBe('University of Cyprus');
    expect(company(null)).toBe('no company recorded');
  });
});

describe('bounded', () => {
  it('says where a count ends at its bound', () => {
    expect(bounded({ count: 12_345, more: false })).toBe('12,345');
    expect(bounded({ count: 10_000, more: true })).toBe('10,000+');
    expect([upTo10000(10_000), upTo10000(10_001)]).toEqual(['10,000', '10,000+']);
    expect(boundedOf({ count: 1, more: false }, 'package')).toBe('1 package');
    expect(boundedOf({ count: 1, more: true }, 'package')).toBe('1+ packages');
  });
});
