/** Addresses of the pages. Pure; `router.svelte.ts` accesses the browser. */
import { given } from '../api/given';

/** Pages without a parameter whose path is their name. */
const plain = [
  'sign-in',
  'overview',
  'agents',
  'regions',
  'delegations',
  'constraints',
  'inspector',
  'hosts',
  'errors',
  'crawler',
  'host-an-agent',
  'invitation',
  'maps',
  'hidden',
  'hierarchy',
  'seeds',
  'policy',
  'accounts',
  'audit',
] as const;

/** A page with its parameters. */
export type Route =
  | { page: (typeof plain)[number] | 'search' | 'not-found' }
  | { page: 'agent' | 'host' | 'explanation'; id: string };

/** The page at a path; a trailing slash is ignored, an unknown path is `not-found`. */
export function routeOf(path: string): Route {
  const [first, id, last, ...more] = path.split('/').slice(1).filter(Boolean).map(decoded);
  if (first === undefined) return { page: 'search' };
  if (id === undefined) return { page: plain.find((name) => name === first) ?? 'not-found' };
  if (first === 'agents' && last === undefined) return { page: 'agent', id };
  if (first === 'hosts' && last === undefined) return { page: 'host', id };
  if (first === 'delegations' && last === 'explanation' && more.length === 0)
    return { page: 'explanation', id };
  return { page: 'not-found' };
}

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
  const kept = Object.entries(given(query));
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
