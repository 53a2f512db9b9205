/** The bodies of the coordinator's API, from its OpenAPI document, with shorter names of some. */
import type { operations } from '../api';

export type * from '../api';
export type {
  Member as RegionMember,
  Presence as AgentPresence,
  ProbeMethod as Method,
  ProbeVerdict as Verdict,
  Session as UserSession,
  SubnetKind as Kind,
} from '../api';

type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>;

export type AgentSort = NonNullable<Query<'list_agents'>['sort']>;
export type DelegationSort = NonNullable<Query<'list_delegations'>['sort']>;
export type HostSort = NonNullable<Query<'list_hosts'>['sort']>;
export type SeriesQuery = Query<'get_series'>;

/** One part of a list. */
export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}
