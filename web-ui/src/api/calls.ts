/** Calls to the coordinator. Each returns a value or throws a `Problem`. */
import createClient from 'openapi-fetch';
import type { PasswordChange, paths } from '../api';
import type { AgentAction } from '../labels/agent';
import { backgroundHeaders } from './background';
import type {
  AgentPresence,
  AgentSort,
  AgentState,
  ConstraintRequest,
  DelegationSort,
  ErrorKind,
  HideRequest,
  HostSort,
  HostState,
  JoinRequest,
  NewAccount,
  NewApiToken,
  NewJoinRequest,
  PolicyChange,
  Reason,
  Role,
  SeriesQuery,
} from './model';
import { Problem, problemOf, unreachable } from './problem';

// `fetch` is looked up at each call, because tests replace it.
const client = createClient<paths>({ fetch: (request) => globalThis.fetch(request) });

let sessionEnded: () => void = () => {};

/** Registers what to do when the coordinator no longer accepts the session. */
export function whenSessionEnds(then: () => void): void {
  sessionEnded = then;
}

interface Outcome<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Returns the value of a call or throws its problem. An aborted call throws as fetch does. */
async function settled<T>(calling: Promise<Outcome<T>>, signal?: AbortSignal): Promise<T> {
  const { data, error, response } = await calling.catch((thrown: unknown) => {
    throw signal?.aborted || !(thrown instanceof TypeError) ? thrown : unreachable();
  });
  if (response.ok) return data as T;
  throw problemOf(response.status, error, response.headers);
}

/** As `settled`, for calls that need a session: a 401 means that it has expired. */
async function withSession<T>(calling: Promise<Outcome<T>>, signal?: AbortSignal): Promise<T> {
  return settled(calling, signal).catch((thrown: unknown) => {
    if (!(thrown instanceof Problem) || thrown.status !== 401) throw thrown;
    sessionEnded();
    throw new Problem({ ...thrown, detail: 'Your session has ended. Sign in and try again.' });
  });
}

/** Limit and cursor of a page of a list. */
export interface PageQuery {
  limit?: number;
  cursor?: string;
}

/** Filter and order of the list of agents; empty means all, the newest first. */
export interface AgentFilter extends PageQuery {
  state?: AgentState;
  presence?: AgentPresence;
  q?: string;
  sort?: AgentSort;
}

/** Filter of the list of delegations; empty means all. */
export interface DelegationFilter extends PageQuery {
  sort?: DelegationSort;
  counts?: boolean;
  agent?: string;
  reason?: Reason;
  q?: string;
}

const abortable = (signal: AbortSignal | undefined) => ({
  signal: signal ?? null,
  headers: backgroundHeaders(signal),
});

export const search = (query: { q: string } & PageQuery, signal?: AbortSignal) =>
  settled(client.GET('/api/v1/search', { params: { query }, ...abortable(signal) }), signal);

export const currentSession = () => settled(client.GET('/api/v1/session'));

export const signIn = (name: string, password: string) =>
  settled(client.POST('/api/v1/session', { body: { name, password } }));

export const signOut = () => settled(client.DELETE('/api/v1/session'));

