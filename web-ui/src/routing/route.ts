/** Addresses of the pages: here is a location, which page is it? Pure; the browser is in `router.svelte.ts`. */

/** Everything a page needs to know about where it is. */
export type Route =
  | { page: 'search' }
  | { page: 'sign-in' }
  | { page: 'overview' }
  | { page: 'agents' }
  | { page: 'agent'; id: string }
  | { page: 'delegations' }
  | { page: 'why'; id: string }
  | { page: 'pins' }
  | { page: 'hierarchy' }
  | { page: 'seeds' }
  | { page: 'policy' }
  | { page: 'not-found' };

/** Pages without a parameter, by the one segment of their path. */
const plain: Record<string, Route> = {
  '': { page: 'search' },
  'sign-in': { page: 'sign-in' },
  overview: { page: 'overview' },
  agents: { page: 'agents' },
  delegations: { page: 'delegations' },
  pins: { page: 'pins' },
  hierarchy: { page: 'hierarchy' },
  seeds: { page: 'seeds' },
  policy: { page: 'policy' },
};

/** The page at a path; a trailing slash is forgiven, an unknown path is `not-found`. */
export function routeOf(path: string): Route {
  const [first = '', id, last, ...more] = path.split('/').slice(1).filter(Boolean).map(decoded);
  if (id === undefined) return (Object.hasOwn(plain, first) && plain[first]) || notFound;
  if (first === 'agents' && last === undefined) return { page: 'agent', id };
  if (first === 'delegations' && last === 'why' && more.length === 0) return { page: 'why', id };
  return notFound;
}

const notFound: Route = { page: 'not-found' };

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a lone % typed by hand: the page will say that there is no such thing
  }
}

/** Whether a page is for admins only. */
export function needsSession(route: Route): boolean {
  return route.page !== 'search' && route.page !== 'sign-in' && route.page !== 'not-found';
}

/** Query values; what is empty is left out of the address. */
export type Query = Record<string, string | number | null | undefined>;

/** A path with its query: `address('/delegations', { q: 'acme', agent: '' })` is `/delegations?q=acme`. */
export function address(path: string, query: Query = {}): string {
  const kept = Object.entries(query).filter(([, value]) => value !== '' && value != null);
  const text = new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Where to find the reason of a delegation. */
export function whyOf(delegation: string): string {
  return `/delegations/${encodeURIComponent(delegation)}/why`;
}

/** Where to find an agent. */
export function agentAt(agent: string): string {
  return `/agents/${encodeURIComponent(agent)}`;
}

/** The page to open after sign-in: only ever a path of our own. */
export function ownPath(next: string | null | undefined): string {
  if (!next || !/^\/(?![/\\])/.test(next)) return '/overview';
  return next.startsWith('/sign-in') ? '/overview' : next;
}
