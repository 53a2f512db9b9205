import { describe, expect, it } from 'vitest';
import { address, agentAt, needsSession, ownPath, routeOf, explanationOf } from './route';

describe('a path', () => {
  it('names its page', () => {
    expect(routeOf('/')).toEqual({ page: 'search' });
    expect(routeOf('/agents')).toEqual({ page: 'agents' });
    expect(routeOf('/agents/')).toEqual({ page: 'agents' });
    expect(routeOf('/agents/agt_12')).toEqual({ page: 'agent', id: 'agt_12' });
    expect(routeOf('/hosts/hst_7')).toEqual({ page: 'host', id: 'hst_7' });
    expect(routeOf('/delegations/dlg_7/explanation')).toEqual({ page: 'explanation', id: 'dlg_7' });
  });

  it('is not found when it is not ours, whatever it looks like', () => {
    for (const path of [
      '/nope',
      '/search',
      '/agent',
      '/agents/a/b',
      '/delegations/dlg_7',
      '/delegations/dlg_7/explanation/more',
      '/constructor',
      '/%E0%A4%A',
    ]) {
      expect(routeOf(path)).toEqual({ page: 'not-found' });
    }
  });

  it('comes back from the links we write', () => {
    expect(routeOf(explanationOf('dlg_7'))).toEqual({ page: 'explanation', id: 'dlg_7' });
    expect(routeOf(agentAt('odd/id %'))).toEqual({ page: 'agent', id: 'odd/id %' });
  });

  it('asks for a session except where everybody may go', () => {
    expect(needsSession({ page: 'overview' })).toBe(true);
    expect(needsSession({ page: 'search' })).toBe(false);
    expect(needsSession({ page: 'sign-in' })).toBe(false);
    expect(needsSession({ page: 'crawler' })).toBe(false);
  });
});

describe('an address', () => {
  it('leaves out what is empty and escapes the rest', () => {
    expect(address('/delegations', { q: '', agent: null, reason: undefined })).toBe('/delegations');
    expect(address('/', { q: 'a&b=c', page: 2 })).toBe('/?q=a%26b%3Dc&page=2');
  });
});

describe('the page after sign-in', () => {
  it('is never somewhere else', () => {
    expect(ownPath('/delegations?q=x')).toBe('/delegations?q=x');
    for (const next of [null, '', 'https://evil.example', '//evil.example', '/\\evil.example']) {
      expect(ownPath(next)).toBe('/overview');
    }
    expect(ownPath('/sign-in?next=/sign-in')).toBe('/overview');
  });
});
