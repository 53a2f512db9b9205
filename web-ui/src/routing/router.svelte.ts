/** The router: one object that pages read and links change. */
import { routeOf, type Route } from './route';

/** Cursors of the list pages before the one shown, so that Previous works, also after a reload. */
interface HistoryState {
  trail?: string[];
}

class Router {
  #url = $state(new URL(location.href));
  #trail = $state<string[]>(trailOf(history.state));
  /** Grows with every change of page; the shell moves the focus when it does. */
  visits = $state(0);

  /** Asks whether the page may be left, while it has something to lose. */
  mayLeave: (() => boolean) | undefined;

  readonly route: Route = $derived(routeOf(this.#url.pathname));

  /** Path and query, as they stand in the address bar. */
  get here(): string {
    return this.#url.pathname + this.#url.search;
  }

  /** The path alone. */
  get path(): string {
    return this.#url.pathname;
  }

  /** One value of the query; empty when it is not there. */
  query(name: string): string {
    return this.#url.searchParams.get(name) ?? '';
  }

  /** Cursors that led to the shown part of a list, the first one first. */
  get trail(): readonly string[] {
    return this.#trail;
  }

  /**
   * Goes to one of our own addresses, and returns whether it did: a page with something to lose may stay.
   * `replace` leaves no step behind for the Back button.
   */
  go(address: string, options: { replace?: boolean; trail?: string[] } = {}): boolean {
    const url = new URL(address, location.origin);
    const samePage = url.pathname === this.#url.pathname;
    if (!samePage && !options.replace && this.mayLeave?.() === false) return false;
    const state: HistoryState = { trail: options.trail ?? [] };
    if (options.replace) history.replaceState(state, '', url);
    else history.pushState(state, '', url);
    this.#arrive(url, state);
    if (samePage && options.replace) return true;
    this.visits += 1;
    window.scrollTo(0, 0);
    return true;
  }

  /** Listens to the browser: Back, Forward and clicks on links of ours. Returns how to stop. */
  listen(): () => void {
    const back = () => {
      const before = this.#url.pathname;
      if (location.pathname !== before && this.mayLeave?.() === false) {
        // The browser has gone back already: the page that stays gets its address again.
        history.pushState({ trail: [...this.#trail] }, '', this.#url);
        return;
      }
      this.#arrive(new URL(location.href), history.state);
      if (before !== this.#url.pathname) this.visits += 1;
    };
    const click = (event: MouseEvent) => this.#follow(event);
    addEventListener('popstate', back);
    document.addEventListener('click', click);
    return () => {
      removeEventListener('popstate', back);
      document.removeEventListener('click', click);
    };
  }

  #arrive(url: URL, state: unknown): void {
    this.#url = url;
    this.#trail = trailOf(state);
  }

  #follow(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const url = link && isPlainClick(event) ? ownAddress(link) : undefined;
    if (!url) return;
    event.preventDefault();
    this.go(url.href);
  }
}

function trailOf(state: unknown): string[] {
  const trail = (state as HistoryState | null)?.trail;
  return Array.isArray(trail) ? trail.filter((cursor) => typeof cursor === 'string') : [];
}

function isPlainClick(event: MouseEvent): boolean {
  const modified = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  return event.button === 0 && !modified && !event.defaultPrevented;
}

/**
 * The address of a link to one of our pages. Links to the API (the OpenAPI document), to downloads
 * and those that ask for a window of their own are the browser's. Attributes are read, because the
 * properties of a link in an SVG are not strings.
 */
function ownAddress(link: Element): URL | undefined {
  const href = link.getAttribute('href') ?? '#';
  const browsers =
    href.startsWith('#') || link.hasAttribute('download') || link.getAttribute('target');
  if (browsers || !URL.canParse(href, location.href)) return undefined;
  const url = new URL(href, location.href);
  const page = !url.pathname.startsWith('/api/') && !url.pathname.startsWith('/downloads/');
  return url.origin === location.origin && page ? url : undefined;
}

export const router = new Router();
