/** Texts of delegations and their searches. */
import type {
  DelegationSort,
  Kind,
  Method,
  Phase,
  Reason,
  SkipReason,
  Verdict,
} from '../api/model';

/*
 * Each table has an entry for every value in the OpenAPI document, so a new value breaks the build
 * until it has a text. A newer coordinator may send others, which are shown as they are.
 */
type Names<Word extends string> = Readonly<Record<Word, string>>;

const reasonNames: Names<Reason> = {
  predicted: 'Predicted nearest',
  threshold: 'Under the threshold',
  company: 'Same company',
  lowest: 'Nearest measured',
  home: 'Home subnet',
  pinned: 'Pinned by an admin',
  override: 'Reassigned by an admin',
  balanced: 'Moved by balance',
  drained: 'Moved by a drain',
  takeover: 'Taken over in its region',
};

/** Reasons of delegations, the most frequent first. */
export const reasons = Object.keys(reasonNames) as Reason[];

/** In the past tense, because the page of a delegation that has ended says it, too. */
const reasonMeanings: Names<Reason> = {
  predicted: 'Measured, and no other agent was likely enough to be nearer.',
  threshold: 'A neighbour in the hierarchy answered under the threshold.',
  company:
    'An agent that held another subnet of the same company answered under the threshold, or the subnet was the agent’s former home.',
  lowest:
    'No agent was under the threshold, and this one measured the lowest round trip; or, provisionally, it was the nearest that had answered so far.',
  home: 'The agent’s own address was in this subnet, which was delegated to it without a probe.',
  pinned: 'An admin pinned the subnet to this agent.',
  override: 'An admin reassigned the subnet to this agent, once.',
  balanced:
    'Balance moved the subnet: its former agent was over its capacity, or this agent cost less.',
  drained:
    'An admin drained its former agent. This one had measured the subnet, had room, and was the nearest of those.',
  takeover: 'The agent of the subnet was dead; its region gave the hosts to this agent.',
};

/** Orders of the list of delegations. */
export const delegationSorts: Names<DelegationSort> = {
  newest: 'Newest',
  slowest: 'Longest round trip',
};

const searched: readonly string[] = ['predicted', 'threshold', 'company', 'lowest'];

/** Whether a search chose the agent. Other delegations keep the probes of an earlier search. */
export const isSearched = (reason: string) => searched.includes(reason);

const phaseNames: Names<Phase> = {
  company: 'Agents of the same company',
  sibling: 'Agents of neighbouring subnets',
  sibling_child: 'Agents below neighbouring subnets',
  rest: 'All other agents',
  predicted: 'Agents likeliest to be nearest',
  control: 'Agents that check a report',
};

const skipReasonNames: Names<SkipReason> = {
  asleep: 'asleep',
  unreachable: 'no recent heartbeat',
  absent: 'not heard of for more than a day',
  idle: 'carried out no probes then',
  busy: 'busy',
  excluded: 'excluded by an admin',
  budget: 'no probes left for the day',
  drained: 'drained by an admin',
};

const kindNames: Names<Kind> = {
  root: 'Whole address space',
  block: 'Registry block',
  virtual: 'Virtual subnet',
  delegated: 'Registered range',
};

const methodNames: Names<Method> = {
  icmp: 'ICMP echo',
  tcp: 'TCP connect',
  head: 'HTTP HEAD',
};

/** Short name of a reason. */
export const reasonName = (reason: string) => named(reasonNames, reason);

/** Sentence that explains a reason; empty for an unknown one. */
export const reasonMeaning = (reason: string) => found(reasonMeanings, reason) ?? '';

/** Name of a phase of the search. */
export const phaseName = (phase: string) => named(phaseNames, phase);

/** Why an agent was skipped. */
export const skipReasonName = (reason: string) => named(skipReasonNames, reason);

/** Name of the kind of a subnet. */
export const kindName = (kind: string) => named(kindNames, kind);

/** Name of the method of a probe; a dash where nothing was measured. */
export const methodName = (method: string | null) => (method ? named(methodNames, method) : '–');

/** Colour of a tag. */
export type Tone = 'good' | 'warn' | 'bad' | 'calm' | 'accent' | 'solid';

const verdicts: Readonly<Record<Verdict, { text: string; tone: Tone }>> = {
  pending: { text: 'Waiting', tone: 'accent' },
  satisfies: { text: 'Good enough', tone: 'good' },
  too_slow: { text: 'Too slow', tone: 'calm' },
  measured: { text: 'Measured', tone: 'calm' },
  unreachable: { text: 'No answer', tone: 'bad' },
  expired: { text: 'No report in time', tone: 'warn' },
};

/** Text and colour of the verdict on a probe. */
export function verdict(value: string): { text: string; tone: Tone } {
  return found(verdicts, value) ?? { text: spaced(value), tone: 'calm' };
}

function named(names: Readonly<Record<string, string>>, word: string): string {
  return found(names, word) ?? spaced(word);
}

function found<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

function spaced(word: string): string {
  const text = word.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
