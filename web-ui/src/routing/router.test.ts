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

/** A link in an SVG: browsers give it neither an origin nor a path, and its target is an object. */
function linkInSvg(attributes: Record<string, string>): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const element = document.createElementNS(svg.namespaceURI, 'a') as SVGElement;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(document.createElementNS(svg.namespaceURI, 'rect'));
  svg.append(element);
  document.body.append(svg);
  return element;
}

/** Clicks the inside of a link; tells whether the router took it. */
function taken(element: Element, init: MouseEventInit = {}): boolean {
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

  it('follows links of ours in an SVG, and leaves other links in it to the browser', () => {
    expect(taken(linkInSvg({ href: '/maps?view=ipv4&prefix=16.0.0.0%2F4' }))).toBe(true);
    expect(router.here).toBe('/maps?view=ipv4&prefix=16.0.0.0%2F4');
    expect(taken(linkInSvg({ href: 'https://example.org/' }))).toBe(false);
    expect(taken(linkInSvg({ href: '/agents', target: '_blank' }))).toBe(false);
    expect(taken(linkInSvg({}))).toBe(false);
    expect(router.route).toEqual({ page: 'maps' });
  });

  it('leaves every other click to the browser', () => {
    expect(taken(link('https://example.org/'))).toBe(false);
    expect(taken(link('/api/v1/openapi.json'))).toBe(false);
    expect(taken(link('/downloads/partner.md'))).toBe(false);
    expect(taken(link('/agents', { target: '_blank' }))).toBe(false);
    expect(taken(link('/agents'), { ctrlKey: true })).toBe(false);
    expect(taken(link('#main'))).toBe(false);
    expect(taken(link('http://['))).toBe(false);
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
