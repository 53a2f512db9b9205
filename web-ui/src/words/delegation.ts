/** The words of a delegation as people read them. */
import type { Kind, Method, Phase, Reason, SkipReason, Verdict } from '../api/model';

/*
 * Each table names every word that the OpenAPI document has: a new one breaks the build until it is
 * said here. A coordinator newer than these pages may still send others; they are shown as they come.
 */
type Names<Word extends string> = Readonly<Record<Word, string>>;

const reasonNames: Names<Reason> = {
  predicted: 'Predicted nearest',
  threshold: 'Under the threshold',
  company: 'Same company',
  lowest: 'Nearest measured',
  home: 'Home subnet',
  pinned: 'Pinned by an admin',
  override: 'Given by an admin',
  balanced: 'Moved to balance',
};

/** Why a delegation went where it did, the usual reasons first. */
export const reasons = Object.keys(reasonNames) as Reason[];

const reasonMeanings: Names<Reason> = {
  predicted: 'Measured, and nobody else is likely enough to be nearer.',
  threshold: 'A neighbour in the hierarchy answered under the threshold.',
  company: 'An agent that holds another subnet of the same company answered under the threshold.',
  lowest: 'Nobody answered under the threshold; this agent was the nearest of those measured.',
  home: 'The agent lives in this subnet; it was delegated at approval, without a probe.',
  pinned: 'An admin pinned it to this agent.',
  override: 'An admin gave it to this agent by hand, once.',
  balanced: 'The load was spread: another agent had more to do than it can, or this costs less.',
};

const phaseNames: Names<Phase> = {
  company: 'Agents of the same company',
  sibling: 'Agents of neighbouring subnets',
  sibling_child: 'Agents below neighbouring subnets',
  rest: 'Everybody else',
  predicted: 'Agents likeliest to be nearest',
};

const skipNames: Names<SkipReason> = {
  asleep: 'asleep',
  unreachable: 'not heard of',
  busy: 'busy',
  excluded: 'excluded by an admin',
  budget: 'out of probes for the day',
};

const kindNames: Names<Kind> = {
  root: 'Whole address space',
  block: 'Registry block',
  virtual: 'Part of a large range',
  delegated: 'Registered range',
};

const methodNames: Names<Method> = {
  icmp: 'ICMP echo',
  tcp: 'TCP connect',
  head: 'HTTP HEAD',
};

/** A short name for a reason. */
export const reasonName = (reason: string) => named(reasonNames, reason);

/** One sentence on what the reason means; none for a reason unknown here. */
export const reasonMeaning = (reason: string) => found(reasonMeanings, reason) ?? '';

/** A stage of the search. */
export const phaseName = (phase: string) => named(phaseNames, phase);

/** Why an agent was passed over. */
export const skipName = (why: string) => named(skipNames, why);

/** What sort of step of the hierarchy a subnet is. */
export const kindName = (kind: string) => named(kindNames, kind);

/** How a round trip was measured; a dash where it was not. */
export const methodName = (method: string | null) => (method ? named(methodNames, method) : '–');

/** How a thing looks: good, worth a look, bad, or neither. */
export type Tone = 'good' | 'warn' | 'bad' | 'calm' | 'accent' | 'solid';

const verdicts: Readonly<Record<Verdict, { text: string; tone: Tone }>> = {
  pending: { text: 'Waiting', tone: 'accent' },
  satisfies: { text: 'Good enough', tone: 'good' },
  too_slow: { text: 'Too slow', tone: 'calm' },
  measured: { text: 'Measured', tone: 'good' },
  unreachable: { text: 'No answer', tone: 'bad' },
  expired: { text: 'Not asked in time', tone: 'warn' },
};

/** A verdict on one probe, as text and tone. */
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
