/** Texts of hosts, fetches, errors and the steps of the inspector. */
import type {
  ErrorKind,
  FetchOutcome,
  HostSort,
  HostState,
  InspectionStep,
  StepName,
} from '../api/model';
import type { Label } from './agent';

/*
 * Each table has an entry for every value in the OpenAPI document, so a new value breaks the build
 * until it has a text. A newer coordinator may send others, which are shown as they are.
 */

const states: Readonly<Record<HostState, Label>> = {
  delegated: { text: 'Has an agent', tone: 'good' },
  resolved: { text: 'Waits for an agent', tone: 'calm' },
  unresolved: { text: 'Waits for its address', tone: 'calm' },
  moving: { text: 'Moves to another agent', tone: 'accent' },
  failed: { text: 'Given up', tone: 'bad' },
};

/** States of hosts, the most frequent first. */
export const hostStates = Object.keys(states) as HostState[];

export const hostState = (state: HostState): Label =>
  states[state] ?? { text: state, tone: 'calm' };

/** Orders of the list of hosts. */
export const hostSorts: Readonly<Record<HostSort, string>> = {
  newest: 'Newest',
  errors: 'Most errors',
  slowest: 'Slowest',
  bytes: 'Most bytes',
  disallowed: 'Most disallowed by robots.txt',
};

const kinds: Readonly<Record<ErrorKind, string>> = {
  dns: 'No address',
  connection: 'No connection',
  tls: 'TLS failed',
  timeout: 'No answer in time',
  client_error: 'HTTP 4xx',
  server_error: 'HTTP 5xx',
  content: 'Unreadable content',
  refused: 'Refused by the agent',
  robots: 'robots.txt unreadable',
  not_public: 'Private address',
  agent: 'Agent cannot reach it',
  other: 'Other',
};

/** Causes of errors. */
export const errorKinds = Object.keys(kinds) as ErrorKind[];

export const errorKind = (kind: ErrorKind): string => kinds[kind] ?? kind;

const outcomes: Readonly<Record<FetchOutcome, Label>> = {
  page: { text: 'Page', tone: 'good' },
  unchanged: { text: 'Unchanged', tone: 'good' },
  redirect: { text: 'Redirect', tone: 'calm' },
  not_text: { text: 'No text', tone: 'calm' },
  disallowed: { text: 'Disallowed by robots.txt', tone: 'warn' },
  http_error: { text: 'HTTP error', tone: 'bad' },
  failed: { text: 'Failed', tone: 'bad' },
};

export const fetchOutcome = (outcome: FetchOutcome): Label =>
  outcomes[outcome] ?? { text: outcome, tone: 'calm' };

const steps: Readonly<Record<StepName, string>> = {
  found: 'Found',
  dns: 'Address',
  subnet: 'Subnet',
  delegation: 'Delegation',
  agent: 'Agent',
  robots: 'robots.txt',
  queue: 'Queue',
  fetch: 'Last fetch',
  index: 'Index',
  hosts: 'Hosts',
};

export const stepName = (step: StepName): string => steps[step] ?? step;

const stepStates: Readonly<Record<InspectionStep['state'], Label>> = {
  done: { text: 'Done', tone: 'good' },
  waiting: { text: 'Waiting', tone: 'accent' },
  stuck: { text: 'Stuck', tone: 'bad' },
  open: { text: 'Open', tone: 'calm' },
};

export const stepState = (state: InspectionStep['state']): Label =>
  stepStates[state] ?? { text: state, tone: 'calm' };

/** The day that began so many days ago: `Today`, `Yesterday`, `3 days ago`. */
export function dayName(daysAgo: number): string {
  if (daysAgo === 0) return 'Today';
  return daysAgo === 1 ? 'Yesterday' : `${daysAgo} days ago`;
}
