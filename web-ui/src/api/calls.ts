/** Every call to the coordinator: a value comes back, or a `Problem` is thrown. */
import createClient from 'openapi-fetch';
import type { paths } from '../api';
import type { AgentAction } from '../words/agent';
import type { PolicyChange, Reason, ConstraintRequest } from './model';
import { Problem, problemOf, unreachable } from './problem';

// `fetch` is looked up at each call, not once: tests put their own in its place.
const client = createClient<paths>({ fetch: (request) => globalThis.fetch(request) });

let sessionEnded: () => void = () => {};

/** What to do when the coordinator no longer accepts the session. */
export function whenSessionEnds(then: () => void): void {
  sessionEnded = then;
}

interface Outcome<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The value of a call, or its problem thrown. A call that was given up throws as fetch does. */
async function settled<T>(calling: Promise<Outcome<T>>, signal?: AbortSignal): Promise<T> {
  const { data, error, response } = await calling.catch((thrown: unknown) => {
    throw signal?.aborted || !(thrown instanceof TypeError) ? thrown : unreachable();
  });
  if (response.ok) return data as T;
  throw problemOf(response.status, error, response.headers);
}

/** As `settled`, for what only admins may ask: a 401 means that the session is over. */
async function asAdmin<T>(calling: Promise<Outcome<T>>, signal?: AbortSignal): Promise<T> {
  return settled(calling, signal).catch((thrown: unknown) => {
    if (!(thrown instanceof Problem) || thrown.status !== 401) throw thrown;
    sessionEnded();
    throw new Problem({ ...thrown, detail: 'Your session has ended. Sign in and try again.' });
  });
}

/** A part of a list. */
export interface Part {
  limit?: number;
  cursor?: string;
}

/** Which delegations are wanted; empty means all. */
export interface DelegationFilter extends Part {
  agent?: string;
  reason?: Reason;
  q?: string;
}

type Aim = AbortSignal | undefined;
const at = (signal: Aim) => ({ signal: signal ?? null });

export const search = (query: { q: string } & Part, signal?: Aim) =>
  settled(client.GET('/api/v1/search', { params: { query }, ...at(signal) }), signal);

export const whoAmI = () => settled(client.GET('/api/v1/session'));

export const signIn = (name: string, password: string) =>
  settled(client.POST('/api/v1/session', { body: { name, password } }));

export const signOut = () => settled(client.DELETE('/api/v1/session'));

export const overview = (signal?: Aim) =>
  asAdmin(client.GET('/api/v1/overview', at(signal)), signal);

export const tasks = (signal?: Aim) =>
  asAdmin(client.GET('/api/v1/tasks', at(signal)), signal);

export const refreshRegistryData = () => asAdmin(client.POST('/api/v1/registry-data/refresh'));

export const agents = (query: Part, signal?: Aim) =>
  asAdmin(client.GET('/api/v1/agents', { params: { query }, ...at(signal) }), signal);

export const agent = (id: string, signal?: Aim) =>
  asAdmin(client.GET('/api/v1/agents/{id}', { params: { path: { id } }, ...at(signal) }), signal);

export const actOnAgent = (id: string, action: AgentAction) =>
  asAdmin(client.POST(`/api/v1/agents/{id}/${action}`, { params: { path: { id } } }));

export const joinTokens = (query: Part, signal?: Aim) =>
  asAdmin(client.GET('/api/v1/join-tokens', { params: { query }, ...at(signal) }), signal);

export const newJoinToken = (name: string, ttl_s: number) =>
  asAdmin(client.POST('/api/v1/join-tokens', { body: { name, ttl_s } }));

export const delegations = (query: DelegationFilter, signal?: Aim) =>
  asAdmin(client.GET('/api/v1/delegations', { params: { query }, ...at(signal) }), signal);

export const why = (id: string, signal?: Aim) => {
  const options = { params: { path: { id } }, ...at(signal) };
  return asAdmin(client.GET('/api/v1/delegations/{id}/why', options), signal);
};

export const hierarchy = (address: string, signal?: Aim) => {
  const options = { params: { path: { address } }, ...at(signal) };
  return asAdmin(client.GET('/api/v1/hierarchy/{address}', options), signal);
};

/** `dry_run` says what would move and changes nothing. */
const dry = (dry_run: boolean) => ({ query: { dry_run } });

export const pins = (query: Part, signal?: Aim) =>
  asAdmin(client.GET('/api/v1/pins', { params: { query }, ...at(signal) }), signal);

export const pin = (body: ConstraintRequest, dryRun: boolean) =>
  asAdmin(client.POST('/api/v1/pins', { params: dry(dryRun), body }));

export const unpin = (id: string, dryRun: boolean) =>
  asAdmin(client.DELETE('/api/v1/pins/{id}', { params: { path: { id }, ...dry(dryRun) } }));

export const exclusions = (query: Part, signal?: Aim) =>
  asAdmin(client.GET('/api/v1/exclusions', { params: { query }, ...at(signal) }), signal);

export const exclude = (body: ConstraintRequest, dryRun: boolean) =>
  asAdmin(client.POST('/api/v1/exclusions', { params: dry(dryRun), body }));

export const readmit = (id: string, dryRun: boolean) =>
  asAdmin(client.DELETE('/api/v1/exclusions/{id}', { params: { path: { id }, ...dry(dryRun) } }));

export const overrideDelegation = (
  id: string,
  body: { agent: string; reason: string },
  dryRun: boolean,
) => {
  const params = { path: { id }, ...dry(dryRun) };
  return asAdmin(client.POST('/api/v1/delegations/{id}/override', { params, body }));
};

export const moves = (query: Part, signal?: Aim) =>
  asAdmin(client.GET('/api/v1/moves', { params: { query }, ...at(signal) }), signal);

export const findings = (signal?: Aim) =>
  asAdmin(client.GET('/api/v1/audit/findings', at(signal)), signal);
export const landmarks = (signal?: Aim) =>
  asAdmin(
    client.GET('/api/v1/landmarks', { params: { query: { limit: 1 } }, ...at(signal) }),
    signal,
  );

export const seed = (urls: string[]) => asAdmin(client.POST('/api/v1/seeds', { body: { urls } }));

export const policy = (signal?: Aim) => asAdmin(client.GET('/api/v1/policy', at(signal)), signal);

export const setPolicy = (body: PolicyChange) => asAdmin(client.PUT('/api/v1/policy', { body }));
