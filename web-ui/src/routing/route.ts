/** Addresses of the pages. Pure; `router.svelte.ts` accesses the browser. */

/** A page with its parameters. */
export type Route =
  | { page: 'search' }
  | { page: 'sign-in' }
  | { page: 'overview' }
  | { page: 'agents' }
  | { page: 'agent'; id: string }
  | { page: 'regions' }
  | { page: 'delegations' }
  | { page: 'explanation'; id: string }
  | { page: 'constraints' }
  | { page: 'inspector' }
  | { page: 'hosts' }
  | { page: 'host'; id: string }
  | { page: 'errors' }
  | { page: 'crawler' }
  | { page: 'host-an-agent' }
  | { page: 'invitation' }
  | { page: 'maps' }
  | { page: 'hidden' }
  | { page: 'hierarchy' }
  | { page: 'seeds' }
  | { page: 'policy' }
  | { page: 'accounts' }
  | { page: 'audit' }
  | { page: 'not-found' };

/** Pages without a parameter, by the one segment of their path. */
const plain: Record<string, Route> = {
  '': { page: 'search' },
  'sign-in': { page: 'sign-in' },
  overview: { page: 'overview' },
  agents: { page: 'agents' },
  regions: { page: 'regions' },
  delegations: { page: 'delegations' },
  constraints: { page: 'constraints' },
  inspector: { page: 'inspector' },
  hosts: { page: 'hosts' },
  errors: { page: 'errors' },
  crawler: { page: 'crawler' },
  'host-an-agent': { page: 'host-an-agent' },
  invitation: { page: 'invitation' },
  maps: { page: 'maps' },
  hidden: { page: 'hidden' },
  hierarchy: { page: 'hierarchy' },
  seeds: { page: 'seeds' },
  policy: { page: 'policy' },
  accounts: { page: 'accounts' },
  audit: { page: 'audit' },
};

/** The page at a path; a trailing slash is ignored, an unknown path is `not-found`. */
export function routeOf(path: string): Route {
  const [first = '', id, last, ...more] = path.split('/').slice(1).filter(Boolean).map(decoded);
  if (id === undefined) return (Object.hasOwn(plain, first) && plain[first]) || notFound;
  if (first === 'agents' && last === undefined) return { page: 'agent', id };
  if (first === 'hosts' && last === undefined) return { page: 'host', id };
  if (first === 'delegations' && last === 'explanation' && more.length === 0)
    return { page: 'explanation', id };
  return notFound;
}

const notFound: Route = { page: 'not-found' };

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a lone %: the page reports that there is no such object
  }
}

/** True for pages that need a session. */
export function needsSession(route: Route): boolean {
  const open = ['search', 'sign-in', 'crawler', 'host-an-agent', 'invitation', 'not-found'];
  return !open.includes(route.page);
}

/** Query values; empty ones are left out of the address. */
export type Query = Record<string, string | number | null | undefined>;

/** A path with its query: `address('/delegations', { q: 'acme', agent: '' })` is `/delegations?q=acme`. */
export function address(path: string, query: Query = {}): string {
  const kept = Object.entries(query).filter(([, value]) => value !== '' && value != null);
  const text = new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Path of the explanation of a delegation. */
export function explanationOf(delegation: string): string {
  return `/delegations/${encodeURIComponent(delegation)}/explanation`;
}

/** Path of the page of an agent. */
export function agentAt(agent: string): string {
  return `/agents/${encodeURIComponent(agent)}`;
}

/** Path of the page of a host. */
export function hostAt(host: string): string {
  return `/hosts/${encodeURIComponent(host)}`;
}

/** Path of the inspector with a question. */
export function inspectionOf(q: string): string {
  return address('/inspector', { q });
}

/** The page to open after sign-in; never an address of another site. */
export function ownPath(next: string | null | undefined): string {
  if (!next || !/^\/(?![/\\])/.test(next)) return '/overview';
  return next.startsWith('/sign-in') ? '/overview' : next;
}
