/** The words of a delegation as people read them. */

/** Why a delegation went where it did. */
export const reasons = ['home', 'company', 'threshold', 'lowest', 'only_agent'] as const;

const reasonNames: Record<string, string> = {
  home: 'Home subnet',
  company: 'Same company',
  threshold: 'Under the threshold',
  lowest: 'Nearest measured',
  only_agent: 'Only agent',
};

const reasonMeanings: Record<string, string> = {
  home: 'The agent lives in this subnet; it was delegated at approval, without a probe.',
  company: 'An agent that holds another subnet of the same company answered under the threshold.',
  threshold: 'A neighbour in the hierarchy answered under the threshold.',
  lowest: 'Nobody answered under the threshold; this agent was the nearest of those measured.',
  only_agent: 'There was one agent only.',
};

/** A short name for a reason; an unknown one is shown as the coordinator wrote it. */
export function reasonName(reason: string): string {
  return reasonNames[reason] ?? spaced(reason);
}

/** One sentence on what the reason means. */
export function reasonMeaning(reason: string): string {
  return reasonMeanings[reason] ?? '';
}

const phaseNames: Record<string, string> = {
  company: 'Agents of the same company',
  sibling: 'Agents of neighbouring subnets',
  sibling_child: 'Agents inside neighbouring subnets',
  rest: 'Everybody else',
};

/** A stage of the search. */
export function phaseName(phase: string): string {
  return phaseNames[phase] ?? spaced(phase);
}

const kindNames: Record<string, string> = {
  root: 'Whole address space',
  block: 'Registry block',
  delegated: 'Registered range',
};

/** What sort of step of the hierarchy a subnet is. */
export function kindName(kind: string): string {
  return kindNames[kind] ?? spaced(kind);
}

const methodNames: Record<string, string> = {
  icmp: 'ICMP echo',
  tcp: 'TCP connect',
  head: 'HTTP HEAD',
};

/** How a round trip was measured. */
export function methodName(method: string | null | undefined): string {
  if (!method) return '–';
  return methodNames[method] ?? spaced(method);
}

/** How a thing looks: good, worth a look, bad, or neither. */
export type Tone = 'good' | 'warn' | 'bad' | 'calm' | 'accent' | 'solid';

/** A verdict on one probe, as text and tone. */
export function verdict(value: string): { text: string; tone: Tone } {
  switch (value) {
    case 'pending':
      return { text: 'Waiting', tone: 'accent' };
    case 'satisfies':
      return { text: 'Good enough', tone: 'good' };
    case 'too_slow':
      return { text: 'Too slow', tone: 'calm' };
    case 'unreachable':
      return { text: 'No answer', tone: 'bad' };
    case 'expired':
      return { text: 'Not asked in time', tone: 'warn' };
    default:
      return { text: spaced(value), tone: 'calm' };
  }
}

function spaced(word: string): string {
  const text = word.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