export const overview = (signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/overview', abortable(signal)), signal);

export const series = (query: SeriesQuery, signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/series', { params: { query }, ...abortable(signal) }), signal);

export const progress = (signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/progress', abortable(signal)), signal);

export const locality = (signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/locality', abortable(signal)), signal);

export const worldMap = (signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/maps/world', abortable(signal)), signal);

export const ipv4Map = (prefix: string, signal?: AbortSignal) =>
  withSession(
    client.GET('/api/v1/maps/ipv4', { params: { query: { prefix } }, ...abortable(signal) }),
    signal,
  );

export const roundTripMap = (signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/maps/round-trips', abortable(signal)), signal);

export const homeTimeMap = (signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/maps/agents', abortable(signal)), signal);

export const regions = (signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/regions', abortable(signal)), signal);

export const tasks = (signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/tasks', abortable(signal)), signal);

export const refreshRegistryData = () => withSession(client.POST('/api/v1/registry-data/refresh'));

export const discovery = (id: string, signal?: AbortSignal) =>
  withSession(
    client.GET('/api/v1/agents/{id}/discovery', { params: { path: { id } }, ...abortable(signal) }),
    signal,
  );

export const agents = (query: AgentFilter, signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/agents', { params: { query }, ...abortable(signal) }), signal);

export const agent = (id: string, signal?: AbortSignal) =>
  withSession(
    client.GET('/api/v1/agents/{id}', { params: { path: { id } }, ...abortable(signal) }),
    signal,
  );

/** Drains an agent, or changes the deadline of its drain. */
export const drainAgent = (id: string, deadline_after_s: number | null) => {
  const body = { deadline_after_s };
  return withSession(client.POST('/api/v1/agents/{id}/drain', { params: { path: { id } }, body }));
};

export const endDrain = (id: string) =>
  withSession(client.DELETE('/api/v1/agents/{id}/drain', { params: { path: { id } } }));

/** Which agents would take over if this one left. */
export const takeover = (id: string, signal?: AbortSignal) =>
  withSession(
    client.GET('/api/v1/agents/{id}/takeover', { params: { path: { id } }, ...abortable(signal) }),
    signal,
  );

/** The agents that have measured the subnets of a range, the nearest first. */
export const measuredAgents = (range: string, signal?: AbortSignal) =>
  withSession(
    client.GET('/api/v1/measured-agents', { params: { query: { range } }, ...abortable(signal) }),
    signal,
  );

export const actOnAgent = (id: string, action: AgentAction) =>
  withSession(client.POST(`/api/v1/agents/{id}/${action}`, { params: { path: { id } } }));

export const joinTokens = (query: PageQuery, signal?: AbortSignal) => {
  const options = { params: { query }, ...abortable(signal) };
  return withSession(client.GET('/api/v1/join-tokens', options), signal);
};

export const createJoinToken = (name: string, ttl_s: number) =>
  withSession(client.POST('/api/v1/join-tokens', { body: { name, ttl_s } }));

export const revokeJoinToken = (id: string) =>
  withSession(client.POST('/api/v1/join-tokens/{id}/revoke', { params: { path: { id } } }));

export const createJoinRequest = (body: NewJoinRequest) =>
  settled(client.POST('/api/v1/join-requests', { body }));

export const openInvitation = (secret: string) =>
  settled(client.POST('/api/v1/invitations/open', { body: { secret } }));

export const downloads = (signal?: AbortSignal) =>
  settled(client.GET('/api/v1/downloads', abortable(signal)), signal);

/** Filter of the list of requests to host an agent; empty means all. */
interface JoinRequestFilter extends PageQuery {
  state?: JoinRequest['state'];
}

export const joinRequests = (query: JoinRequestFilter, signal?: AbortSignal) =>
  withSession(
    client.GET('/api/v1/join-requests', { params: { query }, ...abortable(signal) }),
    signal,
  );

/** Accepts a request that is in this state; another one is refused: somebody else decided about it. */
export const acceptJoinRequest = (id: string, shown: JoinRequest['state']) => {
  const params = { path: { id }, query: { shown } };
  return withSession(client.POST('/api/v1/join-requests/{id}/accept', { params }));
};

export const declineJoinRequest = (id: string, shown: JoinRequest['state']) => {
  const params = { path: { id }, query: { shown } };
  return withSession(client.POST('/api/v1/join-requests/{id}/decline', { params }));
};

export const apiTokens = (query: PageQuery, signal?: AbortSignal) => {
  const options = { params: { query }, ...abortable(signal) };
  return withSession(client.GET('/api/v1/api-tokens', options), signal);
};

export const createApiToken = (body: NewApiToken) =>
  withSession(client.POST('/api/v1/api-tokens', { body }));

export const revokeApiToken = (id: string) =>
  withSession(client.DELETE('/api/v1/api-tokens/{id}', { params: { path: { id } } }));

export const delegations = (query: DelegationFilter, signal?: AbortSignal) =>
  withSession(
    client.GET('/api/v1/delegations', { params: { query }, ...abortable(signal) }),
    signal,
  );

/** One delegation, also one that has ended. */
export const delegation = (id: string, signal?: AbortSignal) =>
  withSession(
    client.GET('/api/v1/delegations/{id}', { params: { path: { id } }, ...abortable(signal) }),
    signal,
  );

export const explanation = (id: string, signal?: AbortSignal) => {
  const options = { params: { path: { id } }, ...abortable(signal) };
  return withSession(client.GET('/api/v1/delegations/{id}/explanation', options), signal);
};

export const inspect = (q: string, signal?: AbortSignal) =>
  withSession(
    client.GET('/api/v1/explain', { params: { query: { q } }, ...abortable(signal) }),
    signal,
  );

/** Filter and order of the list of hosts; empty means all, the newest first. */
export interface HostFilter extends PageQuery {
  state?: HostState;
  agent?: string;
  q?: string;
  subnet?: string;
  seeded?: boolean;
  sort?: HostSort;
  counts?: boolean;
}

export const hosts = (query: HostFilter, signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/hosts', { params: { query }, ...abortable(signal) }), signal);

export const host = (id: string, signal?: AbortSignal) =>
  withSession(
    client.GET('/api/v1/hosts/{id}', { params: { path: { id } }, ...abortable(signal) }),
    signal,
  );

/** Filter of the errors of a day; empty means all of today. */
export interface ErrorFilter {
  days_ago?: number;
  kind?: ErrorKind;
  agent?: string;
  limit?: number;
}

export const errorsOfDay = (query: ErrorFilter, signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/errors', { params: { query }, ...abortable(signal) }), signal);

export const hierarchy = (address: string, signal?: AbortSignal) => {
  const options = { params: { path: { address } }, ...abortable(signal) };
  return withSession(client.GET('/api/v1/hierarchy/{address}', options), signal);
};

/** `dry_run` previews a change and changes nothing. */
const dryRunQuery = (dry_run: boolean) => ({ query: { dry_run } });

export const pins = (query: PageQuery, signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/pins', { params: { query }, ...abortable(signal) }), signal);

export const createPin = (body: ConstraintRequest, dryRun: boolean) =>
  withSession(client.POST('/api/v1/pins', { params: dryRunQuery(dryRun), body }));

export const removePin = (id: string, dryRun: boolean) =>
  withSession(
    client.DELETE('/api/v1/pins/{id}', { params: { path: { id }, ...dryRunQuery(dryRun) } }),
  );

export const exclusions = (query: PageQuery, signal?: AbortSignal) =>
  withSession(
    client.GET('/api/v1/exclusions', { params: { query }, ...abortable(signal) }),
    signal,
  );

export const createExclusion = (body: ConstraintRequest, dryRun: boolean) =>
  withSession(client.POST('/api/v1/exclusions', { params: dryRunQuery(dryRun), body }));

export const removeExclusion = (id: string, dryRun: boolean) =>
  withSession(
    client.DELETE('/api/v1/exclusions/{id}', { params: { path: { id }, ...dryRunQuery(dryRun) } }),
  );

export const overrideDelegation = (
  id: string,
  body: { agent: string; reason: string },
  dryRun: boolean,
) => {
  const params = { path: { id }, ...dryRunQuery(dryRun) };
  return withSession(client.POST('/api/v1/delegations/{id}/override', { params, body }));
};

export const moves = (query: PageQuery, signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/moves', { params: { query }, ...abortable(signal) }), signal);

export const incidents = (query: PageQuery, signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/incidents', { params: { query }, ...abortable(signal) }), signal);

export const findings = (signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/audit/findings', abortable(signal)), signal);

/** The failed packages, the newest first: as many as the coordinator gives at once. */
export const failedPackages = (signal?: AbortSignal) => {
  const options = { params: { query: { limit: 500 } }, ...abortable(signal) };
  return withSession(client.GET('/api/v1/failed-packages', options), signal);
};

export const retryFailedPackage = (id: string) =>
  withSession(client.POST('/api/v1/failed-packages/{id}/retry', { params: { path: { id } } }));

export const addSeeds = (urls: string[]) =>
  withSession(client.POST('/api/v1/seeds', { body: { urls } }));

/** Sites and pages that no search shows, the newest first. */
export const hidden = (query: PageQuery, signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/hidden', { params: { query }, ...abortable(signal) }), signal);

export const hide = (body: HideRequest) => withSession(client.POST('/api/v1/hidden', { body }));

export const showHidden = (id: string) =>
  withSession(client.DELETE('/api/v1/hidden/{id}', { params: { path: { id } } }));

export const policy = (signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/policy', abortable(signal)), signal);

export const policyDefaults = (signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/policy/defaults', abortable(signal)), signal);

export const updatePolicy = (body: PolicyChange) =>
  withSession(client.PUT('/api/v1/policy', { body }));

export const accounts = (query: PageQuery, signal?: AbortSignal) =>
  withSession(client.GET('/api/v1/accounts', { params: { query }, ...abortable(signal) }), signal);

export const createAccount = (body: NewAccount) =>
  withSession(client.POST('/api/v1/accounts', { body }));

export const setAccountRole = (id: string, role: Role) =>
  withSession(
    client.PUT('/api/v1/accounts/{id}/role', { params: { path: { id } }, body: { role } }),
  );

export const resetAccountPassword = (id: string, password: string) =>
  withSession(
    client.PUT('/api/v1/accounts/{id}/password', { params: { path: { id } }, body: { password } }),
  );

export const removeAccount = (id: string) =>
  withSession(client.DELETE('/api/v1/accounts/{id}', { params: { path: { id } } }));

export const changeOwnPassword = (body: PasswordChange) =>
  withSession(client.PUT('/api/v1/session/password', { body }));

/** Filter of the audit log; empty means all. */
export interface AuditFilter extends PageQuery {
  actor?: string;
  action?: string;
  subject?: string;
  from?: string;
  until?: string;
  counts?: boolean;
}

export const auditEntries = (query: AuditFilter, signal?: AbortSignal) =>
  withSession(
    client.GET('/api/v1/audit/entries', { params: { query }, ...abortable(signal) }),
    signal,
  );
