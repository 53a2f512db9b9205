import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { router } from './router.svelte';

let stop: () => void;
beforeEach(() => {
  stop = router.listen();
});
afterEach(() => {
  stop();
  document.body.replaceChildren();
});

function link(href: string, attributes: Record<string, string> = {}): HTMLAnchorElement {
  const element = document.createElement('a');
  element.href = href;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(document.createElement('span'));
  document.body.append(element);
  return element;
}

/** Clicks the inside of a link; tells whether the router took it. */
function taken(element: HTMLAnchorElement, init: MouseEventInit = {}): boolean {
  const event = new MouseEvent('click', { bubbles: true, cancelable: true, button: 0, ...init });
  element.firstElementChild?.dispatchEvent(event);
  return event.defaultPrevented;
}

describe('the router', () => {
  it('knows page, query and trail of where it went', () => {
    router.go('/delegations?q=acme&cursor=c2', { trail: ['', 'c1'] });
    expect(router.route).toEqual({ page: 'delegations' });
    expect(router.query('q')).toBe('acme');
    expect(router.query('agent')).toBe('');
    expect(router.trail).toEqual(['', 'c1']);
    expect(location.pathname + location.search).toBe('/delegations?q=acme&cursor=c2');
  });

  it('follows links of ours and counts the visit', () => {
    const before = router.visits;
    expect(taken(link('/agents'))).toBe(true);
    expect(router.route).toEqual({ page: 'agents' });
    expect(router.visits).toBe(before + 1);
  });

  it('leaves every other click to the browser', () => {
    expect(taken(link('https://example.org/'))).toBe(false);
    expect(taken(link('/api/v1/openapi.json'))).toBe(false);
    expect(taken(link('/downloads/partner.md'))).toBe(false);
    expect(taken(link('/agents', { target: '_blank' }))).toBe(false);
    expect(taken(link('/agents'), { ctrlKey: true })).toBe(false);
    expect(taken(link('#main'))).toBe(false);
    expect(router.route).toEqual({ page: 'search' });
  });

  it('does not count a change of filters on the same page as a visit', () => {
    router.go('/delegations');
    const before = router.visits;
    router.go('/delegations?q=a', { replace: true });
    expect(router.visits).toBe(before);
  });

  it('tells whether it went, because a page with something to lose may stay', () => {
    router.go('/policy');
    router.mayLeave = () => false;
    expect(router.go('/')).toBe(false);
    expect(router.path).toBe('/policy');
    router.mayLeave = () => true;
    expect(router.go('/')).toBe(true);
    expect(router.path).toBe('/');
  });
});
